import {parseHttpDate} from './http-date.ts';

/** Longest wait that is believed, in ms: a year. It keeps sums exact; callers have smaller caps of their own. */
const longestMs = 365 * 86_400_000;

/**
 * How long a Retry-After header asks to wait, in ms; null where the value is not valid, so that the
 * caller's own back-off holds. Digits are seconds; an HTTP date in the past is 0.
 *
 * @param now ms since the epoch
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfter(value: string, now: number): number | null {
  const text = value.trim();
  if (/^\d{1,100}$/.test(text)) return Math.min(Number(text) * 1000, longestMs);
  const date = parseHttpDate(text);
  return date === null ? null : Math.min(Math.max(0, date - now), longestMs);
}
