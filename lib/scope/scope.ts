import {createHash} from 'node:crypto';
import type {Config} from '../config/settings.ts';
import type {Reason} from '../schema/reason.ts';
import type {HopType} from '../schema/status.ts';
import {ownerDomain} from '../url/host.ts';
import {type Filter, nutchFormOf, parseNutchFile} from './nutch-forms.ts';
import {parseOwnRules} from './own-form.ts';
import {nameRule, type Rule} from './rule.ts';
import {type FirstMatch, firstMatch} from './rule-list.ts';
import {countParameters, countSegments, type Target, targetOf} from './target.ts';

/**
 * Which URLs the crawl wants. In this order:
 *
 * 1. limits: scheme, length, path segments, query parameters, depth;
 * 2. links.internal and links.external;
 * 3. what the seed allows (any, domain, host, path);
 * 4. rules, then rule files, the first match decides. A file in one of Nutch's forms is a filter: what it
 *    rejects is rejected, what it accepts goes on to the next file, as in Nutch;
 * 5. `scope.otherwise`.
 *
 * An embedded resource (hop type E) is out unless `scope.embeds`. With it, what a page in scope embeds is in
 * scope for that one hop wherever it is, unless a limit or a rule rejects it.
 */
export interface Scope {
  /** SHA-256, hex, over all that decides: equal digests give equal verdicts. */
  readonly digest: string;
  check(link: LinkFacts): ScopeVerdict;
  /** Is the payload of this media type wanted? */
  checkType(type: string): ScopeVerdict;
}

export const stays = ['any', 'domain', 'host', 'path'] as const satisfies readonly Config['scope']['stay'][];
export type Stay = (typeof stays)[number];

export interface LinkFacts {
  /** Normalized. */
  readonly url: string;
  /** Depth that the URL would have. */
  readonly depth: number;
  readonly hopType: HopType;
  /** Page that links to it, normalized. */
  readonly from?: string;
  readonly seed?: string | null;
  /** What the seed line says; `scope.stay` where it says nothing. */
  readonly seedScope?: Stay | null;
}

/** `rule` names file and line already; `file` and `line` are for scripts. A setting has no line. */
export type ScopeVerdict =
  | {readonly accepted: true; readonly rule?: string; readonly file?: string; readonly line?: number}
  | {
      readonly accepted: false;
      readonly reason: Reason;
      readonly rule?: string;
      readonly file?: string;
      readonly line?: number;
    };

/** Raised by any change that gives some link another verdict. */
export const scopeVersion = 1;

export interface RuleFile {
  readonly file: string;
  readonly text: string;
}

/** @throws CrawlError CONFIG_INVALID with file and line for a bad rule */
export function makeScope(
  config: Config['scope'],
  url: Config['url'],
  links: Config['links'],
  files: readonly RuleFile[],
): Scope {
  const schemes = new Set(config.schemes.map((scheme) => scheme.toLowerCase().replace(/:$/, '')));
  const {sources, typeRules} = sourcesOf(config, files);
  const types = config.reject_types.map((type) => type.toLowerCase());

  // Links come page by page, and so seed by seed.
  let lastHome: Target | undefined;
  function homeOf(seed: string): Target {
    if (lastHome?.url !== seed) lastHome = targetOf(seed, 0);
    return lastHome;
  }

  function limits(target: Target): ScopeVerdict | undefined {
    if (!schemes.has(target.scheme)) return no('scheme', `scope.schemes ${config.schemes.join(' ')}`);
    if (target.url.length > url.max_length) return no('url_too_long', `url.max_length ${url.max_length}`);
    if (countSegments(target.path) > config.max_path_segments)
      return no('path_segments', `scope.max_path_segments ${config.max_path_segments}`);
    if (countParameters(target.query) > config.max_query_parameters)
      return no('query_parameters', `scope.max_query_parameters ${config.max_query_parameters}`);
    return undefined;
  }

  function direction(link: LinkFacts, target: Target): ScopeVerdict | undefined {
    if (link.from === undefined || link.hopType === 'I' || link.hopType === 'S') return undefined;
    if (links.internal && links.external) return undefined;
    const same = sameHost(targetOf(link.from, 0).host, target.host);
    if (!links.internal && same && link.hopType !== 'R') return no('internal_off', 'links.internal');
    if (!links.external && !same) return no('external_off', 'links.external');
    return undefined;
  }

  function regular(link: LinkFacts, target: Target): ScopeVerdict {
    if (link.hopType !== 'I' && link.depth > config.max_depth)
      return no('depth', `scope.max_depth ${config.max_depth}`);
    const turned = direction(link, target);
    if (turned) return turned;
    const stay = link.seedScope ?? config.stay;
    if (link.hopType !== 'I' && link.seed && !staysWith(stay, homeOf(link.seed), target))
      return no('scope_seed', `${link.seedScope ? 'scope of the seed' : 'scope.stay'} ${stay} ${link.seed}`);
    return askRules(target) ?? otherwise();
  }

  function otherwise(): ScopeVerdict {
    return config.otherwise === 'accept' ? {accepted: true} : no('scope_no_rule', 'scope.otherwise reject');
  }

  function askRules(target: Target): ScopeVerdict | undefined {
    let passed: ScopeVerdict | undefined;
    for (const source of sources) {
      if (source.kind === 'rules') {
        const rule = source.find(target);
        if (rule) return verdictOf(rule);
        continue;
      }
      const {accept, rule} = source.filter(target);
      if (accept) passed = rule ? verdictOf(rule) : {accepted: true, rule: source.file, file: source.file};
      else
        return rule
          ? verdictOf(rule)
          : {
              accepted: false,
              reason: 'scope_no_rule',
              rule: `${source.file}: no rule matches`,
              file: source.file,
            };
    }
    return passed;
  }

  // Links come page by page: whether the page itself is in scope is asked once for all it embeds.
  let lastPage = '';
  let lastPageIn = false;
  function pageInScope(link: LinkFacts): boolean {
    if (link.from === undefined) return true;
    const key = `${link.from}\n${link.seed ?? ''}\n${link.seedScope ?? ''}\n${link.depth}`;
    if (key !== lastPage) {
      const page = {...link, url: link.from, hopType: 'L' as const, depth: Math.max(0, link.depth - 1)};
      const {from: _from, ...facts} = page;
      const target = targetOf(facts.url, facts.depth);
      lastPageIn = (limits(target) ?? regular(facts, target)).accepted;
      lastPage = key;
    }
    return lastPageIn;
  }

  return {
    digest: digestOf(config, url, links, files),
    check(link) {
      const target = targetOf(link.url, link.depth);
      const limited = limits(target);
      if (limited) return limited;
      if (link.hopType !== 'E') return regular(link, target);
      if (!config.embeds) return no('embed_off', 'scope.embeds');
      const verdict = regular(link, target);
      if (verdict.accepted || verdict.reason === 'scope_rule' || !pageInScope(link)) return verdict;
      const ruled = askRules(target);
      return ruled && !ruled.accepted && ruled.reason === 'scope_rule'
        ? ruled
        : {accepted: true, rule: 'scope.embeds'};
    },
    checkType(type) {
      const plain = type.split(';', 1)[0]!.trim().toLowerCase();
      for (const rule of typeRules)
        if (
          rule.match.kind === 'type' &&
          (rule.match.prefix ? plain.startsWith(rule.match.type) : plain === rule.match.type)
        )
          return rule.accept
            ? verdictOf(rule)
            : {...verdictOf(rule), accepted: false, reason: 'content_type'};
      const hit = types.find(
        (one) => one === plain || (one.endsWith('*') && plain.startsWith(one.slice(0, -1))),
      );
      return hit === undefined ? {accepted: true} : no('content_type', `scope.reject_types ${hit}`);
    },
  };
}

const no = (reason: Reason, rule: string): ScopeVerdict => ({accepted: false, reason, rule});

function verdictOf(rule: Rule): ScopeVerdict {
  const named = {rule: nameRule(rule), file: rule.file, line: rule.line};
  return rule.accept ? {accepted: true, ...named} : {accepted: false, reason: 'scope_rule', ...named};
}

type Source =
  | {readonly kind: 'rules'; readonly find: FirstMatch}
  | {readonly kind: 'filter'; readonly file: string; readonly filter: Filter};

function sourcesOf(
  config: Config['scope'],
  files: readonly RuleFile[],
): {readonly sources: readonly Source[]; readonly typeRules: readonly Rule[]} {
  const sources: Source[] = [];
  const typeRules: Rule[] = [];
  const addRules = (lines: readonly string[], file: string) => {
    const rules = parseOwnRules(
      lines.map((line, index) => [index + 1, line] as const),
      file,
    );
    if (rules.length > 0) sources.push({kind: 'rules', find: firstMatch(rules)});
    typeRules.push(...rules.filter(({match}) => match.kind === 'type'));
  };
  addRules(config.rules, 'scope.rules');
  for (const {file, text} of files) {
    const form = nutchFormOf(file, text);
    if (form) sources.push({kind: 'filter', file, filter: parseNutchFile(form, text, file)});
    else addRules(text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/), file);
  }
  return {sources, typeRules};
}

/** The same site for a visitor: `www.` makes no difference. */
function sameHost(a: string, b: string): boolean {
  return a === b || bare(a) === bare(b);
}
const bare = (host: string) => (host.startsWith('www.') ? host.slice(4) : host);

/** Is the target within what the seed allows? */
function staysWith(stay: Stay, home: Target, target: Target): boolean {
  switch (stay) {
    case 'any':
      return true;
    case 'domain':
      return ownerDomain(home.host) === ownerDomain(target.host);
    case 'host':
      return sameHost(home.host, target.host);
    case 'path':
      return (
        sameHost(home.host, target.host) &&
        target.path.startsWith(home.path.slice(0, home.path.lastIndexOf('/') + 1))
      );
  }
}

function digestOf(
  config: Config['scope'],
  url: Config['url'],
  links: Config['links'],
  files: readonly RuleFile[],
): string {
  const {files: _names, sitemaps: _rounds, ...settings} = config;
  const ordered = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = files.map(({file, text}) => [nutchFormOf(file, text) ?? 'own', file, text]);
  const facts = [scopeVersion, ordered, url.max_length, links.internal, links.external, texts];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}
