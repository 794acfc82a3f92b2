import {adaptiveSchedule} from './adaptive.ts';
import {changeRateSchedule} from './by-change-rate.ts';
import {fixedSchedule} from './fixed.ts';
import {firstPrice} from './from-config.ts';
import type {Bounds} from './schedule.ts';
import {type ChangingPage, type Simulated, type Simulation, simulate} from './simulate.ts';

/** The schedules that a simulation compares, each in the order of visits that suits it. */
export const contenderNames = ['fixed', 'nutch', 'adaptive', 'change_rate', 'known'] as const;
export type ContenderName = (typeof contenderNames)[number];

export const contenderDocs: Readonly<Record<ContenderName, string>> = {
  fixed: 'the same interval for all, which takes just the budget',
  nutch: 'adaptive by Nutch: × 0.8 and × 1.4, sync_delta 0.3, a minute to a year',
  adaptive: 'adaptive with our factors: × 0.5 and × 2',
  change_rate: 'estimated rate of change, and the visits that there are',
  known: 'the same with the true rates instead of estimates',
};

const yearS = 31_536_000;

export function simulateContender(
  name: ContenderName,
  run: Omit<Simulation, 'order'>,
  bounds: Bounds,
): Simulated {
  // Nutch and fixed intervals starve pages in the other order; measured: 0.07 instead of 0.27 for Nutch
  const byDue: Simulation = {...run, order: 'due'};
  const byLateness: Simulation = {...run, order: 'late'};
  switch (name) {
    case 'fixed':
      return simulate(byDue, {kind: 'schedule', schedule: fixedSchedule(bounds)});
    case 'nutch': {
      const schedule = adaptiveSchedule(
        {firstS: bounds.firstS, minS: 60, maxS: yearS},
        {changed: 0.8, unchanged: 1.4, syncDelta: 0.3},
      );
      return simulate(byDue, {kind: 'schedule', schedule});
    }
    case 'adaptive':
      return simulate(byDue, {
        kind: 'schedule',
        schedule: adaptiveSchedule(bounds, {changed: 0.5, unchanged: 2}),
      });
    case 'change_rate':
      return simulate(byLateness, {
        kind: 'priced',
        bounds,
        at: (price) => changeRateSchedule(bounds, price),
        first: firstPrice(bounds),
      });
    case 'known':
      return simulate(byLateness, {kind: 'known', bounds});
  }
}

/** Bounds of a simulation: the first interval is the one that takes just the budget. */
export function simulationBounds(
  pages: readonly ChangingPage[],
  visitsPerDay: number,
  bounds: Bounds,
): Bounds {
  const even = Math.round((pages.length / visitsPerDay) * 86_400);
  return {...bounds, firstS: Math.min(Math.max(even, bounds.minS), bounds.maxS)};
}
