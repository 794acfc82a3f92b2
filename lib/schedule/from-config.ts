import type {Config} from '../config/settings.ts';
import {adaptiveSchedule} from './adaptive.ts';
import {changeRateSchedule} from './by-change-rate.ts';
import {fixedSchedule} from './fixed.ts';
import type {Bounds, Schedule} from './schedule.ts';

/** The bounds that hold where no rule says otherwise. Settings are milliseconds, schedules seconds. */
export function boundsOf(
  config: Pick<Config['schedule'], 'interval' | 'min_interval' | 'max_interval'>,
): Bounds {
  const seconds = (ms: number) => Math.max(1, Math.min(Math.round(ms / 1000), 2 ** 31 - 1));
  return {
    firstS: seconds(config.interval),
    minS: seconds(config.min_interval),
    maxS: seconds(config.max_interval),
  };
}

/**
 * The schedule that the configuration asks for.
 *
 * @param price what a visit must be worth, for schedule.kind change_rate; null before the first one was computed
 */
export function scheduleOf(config: Config['schedule'], price: number | null = null): Schedule {
  const bounds = boundsOf(config);
  switch (config.kind) {
    case 'fixed':
      return fixedSchedule(bounds);
    case 'adaptive':
      return adaptiveSchedule(bounds, {
        changed: config.changed,
        unchanged: config.unchanged,
        ...(config.sync_delta > 0 && {syncDelta: config.sync_delta}),
      });
    case 'change_rate':
      return changeRateSchedule(bounds, price ?? firstPrice(bounds));
  }
}

/** Before anything is known: a tenth of the first interval, which is about the price where visits are one an interval. */
export function firstPrice({firstS}: Bounds): number {
  return 0.1 * firstS;
}
