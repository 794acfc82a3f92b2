import type {Capture} from '../schema/fetch.ts';

/** Chosen: a site has a few pages under two or three names; ten with one payload say nothing of their own. */
const leastRepeats = 10;

/** What is looked at. */
export const repeatColumns = ['kind', 'host_key', 'status', 'content_sha256', 'content_length'] as const;
type Seen = Pick<Capture, (typeof repeatColumns)[number]>;

/**
 * Payloads that a host sends for many URLs. Memory: some 150 bytes for each payload of a host, between `forgetSingles`;
 * after it for those that were seen twice.
 */
export class PayloadRepeats {
  readonly #counts = new Map<string, number>();

  count(row: Seen): void {
    const key = keyOf(row);
    if (key !== null) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  isRepeated(row: Seen): boolean {
    const key = keyOf(row);
    return key !== null && (this.#counts.get(key) ?? 0) >= leastRepeats;
  }

  /** Lets go what was seen once, so that memory does not grow with the length of a fetch. */
  forgetSingles(): void {
    for (const [key, count] of this.#counts) if (count === 1) this.#counts.delete(key);
  }
}

function keyOf({kind, host_key, status, content_sha256, content_length}: Seen): string | null {
  if ((kind !== 'page' && kind !== 'hop') || status !== 'success') return null;
  return content_sha256 === null || content_length === 0 ? null : `${host_key} ${content_sha256}`;
}
