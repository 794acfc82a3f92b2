import {beliefAfter, bestInterval, type Choices, choicesBetween} from './belief.ts';
import {after, type Bounds, clampInterval, givenInterval, type Schedule} from './schedule.ts';
import {readHistory} from './visit-history.ts';

/**
 * Longest intervals for which what a visit tells is taken to be of use (chosen by simulation among 0.5 to 7: less gives
 * up pages too early, more spends visits on knowing what is not worth it).
 */
const horizonIntervals = 3;

/**
 * Intervals by how often a page may change, so that the visits which the crawl can afford give most freshness:
 * lib/schedule/freshness.ts says what a visit is worth at a known rate, lib/schedule/belief.ts which rates the past visits
 * leave, and what another visit would tell. `price` is what a visit must be worth, in seconds of freshness times weight.
 *
 * A page that isn't worth a visit has the longest interval, and so is never given up for good.
 */
export function changeRateSchedule(bounds: Bounds, price: number): Schedule {
  const choices = new Map<string, Choices>();
  const choicesOf = ({minS, maxS}: Bounds): Choices => {
    const key = `${minS} ${maxS}`;
    const found = choices.get(key) ?? choicesBetween(minS, maxS);
    choices.set(key, found);
    return found;
  };
  return {
    bounds,
    visited({fetchTime, intervalS, fixed, change, history, weight, bounds: limits = bounds}) {
      const given = givenInterval(intervalS, limits);
      if (fixed) return after(fetchTime, given);
      const past = readHistory(history);
      if (change === 'unknown' || past.length === 0) return after(fetchTime, clampInterval(given, limits));
      const horizonS = horizonIntervals * limits.maxS;
      const best = bestInterval(beliefAfter(past), price / weight, choicesOf(limits), horizonS);
      return after(fetchTime, clampInterval(best, limits));
    },
  };
}
