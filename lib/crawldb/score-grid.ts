import type {FileRef} from '../store/manifest-types.ts';

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

interface Grid {
  readonly ranks: readonly number[];
  readonly scores: readonly number[];
}

function gridOf(file: FileRef): Grid | undefined {
  const text = file.facts?.scores;
  if (typeof text !== 'string' || text === '') return undefined;
  return {ranks: gridRanks(file.rows), scores: text.split(' ').map(Number)};
}

/**
 * A score that at least `want` rows have or surpass, as far as the grids tell; undefined where all rows must be read.
 * Files without a grid count as empty. Of equal scores all are above it, since who chooses may spread them over hosts.
 */
export function scoreFor(files: readonly FileRef[], want: number): number | undefined {
  const grids = files.map(gridOf).filter((grid) => grid !== undefined);
  const total = grids.reduce((sum, {ranks}) => sum + (ranks.at(-1) ?? 0), 0);
  if (total <= want) return undefined;
  const scores = [...new Set(grids.flatMap((grid) => grid.scores))].sort((a, b) => b - a);
  let low = 0;
  for (let high = scores.length - 1; low < high; ) {
    const middle = (low + high) >> 1;
    if (rowsAt(grids, scores[middle]!) >= want) high = middle;
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
 */
export function boundFor(files: readonly FileRef[], want: number): Bound | undefined {
  const score = scoreFor(files, want);
  if (score === undefined) return undefined;
  const grids = files.map(gridOf).filter((grid) => grid !== undefined);
  const above = rowsAt(grids, Math.min(...grids.flatMap(({scores}) => scores.filter((one) => one > score))));
  const share = (spare * (want - above)) / Math.max(1, rowsAt(grids, score) - above);
  return {score, key: share < mostOfTie ? BigInt(Math.round(share * 2 ** 53)) << 11n : null};
}

/** Rows that surely have this score or a greater one. */
function rowsAt(grids: readonly Grid[], score: number): number {
  return grids.reduce((sum, {ranks, scores}) => {
    let rank = 0;
    for (let at = 0; at < scores.length && scores[at]! >= score; at++) rank = ranks[at]!;
    return sum + rank;
  }, 0);
}
