import {createHash} from 'node:crypto';
import type {Config} from '../config/settings.ts';
import {type ParameterStep, parameterJudge} from './parameters.ts';
import {parseUrlRules, type Replacement, type RuleSection, sectionHolds} from './rules.ts';
import {trackingVersion} from './tracking.ts';

/**
 * Version of the normalization itself. Raised by any change that gives some URL another form: the keys of
 * the crawldb depend on it.
 */
export const urlPolicyVersion = 1;

/** What normalization does, made once from the settings. */
export interface UrlPolicy {
  readonly version: number;
  /** SHA-256, hex, over version, lists, settings and rules: equal digests give equal URLs. */
  readonly digest: string;
  readonly maxLength: number;
  readonly stripSessionIds: boolean;
  readonly stripWww: boolean;
  /** What holds for every host alike; undefined where rules make it depend on the host, or replace text. */
  readonly everywhere: HostPolicy | undefined;
  forHost(host: string): HostPolicy;
}

export interface HostPolicy {
  /** Which step removes the query parameter, or undefined where it stays. */
  readonly judge: (name: string, value: string) => ParameterStep | undefined;
  /** False where the parameter stays whatever its value. */
  readonly mayDrop: (name: string) => boolean;
  readonly sort: boolean;
  readonly collapseSlashes: boolean;
  readonly replacements: readonly Replacement[];
}

/**
 * The policy of a configuration.
 *
 * @param rulesText content of the file that `url.rules` names
 * @throws CrawlError CONFIG_INVALID with file and line for a bad rule
 */
export function urlPolicy(
  config: Config['url'],
  rulesText?: {readonly text: string; readonly file: string},
): UrlPolicy {
  const sections = rulesText === undefined ? [] : parseUrlRules(rulesText.text, rulesText.file);
  const everywhere = combine(
    config,
    sections.filter(({kind}) => kind === 'all'),
  );
  const special = sections.some(({kind}) => kind !== 'all');
  const byCombination = new Map<string, HostPolicy>();
  const forHost = (host: string): HostPolicy => {
    const holding = sections.filter((section) => sectionHolds(section, host));
    const key = holding.map((section) => sections.indexOf(section)).join();
    let policy = byCombination.get(key);
    if (policy === undefined) {
      policy = combine(config, holding);
      byCombination.set(key, policy);
    }
    return policy;
  };
  return {
    version: urlPolicyVersion,
    digest: digestOf(config, rulesText?.text),
    maxLength: config.max_length,
    stripSessionIds: config.strip_session_ids,
    stripWww: config.strip_www,
    everywhere: special || everywhere.replacements.length > 0 ? undefined : everywhere,
    forHost: special ? forHost : () => everywhere,
  };
}

function combine(config: Config['url'], sections: readonly RuleSection[]): HostPolicy {
  return {
    ...parameterJudge({
      tracking: config.strip_tracking,
      sessionIds: config.strip_session_ids,
      strip: [...config.strip_parameters, ...sections.flatMap(({strip}) => strip)],
      keep: [...config.keep_parameters, ...sections.flatMap(({keep}) => keep)],
    }),
    sort: config.sort_parameters || sections.some(({sort}) => sort),
    collapseSlashes: config.collapse_slashes || sections.some(({collapseSlashes}) => collapseSlashes),
    replacements: sections.flatMap(({replacements}) => replacements),
  };
}

function digestOf(config: Config['url'], rules: string | undefined): string {
  const {rules: _path, ...settings} = config;
  const ordered = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const facts = [urlPolicyVersion, trackingVersion, ordered, rules ?? null];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}
