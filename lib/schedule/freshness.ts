/**
 * What a visit is worth. A page that changes `rate` times a second and is visited every I seconds is fresh, its
 * stored copy being the present one, for the share (1 - e^-x) / x of the time, x = rate I. The gain of freshness by a
 * little more visiting is (1 - (1 + x) e^-x) / rate, so the sum over pages of weight × freshness is greatest, for a
 * number of visits in all, where that gain times the weight is the same for each page: the price of a visit. A page whose
 * weight / rate is below the price isn't worth any: it has changed again before the visit is of use.
 *
 * @see Cho and Garcia-Molina, Effective page refresh policies for web crawlers, ACM TODS 28(4), 2003, section 4
 */

/** Share of the time in which the copy is the present one. */
export function freshness(rate: number, intervalS: number): number {
  const x = rate * intervalS;
  return x < 1e-9 ? 1 : -Math.expm1(-x) / x;
}

/** Mean time in seconds for which the copy, at any moment, has been out of date; 0 for a fresh one. */
export function age(rate: number, intervalS: number): number {
  const x = rate * intervalS;
  // 1/2 - 1/x + (1 - e^-x)/x^2, whose terms cancel for small x
  return x < 1e-3 ? intervalS * (x / 6 - (x * x) / 24) : intervalS * (0.5 - 1 / x - Math.expm1(-x) / (x * x));
}

/** 1 - (1 + x) e^-x, from 0 to 1. */
function gain(x: number): number {
  return x < 1e-4 ? (x * x) / 2 - (x * x * x) / 3 : 1 - (1 + x) * Math.exp(-x);
}

/** Interval at which a further visit is worth just its price; Infinity where none is worth it. */
export function intervalAt(price: number, rate: number, weight: number): number {
  if (!(rate > 0)) return Number.POSITIVE_INFINITY;
  const wanted = (price * rate) / weight;
  if (!(wanted < 1)) return Number.POSITIVE_INFINITY;
  // The gain rises with x; below 60 it is 1 within the precision of a double.
  let low = 0;
  let high = 60;
  for (let step = 0; step < 60 && high - low > 1e-12 * high; step++) {
    const middle = (low + high) / 2;
    if (gain(middle) < wanted) low = middle;
    else high = middle;
  }
  return high / rate;
}

/** Pages that are alike. */
export interface PageGroup {
  readonly rate: number;
  readonly weight: number;
  readonly pages: number;
  /** Shortest and longest interval allowed. */
  readonly minS: number;
  readonly maxS: number;
}

export function visitsPerSecond(groups: readonly PageGroup[], price: number): number {
  let sum = 0;
  for (const {rate, weight, pages, minS, maxS} of groups)
    sum += pages / Math.min(Math.max(intervalAt(price, rate, weight), minS), maxS);
  return sum;
}

/**
 * The price at which these pages take just the visits that there are. 0 where there are enough for all that their
 * shortest intervals allow; where even the longest intervals take more, the price at which all have those.
 */
export function priceFor(groups: readonly PageGroup[], visitsPerSecondAllowed: number): number {
  if (groups.length === 0 || visitsPerSecond(groups, 0) <= visitsPerSecondAllowed) return 0;
  let low = 1e-9; // seconds of freshness a visit: a nanosecond, and
  let high = 1e12; // thirty thousand years
  for (let step = 0; step < 100 && high / low > 1 + 1e-9; step++) {
    const middle = Math.sqrt(low * high);
    if (visitsPerSecond(groups, middle) > visitsPerSecondAllowed) low = middle;
    else high = middle;
  }
  return high;
}
