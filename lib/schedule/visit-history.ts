/**
 * What past visits to a page found, a byte each, oldest first: whether it had changed, and how long it had been since
 * the visit before. 32 visits at most (chosen: a page that begins to change is noticed within some of them, and the
 * estimate of a steady one varies by a fifth), so a row of the crawldb grows by 32 bytes and no more.
 *
 * The high bit is the change. The low seven are the interval, 60 s × 2^(code / 6): a minute to 4.5 years, in steps of
 * 12 %, which is less than what one visit tells.
 */
export interface PastVisit {
  readonly intervalS: number;
  readonly changed: boolean;
}

export const maxPastVisits = 32;
const shortestS = 60;
const stepsPerDoubling = 6;
const changedBit = 0x80;

export function readHistory(bytes: Uint8Array | null): readonly PastVisit[] {
  if (bytes === null) return [];
  return Array.from(bytes, (byte) => ({
    intervalS: shortestS * 2 ** ((byte & 0x7f) / stepsPerDoubling),
    changed: (byte & changedBit) !== 0,
  }));
}

/**
 * The history with one more visit. An interval that is no positive number, as after a clock that was set back, tells
 * nothing, and the history stays.
 */
export function addVisit(bytes: Uint8Array | null, {intervalS, changed}: PastVisit): Uint8Array | null {
  if (!(intervalS > 0) || !Number.isFinite(intervalS)) return bytes;
  const code = Math.round(stepsPerDoubling * Math.log2(intervalS / shortestS));
  const byte = Math.min(Math.max(code, 0), 0x7f) | (changed ? changedBit : 0);
  const kept = bytes === null ? [] : bytes.subarray(Math.max(0, bytes.length - maxPastVisits + 1));
  return Uint8Array.of(...kept, byte);
}
