import type {Capture} from '../schema/fetch.ts';

/** Chosen: a site has a few pages under two or three names; ten with one payload say nothing of their own. */
const leastRepeats = 10;

/** What is looked at. */
export const repeatColumns = ['kind', 'host_key', 'status', 'content_sha256', 'content_length'] as const;
export type Seen = Pick<Capture, (typeof repeatColumns)[number]>;

/** Payloads that a host sends for many URLs. Memory: some 150 bytes for each payload of a host. */
export class PayloadRepeats {
  readonly #counts = new Map<string, number>();

  count(row: Seen): void {
    const key = keyOf(row);
    if (key !== null) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Is the row to be marked, and not yet marked? */
  marks(row: Seen & Pick<Capture, 'soft_404'>): boolean {
    if (row.soft_404 !== null) return false;
    const key = keyOf(row);
    return key !== null && (this.#counts.get(key) ?? 0) >= leastRepeats;
  }
}

const filterBits = 24;

/**
 * Which payloads may be repeated at all, in 16 MB however many there are: counts by the first bits of the digest. Of ten
 * million single payloads hardly one passes by chance; none that is repeated is left out.
 */
export class RepeatFilter {
  readonly #counts = new Uint8Array(2 ** filterBits);

  add(row: Seen): void {
    const place = placeOf(row);
    if (place !== null && this.#counts[place]! < leastRepeats) this.#counts[place]!++;
  }

  mayBeRepeated(row: Seen): boolean {
    const place = placeOf(row);
    return place !== null && this.#counts[place]! >= leastRepeats;
  }
}

function placeOf(row: Seen): number | null {
  return isPage(row) ? Number.parseInt(row.content_sha256!.slice(0, filterBits / 4), 16) : null;
}

function keyOf(row: Seen): string | null {
  return isPage(row) ? `${row.host_key} ${row.content_sha256}` : null;
}

/** A page with a payload of its own. */
function isPage({kind, status, content_sha256, content_length}: Seen): boolean {
  if ((kind !== 'page' && kind !== 'hop') || status !== 'success') return false;
  return content_sha256 !== null && content_length !== 0;
}
