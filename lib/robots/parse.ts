import {decodeRobots} from './decode.ts';
import {textOf} from './octets.ts';

/**
 * A robots.txt as data: groups with their rules, delays, sitemaps, and what was not understood.
 *
 * Read as RFC 9309 says where it says something, as google/robotstxt does where it does not
 * (docs/decisions/0031): a group is a run of agent lines, then rules; only a rule ends the run of agent
 * lines, so that blank, unknown, Crawl-delay and Sitemap lines between them change nothing.
 */
export interface RobotsFile {
  readonly groups: readonly RobotsGroup[];
  /** Sitemap lines as written, in order. They belong to no group. */
  readonly sitemaps: readonly RobotsSitemap[];
  /** Lines that have no effect though they are neither blank nor comments; at most {@link maxNotes}. */
  readonly notes: readonly RobotsNote[];
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  /** True: cut at maxBytes; the cut line does not count. */
  readonly truncated: boolean;
  readonly lines: number;
}

export interface RobotsGroup {
  readonly agents: readonly RobotsAgent[];
  readonly rules: readonly RobotsRule[];
  readonly delays: readonly RobotsDelay[];
}

export interface RobotsAgent {
  /** Product token in lower case, or `*`. */
  readonly token: string;
  readonly line: number;
}

export interface RobotsRule {
  readonly allow: boolean;
  /** The pattern as written, one character a byte; not empty. */
  readonly octets: string;
  /** From 1. */
  readonly line: number;
}

export interface RobotsDelay {
  readonly seconds: number;
  readonly line: number;
  /** How many of the group's agents stand above the line: it holds for those. */
  readonly agents: number;
}

export interface RobotsSitemap {
  readonly url: string;
  readonly line: number;
}

export interface RobotsNote {
  readonly line: number;
  readonly problem: 'no_colon' | 'unknown_key' | 'no_agent' | 'bad_agent' | 'bad_pattern' | 'bad_delay';
}

/** Chosen: enough to show somebody what is wrong, not enough to fill a terminal with a binary file. */
export const maxNotes = 100;

export interface RobotsOptions {
  /** RFC 9309, 2.5: at least 500 KiB must be read. */
  readonly maxBytes: number;
  /** Accept the misspellings that google/robotstxt accepts, and a missing colon. */
  readonly typos: boolean;
}

/** Keys in lower case. */
const keys: Readonly<Record<string, Key>> = {
  'user-agent': 'agent',
  allow: 'allow',
  disallow: 'disallow',
  'crawl-delay': 'delay',
  sitemap: 'sitemap',
};
type Key = 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap';

/** What google/robotstxt accepts beyond them (robots.cc, ParsedRobotsKey). */
const misspelled: Readonly<Record<string, Key>> = {
  useragent: 'agent',
  'user agent': 'agent',
  dissallow: 'disallow',
  dissalow: 'disallow',
  disalow: 'disallow',
  diasllow: 'disallow',
  disallaw: 'disallow',
  'site-map': 'sitemap',
};

export function parseRobots(bytes: Uint8Array, options: RobotsOptions): RobotsFile {
  const {octets, encoding, truncated} = decodeRobots(bytes, options.maxBytes);
  const groups: MutableGroup[] = [];
  const sitemaps: RobotsSitemap[] = [];
  const notes: RobotsNote[] = [];
  let group: MutableGroup | undefined;

  let line = 0;
  const note = (problem: RobotsNote['problem']) => {
    if (notes.length < maxNotes) notes.push({line, problem});
  };
  for (const text of octets.split(/\r\n|\r|\n/)) {
    line++;
    const hash = text.indexOf('#');
    const content = trim(hash < 0 ? text : text.slice(0, hash));
    if (content === '') continue;
    const entry = keyAndValue(content, options.typos);
    if (entry === 'no_colon' || entry === 'unknown_key') {
      note(entry);
      continue;
    }
    const {key, value} = entry;
    if (key === 'sitemap') {
      if (value !== '') sitemaps.push({url: textOf(value), line});
    } else if (key === 'agent') {
      if (group === undefined || group.rules.length > 0 || group.closed) {
        group = {agents: [], rules: [], delays: [], closed: false};
        groups.push(group);
      }
      const token = agentToken(value);
      if (token === '') note('bad_agent');
      else group.agents.push({token, line});
    } else if (group === undefined) {
      note('no_agent');
    } else if (key === 'delay') {
      const seconds = delaySeconds(value);
      if (seconds === null) note('bad_delay');
      else group.delays.push({seconds, line, agents: group.agents.length});
    } else {
      group.closed = true; // an empty rule too ends the run of agents
      if (value === '') continue;
      if (value[0] === '/' || value[0] === '*') {
        group.rules.push({allow: key === 'allow', octets: value, line});
      } else {
        note('bad_pattern');
      }
    }
  }
  return {
    groups: groups.map(({agents, rules, delays}) => ({agents, rules, delays})),
    sitemaps,
    notes,
    encoding,
    truncated,
    lines: line,
  };
}

interface MutableGroup {
  readonly agents: RobotsAgent[];
  readonly rules: RobotsRule[];
  readonly delays: RobotsDelay[];
  /** A rule has been seen: the next agent line begins a new group. */
  closed: boolean;
}

function keyAndValue(
  content: string,
  typos: boolean,
): {key: Key; value: string} | 'no_colon' | 'unknown_key' {
  const colon = content.indexOf(':');
  if (colon >= 0) {
    const key = keyOf(trim(content.slice(0, colon)), typos);
    return key === undefined ? 'unknown_key' : {key, value: trim(content.slice(colon + 1))};
  }
  if (!typos) return 'no_colon';
  // A missing colon: exactly two words.
  const words = content.split(/[ \t]+/);
  const key = words.length === 2 ? keyOf(words[0]!, typos) : undefined;
  return key === undefined ? 'no_colon' : {key, value: words[1]!};
}

function keyOf(name: string, typos: boolean): Key | undefined {
  if (name.length > 11) return undefined;
  const lower = name.toLowerCase();
  if (Object.hasOwn(keys, lower)) return keys[lower];
  return typos && Object.hasOwn(misspelled, lower) ? misspelled[lower] : undefined;
}

/**
 * The product token at the start of an agent line or of a User-Agent header, in lower case; `*`; or
 * empty where there is none. What follows the token (a version, a comment, more words) does not count.
 * RFC 9309 has letters, `-` and `_`; digits count here too, since real names have them (MJ12bot).
 */
export function agentToken(value: string): string {
  if (value[0] === '*') return value.length === 1 || /\s/.test(value[1]!) ? '*' : '';
  return /^[A-Za-z0-9_-]*/.exec(value)![0].toLowerCase();
}

/**
 * Seconds of a Crawl-delay value, or null. A decimal number, comma or point, with nothing or a unit of
 * seconds after it; signs, exponents and words are no delay. Capped at a year.
 */
function delaySeconds(value: string): number | null {
  const match = /^(\d{1,15}(?:[.,]\d{0,15})?|[.,]\d{1,15})\s*(?:s|sec|secs|seconds?)?$/i.exec(value);
  if (match === null) return null;
  return Math.min(Number(match[1]!.replace(',', '.')), 31_536_000);
}

/** Without ASCII white space at both ends. (String.trim would take bytes of UTF-8 for spaces: 0xA0, 0x85.) */
function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isSpace(c: number): boolean {
  return c === 32 || (c >= 9 && c <= 13);
}
