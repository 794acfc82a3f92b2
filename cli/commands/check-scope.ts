import {hopTypes} from '../../lib/schema/status.ts';
import {checkScope, type ScopeCheck} from '../../lib/scope/check.ts';
import {type Scope, stays} from '../../lib/scope/scope.ts';
import type {UrlPolicy} from '../../lib/url/normalize.ts';
import {type Checker, optionalCount, optionalText, optionalWord, textOf} from '../checker.ts';
import {visible} from '../words.ts';

/** `crawl check scope`: whether the crawl wants a URL, and which rule says so. */
export function scopeChecker(policy: UrlPolicy, scope: Scope): Checker {
  return {
    ask: (question) =>
      checkScope(
        {
          url: textOf(question, 'url'),
          from: optionalText(question, 'from'),
          seed: optionalText(question, 'seed'),
          depth: optionalCount(question, 'depth'),
          hop: optionalWord(question, 'hop', hopTypes),
          stay: optionalWord(question, 'stay', stays),
        },
        policy,
        scope,
      ),
    show(question, answer, colours) {
      const {accepted, reason, rule, file, line, url} = answer as ScopeCheck; // what ask gave
      const verdict = accepted ? colours.green('accepted') : colours.red(`rejected: ${reason}`);
      const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
      const by = rule === null ? 'no rule matches; scope.otherwise accepts' : `${place}${rule}`;
      return `${colours.bold(visible(url ?? textOf(question, 'url')))}\n  ${verdict}\n  by  ${visible(by)}`;
    },
  };
}
