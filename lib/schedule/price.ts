import {type PageGroup, priceFor} from './freshness.ts';

/** The price of a visit as it was last computed, and what it rests on; kept with the crawl. */
export interface Price {
  /** Seconds of freshness times weight that a visit must be worth. */
  readonly price: number;
  /** Visits planned for each visit that there is: estimates are too low or too high, and not all that is due is fetched. */
  readonly boost: number;
  /** When, ms since the epoch. */
  readonly time: number;
  /** Made since then. */
  readonly visits: number;
}

/** Visits planned, as a share of the budget, that the boost steers to: below 1, so that a queue does not build up. */
const wantedUse = 0.99;
/** Bounds of the boost, against a crawl that stood still for a while. */
const leastBoost = 0.7;
const mostBoost = 2;
/** The price is computed anew after so long (chosen: rates are estimated over weeks). */
export const priceAgeMs = 86_400_000;

/**
 * The price for the present estimates.
 *
 * @param groups pages whose rate is estimated
 * @param otherPerS visits a second of pages that go by an interval of their own
 * @param budgetPerS visits a second that there are
 * @param before null the first time
 * @param visits since those that `before` has
 */
export function nextPrice(
  groups: readonly PageGroup[],
  otherPerS: number,
  budgetPerS: number,
  before: Price | null,
  visits: number,
  time: number,
): Price | null {
  if (groups.length === 0) return null;
  const boost = before === null ? 1 : boosted(before, before.visits + visits, budgetPerS, time);
  // Something is left for these pages however much the others take
  const left = Math.max(budgetPerS * boost - otherPerS, 0.1 * budgetPerS);
  return {price: priceFor(groups, left), boost, time, visits: 0};
}

function boosted({boost, time}: Price, visits: number, budgetPerS: number, now: number): number {
  const possible = ((now - time) / 1000) * budgetPerS;
  if (!(possible > 0)) return boost;
  const use = Math.max(visits / possible, 0.3);
  return Math.min(Math.max(boost * (wantedUse / use) ** 0.3, leastBoost), mostBoost);
}

export function isStale(price: Price | null, now: number): boolean {
  return price === null || now - price.time >= priceAgeMs || now < price.time;
}
