import {CrawlError} from '../errors.ts';
import {parseText} from '../kinds.ts';
import {hostOf, ownerDomain} from '../url/host.ts';
import {compilePattern} from '../url/regex.ts';
import type {Bounds} from './schedule.ts';

/**
 * Intervals for some pages, by `schedule.rules`: KIND VALUE, then `min`, `max` and `first` with a duration each, or
 * `every` with one, which fixes the interval. Kinds: host, domain, regex (of the URL), type (of the last answer,
 * `image/*` for all images), url. The first rule that matches decides.
 */
export interface PageLimits {
  readonly bounds: Bounds;
  /** The interval is this one, whatever the page does. */
  readonly everyS: number | null;
}

export interface PageFacts {
  /** Normalized. */
  readonly url: string;
  /** Media type of the last answer; null where it is not known. */
  readonly type: string | null;
}

export type LimitsOf = (page: PageFacts) => PageLimits;

interface ScheduleRule {
  readonly matches: (page: PageFacts) => boolean;
  readonly limits: PageLimits;
}

const where = 'schedule.rules';
const form =
  'A rule is KIND VALUE and intervals, as: host news.example.org min 15m max 1d; type application/pdf every 30d';

/** @throws CrawlError CONFIG_INVALID with the number of a rule that can't be read */
export function scheduleRules(lines: readonly string[], bounds: Bounds): LimitsOf {
  const rules = lines.map((text, index) => readRule(text, index + 1, bounds));
  const general: PageLimits = {bounds, everyS: null};
  return (page) => rules.find(({matches}) => matches(page))?.limits ?? general;
}

function readRule(text: string, line: number, bounds: Bounds): ScheduleRule {
  const bad = (problem: string) =>
    new CrawlError('CONFIG_INVALID', `${where}:${line}: ${problem}: ${text.slice(0, 200)}`, {
      facts: {file: where, line, rule: text.slice(0, 200)},
      hint: form,
    });
  const [kind = '', value = '', ...words] = text.trim().split(/\s+/);
  if (value === '' || words.length === 0 || words.length % 2 !== 0)
    throw bad('not a kind, a value and intervals');
  const given: Record<string, number> = {};
  for (let at = 0; at < words.length; at += 2) {
    const name = words[at]!;
    if (!['min', 'max', 'first', 'every'].includes(name)) throw bad(`unknown word ${name}`);
    const parsed = parseText({kind: 'duration', doc: ''}, words[at + 1]!);
    if ('problem' in parsed || typeof parsed.value !== 'number' || parsed.value < 1000)
      throw bad(`${name} wants a duration of at least 1s`);
    given[name] = Math.min(Math.round(parsed.value / 1000), 2 ** 31 - 1);
  }
  const {min: minS = bounds.minS, max: maxS = Math.max(bounds.maxS, minS), every, first} = given;
  if (minS > maxS) throw bad('min is longer than max');
  const firstS = Math.min(Math.max(first ?? bounds.firstS, minS), maxS);
  return {
    matches: matcher(kind, value, line, bad),
    limits: {bounds: {firstS, minS, maxS}, everyS: every ?? null},
  };
}

function matcher(
  kind: string,
  value: string,
  line: number,
  bad: (problem: string) => CrawlError,
): (page: PageFacts) => boolean {
  const lower = value.toLowerCase();
  switch (kind) {
    case 'host':
      return ({url}) => hostOf(url) === lower;
    case 'domain':
      return ({url}) => ownerDomain(hostOf(url)) === lower;
    case 'url':
      return ({url}) => url === value;
    case 'regex': {
      const pattern = compilePattern(value, {file: where, line});
      return ({url}) => pattern.test(url);
    }
    case 'type': {
      const start = lower.endsWith('*') ? lower.slice(0, -1) : null;
      return ({type}) => {
        const plain = type === null ? undefined : type.split(';', 1)[0]!.trim().toLowerCase();
        return plain !== undefined && (start === null ? plain === lower : plain.startsWith(start));
      };
    }
    default:
      throw bad(`unknown kind ${kind}`);
  }
}
