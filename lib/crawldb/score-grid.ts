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

/** Where reading ends: all rows with a greater score, and of those with this score the ones up to `url_key`. */
export interface Bound {
  readonly score: number;
  /** 2^64 - 1 for the whole tie. */
  readonly urlKey: bigint;
}

const everyKey = 2n ** 64n - 1n;
/** Keys are hashes, so a share of a tie is a range of keys; a third more for luck. */
const tieMargin = 1.3;

/**
 * A bound above which at least `want` rows stand, as far as the grids tell; undefined where all rows must be read.
 * Files without a grid count as empty.
 */
export function boundFor(files: readonly FileRef[], want: number): Bound | undefined {
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
  const score = scores[low]!;
  const above = low === 0 ? 0 : rowsAt(grids, scores[low - 1]!);
  const tie = rowsAt(grids, score) - above;
  const share = (tieMargin * (want - above)) / tie;
  return {
    score,
    urlKey: share >= 1 ? everyKey : BigInt(Math.min(2 ** 32 - 1, Math.ceil(share * 2 ** 32))) << 32n,
  };
}

/** Rows that surely have this score or a greater one. */
function rowsAt(grids: readonly Grid[], score: number): number {
  return grids.reduce((sum, {ranks, scores}) => {
    let rank = 0;
    for (let at = 0; at < scores.length && scores[at]! >= score; at++) rank = ranks[at]!;
    return sum + rank;
  }, 0);
}
