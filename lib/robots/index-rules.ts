import {comparablePattern, isAnchored} from './octets.ts';
import type {RobotsRule} from './parse.ts';
import {type Meter, matchesPattern, type Pattern} from './wildcard.ts';

/**
 * Rules of one crawler, arranged so that a question does not look at each of them.
 *
 * Rules without wildcard: their patterns, sorted, each knowing the longest other one that is its prefix.
 * A binary search finds the path's neighbour; from there the way up passes only patterns that are
 * prefixes of the path, longest first.
 *
 * Rules with wildcard: filed under up to four characters in a row that must stand in any path they match,
 * those that the fewest rules share. A path looks up its own; only the rules found there are tried,
 * longest first.
 *
 * Building takes time linear in the rules, but for the sort; a question, linear in the path times one
 * plus the number of rules tried. Nothing is cached between questions.
 */
export interface RuleIndex {
  /** The rule that decides about a path in comparable form; undefined where none matches. */
  decide(path: string, meter?: Meter): RobotsRule | undefined;
}

interface Compiled extends Pattern {
  readonly rule: RobotsRule;
  /** Length of the pattern in comparable form, wildcards and anchor included. */
  readonly length: number;
}

export function indexRules(rules: readonly RobotsRule[]): RuleIndex {
  const literal: Compiled[] = [];
  const wild: Compiled[] = [];
  for (const rule of rules) {
    const compiled = compile(rule);
    (compiled.parts.length === 1 ? literal : wild).push(compiled);
  }
  const prefixes = indexPrefixes(literal);
  const {byGram, always} = indexWildcards(wild);

  return {
    decide(path, meter) {
      let best = prefixes(path, meter);
      const consider = (candidates: readonly Compiled[]) => {
        for (const candidate of candidates) {
          if (best !== undefined && candidate.length < best.length) return; // longest first: no later one wins
          if (beats(candidate, best) && matchesPattern(candidate, path, meter)) best = candidate;
        }
      };
      consider(always);
      for (const [size, lists] of byGram) {
        const mask = masks[size]!;
        let seen: Set<number> | undefined;
        let gram = 0;
        for (let i = 0; i < path.length; i++) {
          gram = ((gram << 7) | path.charCodeAt(i)) & mask;
          if (i + 1 < size) continue;
          const candidates = lists.get(gram);
          if (candidates === undefined || seen?.has(gram)) continue;
          seen ??= new Set();
          seen.add(gram);
          consider(candidates);
        }
        if (meter) meter.steps += path.length;
      }
      return best?.rule;
    },
  };
}

function compile(rule: RobotsRule): Compiled {
  const anchored = isAnchored(rule.octets);
  const text = comparablePattern(rule.octets, rule.octets.length - (anchored ? 1 : 0));
  const length = text.length + (anchored ? 1 : 0);
  if (!text.includes('*')) return {rule, parts: [text], anchored, length};
  const parts = text.split('*').filter((part, i, all) => i === 0 || i === all.length - 1 || part !== '');
  // A star at the end says what a prefix says already.
  if (!anchored && parts.length === 2 && parts[1] === '') parts.pop();
  return {rule, parts, anchored, length};
}

/** The longer pattern wins, then Allow, then the earlier line. */
function beats(a: Compiled, b: Compiled | undefined): boolean {
  if (b === undefined) return true;
  if (a.length !== b.length) return a.length > b.length;
  if (a.rule.allow !== b.rule.allow) return a.rule.allow;
  return a.rule.line < b.rule.line;
}

interface Prefix {
  readonly text: string;
  /** Position of the longest other prefix that this one begins with; -1 without one. */
  up: number;
  /** Decides about paths that begin with `text`. */
  open: Compiled | undefined;
  /** Decides about the path that is `text`. */
  exact: Compiled | undefined;
}

function indexPrefixes(rules: readonly Compiled[]): (path: string, meter?: Meter) => Compiled | undefined {
  const byText = new Map<string, Prefix>();
  for (const rule of rules) {
    const text = rule.parts[0]!;
    let entry = byText.get(text);
    if (entry === undefined) {
      entry = {text, up: -1, open: undefined, exact: undefined};
      byText.set(text, entry);
    }
    if (rule.anchored) {
      if (beats(rule, entry.exact)) entry.exact = rule;
    } else if (beats(rule, entry.open)) entry.open = rule;
  }
  const sorted = [...byText.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
  const open: number[] = [];
  for (const [i, entry] of sorted.entries()) {
    while (open.length > 0 && !entry.text.startsWith(sorted[open.at(-1)!]!.text)) open.pop();
    entry.up = open.at(-1) ?? -1;
    open.push(i);
  }

  return (path, meter) => {
    let low = 0; // entries below are <= path
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]!.text <= path) low = middle + 1;
      else high = middle;
      if (meter) meter.steps += path.length;
    }
    if (low === 0) return undefined;
    const shared = sharedLength(sorted[low - 1]!.text, path);
    let best: Compiled | undefined;
    for (let at = low - 1; at >= 0; at = sorted[at]!.up) {
      const {text, open: rule, exact} = sorted[at]!;
      if (meter) meter.steps++;
      if (text.length > shared) continue;
      if (exact !== undefined && text.length === path.length) best = exact;
      // Only a pattern written with stars at its end (`/a**`) is longer than a deeper one's text.
      if (rule !== undefined && beats(rule, best)) best = rule;
    }
    if (meter) meter.steps += shared;
    return best;
  };
}

function sharedLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}

/** Runs of characters as small integers, seven bits a character since comparable text is ASCII; by their length. */
const masks: Readonly<Record<number, number>> = {1: 0x7f, 2: 0x3fff, 3: 0x1fffff, 4: 0xfffffff};
const longestGram = 4;

function indexWildcards(rules: readonly Compiled[]): {
  /** Rules by the run that they are filed under, for each length of runs. */
  byGram: ReadonlyMap<number, ReadonlyMap<number, readonly Compiled[]>>;
  /** Rules of wildcards alone. */
  always: readonly Compiled[];
} {
  const sorted = [...rules].sort((a, b) => (beats(a, b) ? -1 : 1));
  const counts = new Map<number, Map<number, number>>();
  for (const rule of sorted) {
    const size = gramSize(rule);
    const ofSize = counts.get(size) ?? new Map<number, number>();
    counts.set(size, ofSize);
    for (const gram of gramsOf(rule, size)) ofSize.set(gram, (ofSize.get(gram) ?? 0) + 1);
  }
  const byGram = new Map<number, Map<number, Compiled[]>>();
  const always: Compiled[] = [];
  for (const rule of sorted) {
    const size = gramSize(rule);
    if (size === 0) {
      always.push(rule);
      continue;
    }
    const ofSize = counts.get(size)!;
    let rarest = -1;
    for (const gram of gramsOf(rule, size)) {
      if (rarest < 0 || ofSize.get(gram)! < ofSize.get(rarest)!) rarest = gram;
    }
    const lists = byGram.get(size) ?? new Map<number, Compiled[]>();
    byGram.set(size, lists);
    const list = lists.get(rarest);
    if (list === undefined) lists.set(rarest, [rule]);
    else list.push(rule);
  }
  return {byGram, always};
}

/** Length of the runs that a rule is filed under: its longest part's, at most four. */
function gramSize(rule: Compiled): number {
  let longest = 0;
  for (const part of rule.parts) longest = Math.max(longest, part.length);
  return Math.min(longest, longestGram);
}

function gramsOf(rule: Compiled, size: number): Set<number> {
  const grams = new Set<number>();
  if (size === 0) return grams;
  const mask = masks[size]!;
  for (const part of rule.parts) {
    let gram = 0;
    for (let i = 0; i < part.length; i++) {
      gram = ((gram << 7) | part.charCodeAt(i)) & mask;
      if (i + 1 >= size) grams.add(gram);
    }
  }
  return grams;
}
