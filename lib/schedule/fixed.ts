import {after, type Bounds, clampInterval, givenInterval, type Schedule} from './schedule.ts';

/** The same interval after each visit (Nutch: DefaultFetchSchedule). An interval fixed by hand is taken as it is. */
export function fixedSchedule(bounds: Bounds): Schedule {
  return {
    bounds,
    visited({fetchTime, intervalS, fixed, bounds: limits = bounds}) {
      const given = givenInterval(intervalS, limits);
      return after(fetchTime, fixed ? given : clampInterval(given, limits));
    },
  };
}
