import {changeRate} from './change-rate.ts';
import {age, freshness, intervalAt, type PageGroup, priceFor} from './freshness.ts';
import {nextPrice, type Price} from './price.ts';
import {after, type Bounds, clampInterval, type Schedule} from './schedule.ts';
import type {ChangingPage} from './synthetic-web.ts';
import {addVisit, readHistory} from './visit-history.ts';

export type {ChangingPage} from './synthetic-web.ts';

/**
 * A crawl in small, on a clock of its own: pages change, visits are as many as the budget allows, a schedule sets when
 * each is due. What it gives is what a reader of the stored copies would see.
 */
export interface Simulation {
  readonly pages: readonly ChangingPage[];
  readonly days: number;
  /** Measured from here to the end. */
  readonly fromDay: number;
  readonly roundsPerDay: number;
  readonly visitsPerDay: number;
  /**
   * Which of the due pages are visited first where the budget is short: those due for longest, or those that are late for the
   * most of their interval.
   */
  readonly order: 'due' | 'late';
}

export interface Simulated {
  /** Weighted mean share of pages whose copy is the present one. */
  readonly freshness: number;
  /** Weighted mean time for which copies have been out of date, seconds. */
  readonly ageS: number;
  readonly visits: number;
  /** Weighted share of each whole day, from the first one on. */
  readonly daily: readonly number[];
}

/** A schedule as the simulation asks it. `priced` ones are made anew for each day's price. */
export type Contender =
  | {readonly kind: 'schedule'; readonly schedule: Schedule}
  | {readonly kind: 'priced'; readonly bounds: Bounds; at(price: number): Schedule; readonly first: number}
  /** Knows the rates of the pages. */
  | {readonly kind: 'known'; readonly bounds: Bounds};

const dayS = 86_400;

interface State {
  readonly page: ChangingPage;
  last: number;
  due: number;
  intervalS: number;
  nextChange: number;
  /** Time of the last visit that found a change, ms; null before a first visit. */
  modified: number | null;
  history: Uint8Array | null;
  rate: number | null;
}

export function simulate(run: Simulation, contender: Contender): Simulated {
  const states = run.pages.map(
    (page): State => ({
      page,
      last: -1,
      due: 0,
      intervalS: 0,
      nextChange: 0,
      modified: null,
      history: null,
      rate: null,
    }),
  );
  const meter = new Meter(run);
  const budgetPerS = run.visitsPerDay / dayS;
  let price: Price | null = null;
  let schedule = scheduleAt(contender, null);
  let seen = 0;
  let credit = 0;
  const rounds = Math.round(run.days * run.roundsPerDay);
  for (let round = 0; round < rounds; round++) {
    const now = (round * dayS) / run.roundsPerDay;
    if (contender.kind === 'priced' && round % run.roundsPerDay === 0) {
      price = priceNow(states, contender.bounds, budgetPerS, price, meter.visits - seen, now) ?? price;
      seen = meter.visits;
      schedule = scheduleAt(contender, price);
    }
    credit = Math.min(credit + run.visitsPerDay / run.roundsPerDay, run.visitsPerDay);
    const due = dueAt(states, now, run.order);
    const known = contender.kind === 'known' && round === 0 ? knownPrice(run, contender.bounds) : null;
    if (known !== null) schedule = scheduleAt(contender, {price: known, boost: 1, time: 0, visits: 0});
    for (const state of due) {
      if (credit < 1) break;
      credit--;
      visit(state, now, meter, schedule);
    }
  }
  for (const state of states) meter.count(state, run.days * dayS);
  return meter.result(run.pages);
}

type Scheduler = (state: State, change: 'modified' | 'unmodified' | 'unknown', now: number) => void;

function scheduleAt(contender: Contender, price: Price | null): Scheduler {
  if (contender.kind === 'known') {
    const {bounds} = contender;
    return (state, _change, now) => {
      const {rate, weight} = state.page;
      const next = after(now, clampInterval(intervalAt(price?.price ?? 0, rate, weight), bounds));
      state.intervalS = next.intervalS;
      state.due = now + next.intervalS;
    };
  }
  const schedule =
    contender.kind === 'schedule' ? contender.schedule : contender.at(price?.price ?? contender.first);
  return (state, change, now) => {
    const {intervalS, nextFetchTime} = schedule.visited({
      fetchTime: now * 1000,
      intervalS: state.intervalS,
      fixed: false,
      change,
      modifiedTime: state.modified,
      history: state.history,
      weight: state.page.weight,
    });
    state.intervalS = intervalS;
    state.due = nextFetchTime / 1000;
  };
}

function visit(state: State, now: number, meter: Meter, schedule: Scheduler): void {
  const first = state.last < 0;
  const change = first ? 'unknown' : state.nextChange <= now ? 'modified' : 'unmodified';
  meter.count(state, now);
  meter.visits++;
  if (change !== 'unknown') {
    state.history = addVisit(state.history, {intervalS: now - state.last, changed: change === 'modified'});
    state.rate = null;
  }
  schedule(state, change, now);
  if (first || change === 'modified') state.modified = now * 1000;
  if (first || change === 'modified' || state.nextChange <= now)
    state.nextChange = state.page.nextChange(now);
  state.last = now;
}

function dueAt(states: readonly State[], now: number, order: Simulation['order']): State[] {
  const due = states.filter((state) => state.due <= now);
  const lateness = (state: State) =>
    state.last < 0 ? 1.5 : order === 'due' ? 0 : (now - state.last) / state.intervalS;
  return due
    .map((state) => ({state, late: lateness(state)}))
    .sort((a, b) => b.late - a.late || a.state.due - b.state.due)
    .map(({state}) => state);
}

function priceNow(
  states: readonly State[],
  {minS, maxS}: Bounds,
  budgetPerS: number,
  before: Price | null,
  visits: number,
  now: number,
): Price | null {
  const groups: PageGroup[] = [];
  let others = 0;
  for (const state of states) {
    if (state.last < 0) continue;
    state.rate ??= changeRate(readHistory(state.history));
    if (state.rate === null) others += 1 / state.intervalS;
    else groups.push({rate: state.rate, weight: state.page.weight, pages: 1, minS, maxS});
  }
  return nextPrice(groups, others, budgetPerS, before, visits, now * 1000);
}

function groupsOf(pages: readonly ChangingPage[], {minS, maxS}: Bounds): PageGroup[] {
  return pages.map(({rate, weight}) => ({rate, weight, pages: 1, minS, maxS}));
}

function knownPrice({pages, visitsPerDay}: Simulation, bounds: Bounds): number {
  return priceFor(groupsOf(pages, bounds), visitsPerDay / dayS);
}

/** Freshness and age that the best intervals for the known rates have in the long run, for Poisson changes. */
export function optimum(run: Simulation, bounds: Bounds): Pick<Simulated, 'freshness' | 'ageS'> {
  const price = knownPrice(run, bounds);
  let fresh = 0;
  let ageS = 0;
  let weights = 0;
  for (const {rate, weight} of run.pages) {
    const interval = clampInterval(intervalAt(price, rate, weight), bounds);
    fresh += weight * freshness(rate, interval);
    ageS += weight * age(rate, interval);
    weights += weight;
  }
  return {freshness: fresh / weights, ageS: ageS / weights};
}

/** Adds up how long copies were fresh, and how old the others were, in the time that is measured; and freshness by day. */
class Meter {
  readonly #from: number;
  readonly #length: number;
  readonly #days: Float64Array;
  #freshS = 0;
  #ageSS = 0;
  visits = 0;

  constructor({fromDay, days}: Simulation) {
    this.#from = fromDay * dayS;
    this.#length = (days - fromDay) * dayS;
    this.#days = new Float64Array(Math.floor(days));
  }

  /** From the last visit to `end`. Before a first visit a page has no copy, and is neither fresh nor old. */
  count({last, nextChange, page}: State, end: number): void {
    if (last < 0) return;
    const freshEnd = Math.min(nextChange, end);
    for (let day = Math.floor(last / dayS); day < this.#days.length && day * dayS < freshEnd; day++)
      this.#days[day]! += page.weight * (Math.min(freshEnd, (day + 1) * dayS) - Math.max(last, day * dayS));
    const begin = Math.max(last, this.#from);
    if (end <= begin) return;
    this.#freshS += page.weight * Math.max(0, freshEnd - begin);
    const stale = Math.max(nextChange, begin);
    if (stale < end) this.#ageSS += (page.weight * ((end - nextChange) ** 2 - (stale - nextChange) ** 2)) / 2;
  }

  result(pages: readonly ChangingPage[]): Simulated {
    const weight = pages.reduce((sum, page) => sum + page.weight, 0);
    return {
      freshness: this.#freshS / (weight * this.#length),
      ageS: this.#ageSS / (weight * this.#length),
      visits: this.visits,
      daily: Array.from(this.#days, (freshS) => freshS / (weight * dayS)),
    };
  }
}
