import {after, type Bounds, clampInterval, givenInterval, type Schedule} from './schedule.ts';

export interface AdaptiveFactors {
  /** Factor of the interval after a visit that found a change; Nutch: 1 - 0.2. */
  readonly changed: number;
  /** Factor after a visit that found none; Nutch: 1 + 0.4. */
  readonly unchanged: number;
  /**
   * Nutch's sync_delta: share of the time since the last change by which the next visit is moved up, towards the
   * rhythm of the changes; Nutch: 0.3. Absent: off.
   */
  readonly syncDelta?: number;
}

/**
 * Shorter intervals for pages that change, longer ones for pages that don't (Nutch: AdaptiveFetchSchedule).
 * Where nothing was there to compare, the interval stays.
 *
 * With `syncDelta` an interval is at least as long as the time since the last change, and the due time is moved up
 * by a share of that time; unlike in Nutch the move leaves at least the shortest interval after the visit, so that
 * a page unchanged for long is never due in the past.
 */
export function adaptiveSchedule(bounds: Bounds, factors: AdaptiveFactors): Schedule {
  return {
    bounds,
    visited({fetchTime, intervalS, fixed, change, modifiedTime, bounds: limits = bounds}) {
      const given = givenInterval(intervalS, limits);
      if (fixed) return after(fetchTime, given);
      const factor = {modified: factors.changed, unmodified: factors.unchanged, unknown: 1}[change];
      if (factors.syncDelta === undefined || modifiedTime === null || change === 'modified')
        return after(fetchTime, clampInterval(given * factor, limits));
      const sinceChange = Math.max(0, (fetchTime - modifiedTime) / 1000);
      const interval = clampInterval(Math.max(given * factor, sinceChange), limits);
      const wait = Math.max(interval - factors.syncDelta * sinceChange, limits.minS);
      return {intervalS: interval, nextFetchTime: fetchTime + Math.round(wait * 1000)};
    },
  };
}
