import {after, type Bounds, clampInterval, type Next, type Visit} from './schedule.ts';

/**
 * A page that repeated another one, and has not changed since: its copy is kept under the other URL, so it is looked
 * at ever less often, by `factor`. A fixed interval stays.
 */
export function duplicateSchedule(
  visit: Pick<Visit, 'fetchTime' | 'fixed'>,
  intervalS: number,
  bounds: Bounds,
  factor: number,
): Next {
  if (visit.fixed) return after(visit.fetchTime, intervalS);
  return after(visit.fetchTime, clampInterval(intervalS * factor, bounds));
}
