import {freshness} from './freshness.ts';
import type {PastVisit} from './visit-history.ts';

/**
 * What past visits say about how often a page changes: how likely each of some rates is, as a sum of 1. One estimate can't
 * say how sure it is; this can, and so a page of which little is known is asked again before it is given up.
 *
 * Before any visit all orders of magnitude are as likely. A start learned from the crawl's own pages was measured and is
 * no better: decision 0182.
 */
export type Belief = Float64Array;

const dayS = 86_400;
/** Rates looked at, changes a second: from one in 900 days to ten an hour, in steps of 70 %. */
const rates = steps(1 / (900 * dayS), 240 / dayS, 24);

function steps(least: number, most: number, count: number): Float64Array {
  return Float64Array.from({length: count}, (_, at) => least * (most / least) ** (at / (count - 1)));
}

/** How likely each rate is after these visits, of changes that come as a Poisson process. */
export function beliefAfter(visits: readonly PastVisit[]): Belief {
  const logs = new Float64Array(rates.length);
  for (const {intervalS, changed} of visits)
    for (let at = 0; at < rates.length; at++) {
      const expected = rates[at]! * intervalS;
      logs[at]! += changed ? Math.log(-Math.expm1(-expected)) : -expected;
    }
  const top = logs.reduce((most, log) => Math.max(most, log), Number.NEGATIVE_INFINITY);
  const likely = logs.map((log) => Math.exp(log - top));
  const sum = likely.reduce((total, one) => total + one, 0);
  return likely.map((one) => one / sum);
}

/** Intervals that a choice looks at, and what each means at each rate. Made once for the bounds of a schedule. */
export interface Choices {
  readonly intervals: Float64Array;
  /** Mean freshness, a row of all rates for each interval. */
  readonly fresh: Float64Array;
  /** Chance that the page has not changed when it is visited again, the same way. */
  readonly same: Float64Array;
}

export function choicesBetween(minS: number, maxS: number): Choices {
  const intervals = minS < maxS ? steps(minS, maxS, 30) : Float64Array.of(minS);
  const table = (of: (rate: number, interval: number) => number) =>
    Float64Array.from({length: intervals.length * rates.length}, (_, at) =>
      of(rates[at % rates.length]!, intervals[Math.floor(at / rates.length)]!),
    );
  return {intervals, fresh: table(freshness), same: table((rate, interval) => Math.exp(-rate * interval))};
}

/**
 * The interval that gains most, looking ahead by one visit: the freshness until then, less the price of the visit, and what
 * is gained for `horizonS` seconds by knowing whether the page had changed, each of both answers leading to the interval
 * that is best by then (a knowledge gradient).
 *
 * Cost: intervals² × rates multiplications, some 130 µs; plain loops over flat tables, as arrays of arrays took four times
 * that, and updatedb asks for each page it takes in.
 *
 * @param cost price of a visit over the weight of the page, seconds of freshness
 * @see Frazier, Powell and Dayanik, A knowledge-gradient policy for sequential information collection, SIAM J. Control
 *   Optim. 47(5), 2008
 */
export function bestInterval(
  belief: Belief,
  cost: number,
  {intervals, fresh, same}: Choices,
  horizonS: number,
): number {
  const known = intervals.map((_, at) => product(belief, fresh, at));
  const unchanged = new Float64Array(rates.length);
  let best = intervals[0]!;
  let most = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < intervals.length; at++) {
    let chance = 0;
    for (let rate = 0; rate < rates.length; rate++) {
      const likely = belief[rate]! * same[at * rates.length + rate]!;
      unchanged[rate] = likely;
      chance += likely;
    }
    // Best gain a second after either answer, times the chance of that answer
    let ifSame = Number.NEGATIVE_INFINITY;
    let ifChanged = Number.NEGATIVE_INFINITY;
    for (let next = 0; next < intervals.length; next++) {
      const part = product(unchanged, fresh, next);
      const paid = cost / intervals[next]!;
      ifSame = Math.max(ifSame, part - chance * paid);
      ifChanged = Math.max(ifChanged, known[next]! - part - (1 - chance) * paid);
    }
    const interval = intervals[at]!;
    const gain = interval * known[at]! - cost + (horizonS - interval) * (ifSame + ifChanged);
    if (gain > most) {
      most = gain;
      best = interval;
    }
  }
  return best;
}

/** The mean over a row of a table, each rate as likely as the belief says. */
function product(belief: Belief, table: Float64Array, row: number): number {
  const from = row * belief.length;
  let sum = 0;
  for (let at = 0; at < belief.length; at++) sum += belief[at]! * table[from + at]!;
  return sum;
}
