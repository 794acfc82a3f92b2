import {hammingDistance} from '../signature/simhash.ts';

/** What the crawl has seen of a family; the counts are of the window, the last pages that judgement looks at. */
export interface FamilyCounts {
  /** Pages asked for, failed ones too. */
  readonly fetched: number;
  /** Of them, pages with a text that is like no other of the family. */
  readonly novel: number;
  /** Pages whose text equals that of an earlier one word for word. */
  readonly repeats: number;
  /** Pages first found on a page of the same family. */
  readonly inside: number;
  /** Fingerprints of texts that differ, the newest ones last. */
  readonly samples: readonly bigint[];
}

export const nothingSeen: FamilyCounts = {fetched: 0, novel: 0, repeats: 0, inside: 0, samples: []};

export interface SeenPage {
  /** Null for a failed page, or one without text. */
  readonly simhash: bigint | null;
  /** Found on a page of the same family. */
  readonly inside: boolean;
}

/** Texts kept for comparison (chosen: month views differ from the nearest of 32 others in 4 bits of 64 at most, measured). */
const maxSamples = 32;

/**
 * Counts with one more page. `nearBits`: texts whose fingerprints differ in no more bits are alike. Measured: pages of a
 * calendar, or lists without entries, are within 5 bits of the nearest of 32 others, product pages of 20 words of their own
 * at least 11 from any.
 */
export function seePage(counts: FamilyCounts, page: SeenPage, nearBits: number): FamilyCounts {
  const nearest = page.simhash === null ? 0 : nearestOf(counts.samples, page.simhash);
  const novel = page.simhash !== null && nearest > nearBits;
  return {
    fetched: counts.fetched + 1,
    novel: counts.novel + (novel ? 1 : 0),
    repeats: counts.repeats + (page.simhash !== null && nearest === 0 ? 1 : 0),
    inside: counts.inside + (page.inside ? 1 : 0),
    samples: novel ? [...counts.samples.slice(1 - maxSamples), page.simhash!] : counts.samples,
  };
}

function nearestOf(samples: readonly bigint[], simhash: bigint): number {
  let least = 65;
  for (const sample of samples) least = Math.min(least, hammingDistance(sample, simhash));
  return least;
}

export interface JudgeRule {
  /** Pages of a family before it is judged; a quarter of that where it grew slowly. */
  readonly minPages: number;
  /** Least share of new content. */
  readonly minNovel: number;
}

/** Rounds with pages of a family from which on it counts as slow (chosen: what an honest list of a quarter of the pages has not, at the usual caps). */
const slowRounds = 8;

/** Share of pages that were found within the family, from which on it feeds itself. */
const selfFeeding = 0.8;

export type Verdict = 'open' | 'repeats' | 'self_feeding';

/**
 * - `repeats`: nearly all texts are equal to others of the family, word for word: session ids, orders of a list, prints.
 *   Nothing is lost by not asking on.
 * - `self_feeding`: nearly all are like others, empty or failures, and were found on pages of the same kind: calendars,
 *   filters, pages beyond the end of a list. A list of dead or poor links from elsewhere is finite, and is no trap.
 *
 * One that brings a few pages a round for many rounds is judged by fewer pages: it would go on for years before it had
 * all of them.
 *
 * @param rounds in which pages of the family were fetched
 */
export function judge(counts: FamilyCounts, {minPages, minNovel}: JudgeRule, rounds = 1): Verdict {
  const {fetched, novel, repeats, inside} = counts;
  if (fetched < (rounds < slowRounds ? minPages : minPages / 4)) return 'open';
  if (repeats >= (1 - minNovel) * fetched) return 'repeats';
  return novel < minNovel * fetched && inside >= selfFeeding * fetched ? 'self_feeding' : 'open';
}

/** The window moves on: what is older counts half. */
export function ageWindow(counts: FamilyCounts, minPages: number): FamilyCounts {
  if (counts.fetched < 2 * minPages) return counts;
  const half = (count: number) => Math.floor(count / 2);
  const {fetched, novel, repeats, inside, samples} = counts;
  return {fetched: half(fetched), novel: half(novel), repeats: half(repeats), inside: half(inside), samples};
}

/** What is left for a wider family when a narrow one in it was judged. */
export function without(counts: FamilyCounts, part: FamilyCounts): FamilyCounts {
  const less = (a: number, b: number) => Math.max(0, a - b);
  return {
    ...counts,
    fetched: less(counts.fetched, part.fetched),
    novel: less(counts.novel, part.novel),
    repeats: less(counts.repeats, part.repeats),
    inside: less(counts.inside, part.inside),
  };
}
