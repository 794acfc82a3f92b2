/**
 * Patterns of robots.txt with `*` and `$`, matched in time linear in pattern and path: the parts between
 * the stars are looked for from left to right, each at its first place, which is enough for stars; no
 * regular expression, nothing is tried twice.
 */
export interface Pattern {
  /** What stands between the stars, in comparable form; the first is a prefix of the path. */
  readonly parts: readonly string[];
  /** Ends in `$`: the last part is a suffix of the path. */
  readonly anchored: boolean;
}

/** Counts comparisons, for tests that hold the cost to its bound. */
export interface Meter {
  steps: number;
}

export function matchesPattern({parts, anchored}: Pattern, path: string, meter?: Meter): boolean {
  const first = parts[0]!;
  if (meter) meter.steps += first.length;
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = parts.length - 1;
  if (last === 0) return !anchored || at === path.length;
  for (let i = 1; i < last; i++) {
    const found = find(path, parts[i]!, at, meter);
    if (found < 0) return false;
    at = found + parts[i]!.length;
  }
  const end = parts[last]!;
  if (!anchored) return end === '' || find(path, end, at, meter) >= 0;
  if (meter) meter.steps += end.length;
  return path.length - end.length >= at && path.endsWith(end);
}

/**
 * Up to this length the engine's own search is used: its worst case is length × path, so this is the
 * constant of the linear bound. Longer parts go through Knuth-Morris-Pratt.
 */
const shortPart = 16;

/** Where `part` first stands in `text` at or after `from`, or -1. */
function find(text: string, part: string, from: number, meter: Meter | undefined): number {
  if (part.length <= shortPart) {
    const found = text.indexOf(part, from);
    if (meter) meter.steps += shortPart * ((found < 0 ? text.length : found + part.length) - from);
    return found;
  }
  const failure = failureTable(part, meter);
  let matched = 0;
  for (let i = from; i < text.length; i++) {
    const c = text.charCodeAt(i);
    while (matched > 0 && part.charCodeAt(matched) !== c) matched = failure[matched - 1]!;
    if (part.charCodeAt(matched) === c) matched++;
    if (matched === part.length) {
      if (meter) meter.steps += 2 * (i + 1 - from);
      return i + 1 - matched;
    }
  }
  if (meter) meter.steps += 2 * (text.length - from);
  return -1;
}

function failureTable(part: string, meter: Meter | undefined): Int32Array {
  const table = new Int32Array(part.length);
  let matched = 0;
  for (let i = 1; i < part.length; i++) {
    const c = part.charCodeAt(i);
    while (matched > 0 && part.charCodeAt(matched) !== c) matched = table[matched - 1]!;
    if (part.charCodeAt(matched) === c) matched++;
    table[i] = matched;
  }
  if (meter) meter.steps += 2 * part.length;
  return table;
}
