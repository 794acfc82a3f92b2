import type {FileRef} from '../store/manifest-types.ts';
import {liveShare} from './compaction.ts';
import {bucketsOf} from './layout.ts';

/**
 * How scores fall in a file of the frontier, best first: the score at some ranks, kept with the file in the list that
 * the manifest names. So generate knows how deep it must read before it reads anything.
 */

/** 64, 91, 128, 181 …: each √2 times the one before, so that an estimate is right within that factor. */
export function gridRanks(rows: number): readonly number[] {
  const ranks: number[] = [];
  for (let step = 12; ; step++) {
    const rank = Math.round(2 ** (step / 2));
    if (rank >= rows) break;
    ranks.push(rank);
  }
  return rows > 0 ? [...ranks, rows] : ranks;
}

/** As it is kept in the facts of a file. */
export function gridText(scores: readonly number[]): string {
  return scores.join(' ');
}

/**
 * How the scores fall of the rows of a visited delta that were in the frontier before: as long as the delta is live,
 * the frontier still holds them, though they are no more to be had.
 */
export function takenFacts(rows: number, scores: readonly number[]): NonNullable<FileRef['facts']> {
  return {taken: rows, taken_scores: gridText(scores)};
}

interface Grid {
  readonly ranks: readonly number[];
  readonly scores: readonly number[];
  /** What one of its rows counts for. */
  readonly weight: number;
}

function gridOf(rows: number, text: unknown, weight: number): readonly Grid[] {
  if (typeof text !== 'string' || text === '') return [];
  return [{ranks: gridRanks(rows), scores: text.split(' ').map(Number), weight}];
}

/** How the frontier falls, as its files tell. Files without a grid count as empty. */
class Frontier {
  readonly #held: number;
  readonly #there: readonly Grid[];
  readonly #taken: readonly Grid[];
  /** All scores of its grids, best first. */
  readonly scores: readonly number[];

  constructor(files: readonly FileRef[], held: number) {
    const buckets = bucketsOf(files);
    this.#held = held;
    this.#there = files.flatMap(({rows, facts}) => gridOf(rows, facts?.scores, 1));
    this.#taken = files.flatMap((file) =>
      gridOf(Number(file.facts?.taken ?? 0), file.facts?.taken_scores, liveShare(file, buckets)),
    );
    this.scores = [...new Set(this.#there.flatMap((grid) => grid.scores))].sort((a, b) => b - a);
  }

  /** Rows that have this score or a greater one. */
  rows(score: number): number {
    return rowsAt(this.#there, score);
  }

  /** Of these, rows that cannot be had: visited since, or held by an open segment. */
  gone(score: number): number {
    return Math.min(this.rows(score), rowsAt(this.#taken, score) + this.#held);
  }

  left(score: number): number {
    return this.rows(score) - this.gone(score);
  }
}

/**
 * The greatest score that at least `want` rows have or surpass, as far as the grids tell; undefined where all rows must
 * be read.
 */
function scoreFor(frontier: Frontier, want: number): number | undefined {
  const {scores} = frontier;
  if (frontier.left(Number.NEGATIVE_INFINITY) <= want) return undefined;
  let low = 0;
  for (let high = scores.length - 1; low < high; ) {
    const middle = (low + high) >> 1;
    if (frontier.left(scores[middle]!) >= want) high = middle;
    else low = middle + 1;
  }
  return scores[low];
}

/** How deep to read: all greater scores, and of this one the rows of the least keys. */
export interface Bound {
  readonly score: number;
  /** Greatest url_key of rows of just this score; null for all of them. */
  readonly key: bigint | null;
}

/**
 * Rows of a tie for each that is wanted, since of each host the first is wanted before the second of any (chosen: with
 * hosts of Zipf sizes 1.5 was too few, and 4 times as much is read then).
 */
const spare = 3;
/** Of more of a tie than this all is read (chosen). */
const mostOfTie = 0.6;

/**
 * A bound that leaves at least about `want` rows above it; undefined where all rows must be read. Keys are hashes, so a
 * share of their range is that share of the rows.
 *
 * @param held rows that open segments hold; taken for the best ones
 */
export function boundFor(files: readonly FileRef[], want: number, held = 0): Bound | undefined {
  const frontier = new Frontier(files, held);
  const score = scoreFor(frontier, want);
  if (score === undefined) return undefined;
  const above = frontier.scores.findLast((one) => one > score) ?? Number.POSITIVE_INFINITY;
  const tie = frontier.rows(score) - frontier.rows(above);
  const goneOfTie = frontier.gone(score) - frontier.gone(above);
  const share = (goneOfTie + spare * (want - frontier.left(above))) / Math.max(1, tie);
  return {score, key: share < mostOfTie ? BigInt(Math.round(share * 2 ** 53)) << 11n : null};
}

function rowsAt(grids: readonly Grid[], score: number): number {
  return grids.reduce((sum, {ranks, scores, weight}) => {
    let rank = 0;
    for (let at = 0; at < scores.length && scores[at]! >= score; at++) rank = ranks[at]!;
    return sum + weight * rank;
  }, 0);
}
