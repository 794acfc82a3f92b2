/**
 * A line of a seed list, in Nutch's form: the URL, then `key=value` pairs, separated by tabs.
 * Blank lines and lines that begin with `#` say nothing. What cannot be read is told, never guessed:
 * Nutch logs a malformed number and injects the URL with defaults.
 */
export const seedScopes = ['any', 'domain', 'host', 'path'] as const;
export type SeedScope = (typeof seedScopes)[number];

export interface SeedLine {
  /** As written, not yet normalized. */
  readonly url: string;
  readonly score: number | null;
  /** First interval between two fetches, in seconds. */
  readonly interval_s: number | null;
  /** The schedule leaves the interval alone. */
  readonly fixed: boolean;
  readonly tag: string | null;
  readonly group: string | null;
  readonly scope: SeedScope | null;
  /** All other pairs, in their order. */
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** Null: the line says nothing. */
export type SeedLineResult = {readonly seed: SeedLine} | {readonly malformed: string} | null;

type Field = 'score' | 'interval' | 'fixed' | 'tag' | 'group' | 'scope';

/** Reserved keys: Nutch's names (Injector) and ours. */
const fields: Readonly<Record<string, Field>> = {
  'nutch.score': 'score',
  score: 'score',
  'nutch.fetchInterval': 'interval',
  interval: 'interval',
  'nutch.fetchInterval.fixed': 'fixed',
  fixed_interval: 'fixed',
  tag: 'tag',
  group: 'group',
  scope: 'scope',
};

/** Largest interval that fetch_interval_s holds. */
const maxIntervalS = 2 ** 31 - 1;
const unitSeconds: Readonly<Record<string, number>> = {'': 1, s: 1, m: 60, h: 3600, d: 86_400};

export function parseSeedLine(text: string): SeedLineResult {
  const line = text.trim();
  if (line === '' || line.startsWith('#')) return null;
  const [url = '', ...pairs] = line.split('\t').map((part) => part.trim());
  const values = new Map<Field, {key: string; value: string}>();
  const metadata = new Map<string, string>();
  for (const pair of pairs) {
    if (pair === '') continue;
    const cut = pair.indexOf('=');
    if (cut < 1) return {malformed: `not a key=value pair: ${pair}`};
    const key = pair.slice(0, cut).trim();
    const value = pair.slice(cut + 1).trim();
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined ? metadata.has(key) : values.has(field))
      return {malformed: `${key} is given twice`};
    if (field === undefined) metadata.set(key, value);
    else values.set(field, {key, value});
  }
  return readFields(url, values, metadata);
}

function readFields(
  url: string,
  values: ReadonlyMap<Field, {key: string; value: string}>,
  metadata: ReadonlyMap<string, string>,
): SeedLineResult {
  let score: number | null = null;
  const given = values.get('score');
  if (given !== undefined) {
    score = decimal(given.value);
    if (score === null) return {malformed: `${given.key}=${given.value} is not a number`};
  }
  const fixed = values.get('fixed');
  const interval = fixed ?? values.get('interval');
  let interval_s: number | null = null;
  if (interval !== undefined) {
    interval_s = seconds(interval.value);
    if (interval_s === null)
      return {
        malformed: `${interval.key}=${interval.value} is not an interval: seconds, or a number with s, m, h or d`,
      };
  }
  const scope = values.get('scope')?.value ?? null;
  if (scope !== null && !isSeedScope(scope))
    return {malformed: `scope=${scope} is none of ${seedScopes.join(', ')}`};
  return {
    seed: {
      url,
      score,
      interval_s,
      fixed: fixed !== undefined,
      tag: values.get('tag')?.value || null,
      group: values.get('group')?.value || null,
      scope,
      metadata: metadata.size === 0 ? null : Object.fromEntries(metadata),
    },
  };
}

function isSeedScope(text: string): text is SeedScope {
  return (seedScopes as readonly string[]).includes(text);
}

function decimal(text: string): number | null {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text))
    ? Number(text)
    : null;
}

function seconds(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text);
  if (match === null) return null;
  const value = Math.round(Number(match[1]) * unitSeconds[match[2]!]!);
  return value >= 1 && value <= maxIntervalS ? value : null;
}
