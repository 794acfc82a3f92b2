import {changeRate} from './change-rate.ts';
import {intervalAt} from './freshness.ts';
import {after, type Bounds, clampInterval, givenInterval, type Schedule, type Visit} from './schedule.ts';
import {type PastVisit, readHistory} from './visit-history.ts';

/** Factor between two intervals while the rate is searched for (chosen by simulation among 2, 3, 4 and 5). */
const searchFactor = 3;
/** Most steps of the search: from 30 days to an hour, or from 1 to 90 days. */
const searchSteps = 6;
/** Visits at a telling distance after which an estimate is taken as it is. */
const tellingVisits = 3;
/** A distance is telling where between a fifth of a change and five are expected in it. */
const telling = {least: 0.2, most: 5} as const;
/** Changes expected between two visits when a visit tells most about the rate: the variance is least at 1.59. */
const mostTelling = 1.59;
/** Visits after which the search for the rate ends, whatever it has found. */
const learningVisits = 30;

/**
 * Intervals by the estimated rate of changes, so that the visits which the crawl can afford give most freshness: see
 * lib/schedule/freshness.ts. `price` says what a visit must be worth, in seconds of freshness times weight.
 *
 * A page is first searched for its rate: until it has been found both changed and unchanged, the interval is divided
 * or multiplied by three; then, until enough visits were at a telling distance, it is no longer than what tells most. A
 * page that isn't worth a visit has the longest interval, and so is never given up for good.
 */
export function changeRateSchedule(bounds: Bounds, price: number): Schedule {
  return {
    bounds,
    visited(visit) {
      const limits = visit.bounds ?? bounds;
      const given = givenInterval(visit.intervalS, limits);
      if (visit.fixed) return after(visit.fetchTime, given);
      const past = readHistory(visit.history);
      const rate = visit.change === 'unknown' ? null : changeRate(past);
      if (rate === null) return after(visit.fetchTime, clampInterval(given, limits));
      return after(visit.fetchTime, clampInterval(intervalOf(past, rate, visit, price), limits));
    },
  };
}

function intervalOf(past: readonly PastVisit[], rate: number, {weight}: Visit, price: number): number {
  const last = past.at(-1)!; // a rate has visits
  const searching = past.length < searchSteps && past.every(({changed}) => changed === last.changed);
  if (searching) return last.changed ? last.intervalS / searchFactor : last.intervalS * searchFactor;
  const best = intervalAt(price, rate, weight);
  if (past.length >= learningVisits) return best;
  let told = 0;
  for (const {intervalS} of past) {
    const expected = rate * intervalS;
    if (expected >= telling.least && expected <= telling.most) told++;
  }
  return told < tellingVisits ? Math.min(best, mostTelling / rate) : best;
}
