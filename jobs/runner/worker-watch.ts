import {CrawlError} from '../../lib/errors.ts';

/**
 * What a worker thread works on, in memory that it shares with the executor: the piece (a page, an extractor and a
 * page) and the longest time that it may take. A message for each page would wake the executor's thread as often, and
 * cost both of them more than the smallest pages do; so the thread writes, and the executor looks from time to time.
 */

/** Bytes of a piece's name. Chosen: the longest are paths of extractors. */
const keyBytes = 16_384;
// Places of the numbers, as 32-bit words. Change: raised before and after a piece is written, so that two of one name
// differ, and odd while it is half written.
const [changeAt, limitAt, lengthAt, headWords] = [0, 1, 2, 3];
/** Stands for the length of the key while there is no piece, and for the limit where there is none. */
const none = -1;
/** The longest limit that a 32-bit word holds: 24 days, in which a piece is as good as without one. */
const longestMs = 2 ** 31 - 1;

/** A piece of work that is in hand. */
export interface WatchedPiece {
  readonly key: string;
  /** Longest time, ms; undefined: without end. */
  readonly limitMs: number | undefined;
}

/** The thread's side of the memory, and the executor's. */
export class WorkWatch {
  readonly memory: SharedArrayBuffer;
  readonly #head: Int32Array;
  readonly #key: Buffer;

  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(headWords * 4 + keyBytes);
    this.#head = new Int32Array(this.memory, 0, headWords);
    this.#key = Buffer.from(this.memory, headWords * 4);
    if (memory === undefined) this.set(null);
  }

  /** The thread now works on this; null: on nothing that it could be replaced for. */
  set(key: string | null, limitMs?: number): void {
    if (key !== null && Buffer.byteLength(key) > keyBytes)
      throw new CrawlError('INTERNAL', `too long a name of work: ${key}`);
    Atomics.add(this.#head, changeAt, 1);
    const length = key === null ? none : this.#key.write(key);
    Atomics.store(this.#head, limitAt, limitMs === undefined ? none : Math.min(limitMs, longestMs));
    Atomics.store(this.#head, lengthAt, length);
    Atomics.add(this.#head, changeAt, 1);
  }

  /** Differs from its former value when another piece has been begun. */
  get change(): number {
    return Atomics.load(this.#head, changeAt);
  }

  /** What the thread works on; for certain only while `change` stays the same. Null, too, while that is being written. */
  get piece(): WatchedPiece | null {
    if (this.change % 2 !== 0) return null;
    const length = Atomics.load(this.#head, lengthAt);
    const limit = Atomics.load(this.#head, limitAt);
    if (length === none) return null;
    return {
      key: this.#key.toString('utf8', 0, length),
      limitMs: limit === none ? undefined : limit,
    };
  }
}

/** Time between two looks, ms. Chosen: a hundredth of a page's usual time limit, and nothing for a processor. */
export const lookMs = 100;

/**
 * Looks from time to time whether a piece takes longer than it may, and then calls `late`, once. Counts looks instead
 * of reading a clock: time in which the whole process stood still, or had no processor, is not the page's.
 *
 * @returns ends the looking
 */
export function lookAfter(
  watch: WorkWatch,
  late: (piece: WatchedPiece & {limitMs: number}) => void,
): () => void {
  let change = watch.change;
  let looks = 0;
  const timer = setInterval(() => {
    const now = watch.change;
    if (now !== change) {
      change = now;
      looks = 0;
      return;
    }
    looks++;
    const {key, limitMs} = watch.piece ?? {};
    if (key === undefined || limitMs === undefined || looks * lookMs < limitMs || watch.change !== now)
      return;
    clearInterval(timer);
    late({key, limitMs});
  }, lookMs);
  return () => clearInterval(timer);
}
