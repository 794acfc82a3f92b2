import type {Config} from '../config/settings.ts';
import {after, type Bounds, clampInterval, givenInterval, type Next} from './schedule.ts';

/** When a URL is looked at again that did not answer as a page. Times are ms since the epoch, intervals seconds. */

/**
 * Gone pages are seen again, ever less often (Nutch: setPageGoneSchedule): `factor` times the interval while that
 * is below the longest one, then nine tenths of the longest. A fixed interval stays.
 */
export function goneSchedule(
  visit: {readonly fetchTime: number; readonly intervalS: number; readonly fixed: boolean},
  bounds: Bounds,
  factor: number,
): Next {
  const given = givenInterval(visit.intervalS, bounds);
  if (visit.fixed) return after(visit.fetchTime, given);
  const longer = given * factor;
  return after(visit.fetchTime, clampInterval(longer < bounds.maxS ? longer : 0.9 * bounds.maxS, bounds));
}

/** Wait after the `retries`th failure in a row that was charged to the URL: the first one, doubling, at most `maxS`. */
export function retryTime(fetchTime: number, retries: number, firstMs: number, maxS: number): number {
  const doublings = Math.min(Math.max(retries - 1, 0), 30);
  return fetchTime + Math.min(firstMs * 2 ** doublings, maxS * 1000);
}

/** Longest wait that a failure charged to the host puts on a URL, apart from the host's own rest. */
const maxHostWaitMs = 86_400_000;

export type HostWaits = Pick<Config['politeness'], 'backoff' | 'error_backoff'>;

/**
 * When a URL is due whose failure was charged to its host: when the host may be asked. A URL that alone gets such
 * answers from a host that is well otherwise must not come back in each round, so it waits at least the host's first
 * back-off, doubling with each such failure in a row, up to a day; the doubling is read off the last wait, and needs
 * no counter.
 */
export function hostRetryTime(facts: {
  readonly fetchTime: number;
  /** The host has too many requests or is unavailable: the longer back-off. */
  readonly overloaded: boolean;
  /** When the host may be asked next; null if that is not known. */
  readonly hostAllowed: number | null;
  /** Wait in ms that the last outcome led to, if it was charged to the host too. */
  readonly lastWait: number | null;
  readonly waits: HostWaits;
}): number {
  const first = facts.overloaded ? facts.waits.backoff : facts.waits.error_backoff;
  const wait = Math.min(Math.max(first, 2 * (facts.lastWait ?? 0)), Math.max(first, maxHostWaitMs));
  return Math.max(facts.fetchTime + wait, facts.hostAllowed ?? 0);
}
