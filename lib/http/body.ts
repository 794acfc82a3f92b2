import {type Digests, digest, StreamingDigests} from './digests.ts';

/** Payloads up to this many bytes are digested at their end, in one go (about 0.1 ms). */
const streamFromBytes = 256 * 1024;

/** Gathers a payload up to a limit; what is beyond it is dropped, and known to have been there. */
export class BodyCollector {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #streaming: StreamingDigests | undefined;

  /** @param limit most bytes that are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes kept so far. */
  get size(): number {
    return this.#size;
  }

  /** False: the limit was passed; the rest is not wanted. A payload of exactly the limit is whole. */
  push(chunk: Uint8Array): boolean {
    const room = this.#limit - this.#size;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    if (kept.length > 0) {
      this.#chunks.push(kept);
      this.#size += kept.length;
      this.#digestEarly(kept);
    }
    return chunk.length <= room;
  }

  #digestEarly(chunk: Uint8Array): void {
    if (this.#streaming !== undefined) {
      this.#streaming.update(chunk);
    } else if (this.#size > streamFromBytes) {
      this.#streaming = new StreamingDigests();
      for (const earlier of this.#chunks) this.#streaming.update(earlier);
    }
  }

  finish(): Digests & {readonly body: Uint8Array} {
    const only = this.#chunks.length === 1 ? this.#chunks[0] : undefined;
    const body = only ?? Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [];
    return {body, ...(this.#streaming?.finish() ?? digest(body))};
  }
}
