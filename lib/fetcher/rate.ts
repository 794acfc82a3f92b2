/**
 * Limits of requests and of bytes a second, over all hosts or for one. Pure: time comes in.
 *
 * Each is a bucket that empties at the allowed rate and may hold a tenth of a second's worth, so that over any
 * ten seconds the limit is kept within a few percent.
 */
export class RateLimit {
  readonly #requests: Bucket | null;
  readonly #bytes: Bucket | null;

  /** @param requests most requests a second; null without a limit @param bytes most payload bytes a second */
  constructor(requests: number | null, bytes: number | null) {
    this.#requests = requests === null ? null : new Bucket(requests);
    this.#bytes = bytes === null ? null : new Bucket(bytes);
  }

  /** Earliest time of the next request by these limits; `now` or earlier: at once. */
  waitUntil(now: number): number {
    return Math.max(this.#requests?.freeAt ?? now, this.#bytes?.freeAt ?? now);
  }

  sent(now: number): void {
    this.#requests?.add(1, now);
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
