import {CrawlError} from '../errors.ts';

/** Names of segments: 14 digits, UTC to the second, as Nutch's, but unique and rising by construction. */

const dayMs = 86_400_000;

/** Ids for `count` new segments: now, or the second after the highest there is. */
export function newSegmentIds(existing: readonly string[], now: number, count: number): readonly string[] {
  const highest = existing.toSorted().at(-1) ?? '';
  const first = Math.max(Math.floor(now / 1000) * 1000, highest === '' ? 0 : segmentTime(highest) + 1000);
  if (first > now + dayMs)
    throw new CrawlError('SEGMENT_STATE', `segment ${highest} is more than a day ahead of the clock`, {
      facts: {segment: highest},
      hint: 'Set the clock of this machine right.',
    });
  return Array.from({length: count}, (_, index) => segmentId(first + index * 1000));
}

export function segmentId(time: number): string {
  return new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
}

/** Milliseconds since the epoch. */
export function segmentTime(id: string): number {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
