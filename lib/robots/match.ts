import {indexRules, type RuleIndex} from './index-rules.ts';
import {comparablePath, octetsOf, textOf} from './octets.ts';
import {agentToken, type RobotsFile, type RobotsRule} from './parse.ts';
import type {Meter} from './wildcard.ts';

/** The rules of one robots.txt for one crawler, indexed for many questions. */
export interface RobotsRules {
  /** Whose rules they are: groups that name us, the groups for all, or no group. */
  readonly group: 'named' | 'any' | 'none';
  readonly rules: readonly RobotsRule[];
  /** Longest Crawl-delay that holds for us; null without one. */
  readonly crawlDelayS: number | null;
  readonly index: RuleIndex;
  /** Nothing is allowed but /robots.txt: it could not be read (RFC 9309, 2.3.1.4). */
  readonly denyAll: boolean;
}

export interface RobotsAnswer {
  readonly allowed: boolean;
  /** Line of the deciding rule, from 1; null where no rule matched. */
  readonly line: number | null;
  /** The deciding rule as written: `Disallow: /private`. */
  readonly rule: string | null;
}

/** Nothing is forbidden: there is no robots.txt. */
export const allowAll: RobotsRules = {
  group: 'none',
  rules: [],
  crawlDelayS: null,
  index: indexRules([]),
  denyAll: false,
};

/** Everything is forbidden but /robots.txt: it could not be read. */
export const denyAll: RobotsRules = {...allowAll, denyAll: true};

/**
 * The rules for a crawler: those of all groups that name its product token, letter case aside; if none
 * does, those of all groups for `*` (RFC 9309, 2.2.1). A group that names us and has no rules allows all.
 *
 * @param productToken our name; a whole User-Agent header is cut to its first token
 */
export function rulesFor(file: RobotsFile, productToken: string): RobotsRules {
  const token = agentToken(productToken.trim());
  const named = token === '' || token === '*' ? undefined : collect(file, token);
  if (named !== undefined) return {group: 'named', ...named};
  const any = collect(file, '*');
  return any === undefined ? allowAll : {group: 'any', ...any};
}

function collect(file: RobotsFile, token: string): Omit<RobotsRules, 'group'> | undefined {
  let found = false;
  const rules: RobotsRule[] = [];
  let crawlDelayS: number | null = null;
  for (const group of file.groups) {
    const at = group.agents.findIndex((agent) => agent.token === token);
    if (at < 0) continue;
    found = true;
    for (const rule of group.rules) rules.push(rule);
    for (const delay of group.delays) {
      if (at < delay.agents) crawlDelayS = Math.max(crawlDelayS ?? 0, delay.seconds);
    }
  }
  return found ? {rules, crawlDelayS, index: indexRules(rules), denyAll: false} : undefined;
}

/**
 * Whether the rules allow the URL. The matching rule with the longest pattern decides, Allow where two
 * are equally long; where none matches all is allowed. /robots.txt itself is always allowed.
 *
 * @param url absolute URL, or a path that begins with `/`
 * @see RFC 9309, 2.2.2 and 2.2.3
 */
export function isAllowed(rules: RobotsRules, url: string, meter?: Meter): RobotsAnswer {
  const path = pathOf(url);
  if (path === '/robots.txt') return {allowed: true, line: null, rule: null};
  if (rules.denyAll) return {allowed: false, line: null, rule: null};
  const rule = rules.index.decide(path, meter);
  if (rule === undefined) return {allowed: true, line: null, rule: null};
  return {
    allowed: rule.allow,
    line: rule.line,
    rule: (rule.allow ? 'Allow: ' : 'Disallow: ') + textOf(rule.octets),
  };
}

/** What the URL parser would change before path and query can be cut out: `\`, controls, dot segments. */
const needsParsing = /[\\\0-\x20\x7F]|\/(?:\.|%2e)/i;

/** Path and query in comparable form; the fragment is no part of it. */
export function pathOf(url: string): string {
  let text = url;
  if (needsParsing.test(text)) {
    try {
      text = new URL(text, 'http://h/').href;
    } catch {
      // not a URL: read as it is
    }
  }
  const hash = text.indexOf('#');
  if (hash >= 0) text = text.slice(0, hash);
  const scheme = text[0] === '/' ? -1 : text.indexOf('://');
  if (scheme >= 0) {
    const start = text.slice(scheme + 3).search(/[/?]/);
    text = start < 0 ? '/' : text.slice(scheme + 3 + start);
  }
  if (text[0] !== '/') text = '/' + text;
  return comparablePath(octetsOf(text));
}
