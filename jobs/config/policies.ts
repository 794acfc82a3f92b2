import type {Config} from '../../lib/config/settings.ts';
import {makeScope, type Scope} from '../../lib/scope/scope.ts';
import {type UrlPolicy, urlPolicy} from '../../lib/url/normalize.ts';
import {readPolicyTexts} from './policy-texts.ts';

/** The policies that decide about URLs, with the rule files that the configuration names, relative to the crawl folder. */
export async function readPolicies(dir: string, config: Config): Promise<{policy: UrlPolicy; scope: Scope}> {
  const {urlRules, scopeFiles} = await readPolicyTexts(config, dir);
  return {
    policy: urlPolicy(config.url, urlRules),
    scope: makeScope(config.scope, config.url, config.links, scopeFiles),
  };
}
