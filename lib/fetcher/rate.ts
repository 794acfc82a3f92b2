/**
 * Limits of requests and of bytes a second, over all hosts or for one. Pure: time comes in.
 *
 * Each is a bucket that empties at the allowed rate and may hold a tenth of a second's worth, so that over any
 * ten seconds the limit is kept within a few percent.
 *
 * Bytes have two. What is on its way comes whether it is read or not: some 64 KB of each answer fit into the buffers of
 * its connection. So one paces the reading, and the other the requests, by what their answers are expected to bring,
 * put right when it is known. (Were requests held up by what is being read as well, both would go in waves.)
 */
export class RateLimit {
  readonly #requests: Bucket | null;
  readonly #bytes: Bucket | null;
  readonly #expected: Bucket | null;

  /** @param requests most requests a second; null without a limit @param bytes most payload bytes a second */
  constructor(requests: number | null, bytes: number | null) {
    this.#requests = requests === null ? null : new Bucket(requests);
    this.#bytes = bytes === null ? null : new Bucket(bytes);
    this.#expected = bytes === null ? null : new Bucket(bytes);
  }

  /** Earliest time of the next request by these limits; `now` or earlier: at once. */
  waitUntil(now: number): number {
    return Math.max(this.#requests?.freeAt ?? now, this.#expected?.freeAt ?? now);
  }

  /** @param bytes that the answer is expected to bring */
  sent(now: number, bytes: number): void {
    this.#requests?.add(1, now);
    this.#expected?.add(bytes, now);
  }

  /** An answer brings so many bytes more than was expected of it; negative: less. */
  expectMore(now: number, bytes: number): void {
    this.#expected?.add(bytes, now);
  }

  /** Payload bytes have come. @returns how long no more should be read, in ms; 0: go on */
  received(now: number, bytes: number): number {
    if (this.#bytes === null) return 0;
    this.#bytes.add(bytes, now);
    return Math.max(0, this.#bytes.freeAt - now);
  }

  /** There is a limit of bytes: payloads have to be read at its pace. */
  get pacesBytes(): boolean {
    return this.#bytes !== null;
  }
}

const burstMs = 100; // chosen: short beside the ten seconds over which the limit is judged

class Bucket {
  readonly #perMs: number;
  /** When all that was added has run out at the allowed rate. */
  #emptyAt = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number) {
    this.#perMs = perSecond / 1000;
  }

  get freeAt(): number {
    return this.#emptyAt - burstMs;
  }

  add(amount: number, now: number): void {
    this.#emptyAt = Math.max(this.#emptyAt, now) + amount / this.#perMs;
  }
}
