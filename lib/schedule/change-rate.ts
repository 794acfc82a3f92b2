import type {PastVisit} from './visit-history.ts';

/**
 * How often a page changes, in changes a second, estimated from visits that tell only whether it has changed since the
 * visit before. Counting changes is biased: of several between two visits one is seen.
 *
 * Both estimators take changes as a Poisson process.
 * @see Cho and Garcia-Molina, Estimating frequency of change, ACM TOIT 3(3), 2003
 */

/** Visits at equal distance: -ln((n - X + 0.5) / (n + 0.5)) a distance, X of n visits having found a change (section 4.2). */
export function regularChangeRate(visits: number, changes: number, intervalS: number): number {
  return -Math.log((visits - changes + 0.5) / (visits + 0.5)) / intervalS;
}

/**
 * Share of a change that is taken to have happened in all the time without one: the likelihood of a page that was
 * never seen to change has its top at 0, and would end all visits (chosen by simulation among 0.12, 0.25 and 0.5).
 */
const unseenChange = 0.12;

/** Rates looked at: one change in 300 years, and ten a second. */
const least = 1e-10;
const greatest = 10;

/**
 * Visits at any distance: the rate of greatest likelihood, where the sum of t / (e^(rate t) - 1) over intervals t with a
 * change equals the sum of the intervals without one (section 5). As in the regular estimator half an interval without
 * change is added, the shortest of those with one: else a page that had changed at each visit would change infinitely
 * often. For equal distances this is the regular estimator exactly.
 *
 * @returns null where there is nothing to go by
 */
export function changeRate(visits: readonly PastVisit[]): number | null {
  let unchangedS = 0;
  let shortest = Number.POSITIVE_INFINITY;
  const changed: number[] = [];
  for (const visit of visits)
    if (visit.changed) {
      changed.push(visit.intervalS);
      shortest = Math.min(shortest, visit.intervalS);
    } else unchangedS += visit.intervalS;
  if (changed.length === 0) return unchangedS > 0 ? unseenChange / unchangedS : null;
  const without = unchangedS + 0.5 * shortest;
  let low = Math.log(least);
  let high = Math.log(greatest);
  // 30 halvings of 25: a part in 10^7
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    const rate = Math.exp(middle);
    let sum = 0;
    for (const interval of changed) sum += interval / Math.expm1(rate * interval);
    if (sum > without) low = middle;
    else high = middle;
  }
  return Math.exp((low + high) / 2);
}
