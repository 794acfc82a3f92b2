import {checkUrl, type UrlCheck} from '../../lib/url/check.ts';
import type {UrlPolicy} from '../../lib/url/normalize.ts';
import {type Checker, optionalText, textOf} from '../checker.ts';
import {visible} from '../words.ts';

/** `crawl check url`: what normalization makes of a URL, step by step. */
export function urlChecker(policy: UrlPolicy): Checker {
  return {
    ask: (question) => checkUrl({url: textOf(question, 'url'), base: optionalText(question, 'base')}, policy),
    show(question, answer, colours) {
      const {url, reason, detail, steps, surt, host, domain} = answer as UrlCheck; // what ask gave
      const width = Math.max(6, ...steps.map(({name}) => name.length));
      const line = (name: string, text: string | null) =>
        text === null ? [] : [`  ${colours.dim(name.padEnd(width))}  ${visible(text)}`];
      return [
        colours.bold(visible(textOf(question, 'url'))),
        ...steps.flatMap((step) => line(step.name, step.url)),
        ...(url === null ? line('none', `${reason}: ${detail}`) : line('url', url)),
        ...line('surt', surt),
        ...line('host', host),
        ...line('domain', domain),
      ].join('\n');
    },
  };
}
