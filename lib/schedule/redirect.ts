import {after, type Bounds, clampInterval, givenInterval, type Next} from './schedule.ts';

/**
 * When a redirect is looked at again. One that says it is permanent, and leads where it led before, is so ever less
 * often, like a page that doesn't change; any other keeps its interval. A fixed interval stays.
 */
export function redirectSchedule(
  visit: {readonly fetchTime: number; readonly intervalS: number; readonly fixed: boolean},
  {permanent, sameTarget}: {readonly permanent: boolean; readonly sameTarget: boolean},
  bounds: Bounds,
  factor: number,
): Next {
  const given = givenInterval(visit.intervalS, bounds);
  if (visit.fixed) return after(visit.fetchTime, given);
  return after(visit.fetchTime, clampInterval(permanent && sameTarget ? given * factor : given, bounds));
}
