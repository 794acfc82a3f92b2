import type {Config} from '../config/settings.ts';
import {adaptiveSchedule} from './adaptive.ts';
import {fixedSchedule} from './fixed.ts';
import type {Bounds, Schedule} from './schedule.ts';

/** The schedule that the configuration asks for. Settings are milliseconds, schedules seconds. */
export function scheduleOf(config: Config['schedule']): Schedule {
  const seconds = (ms: number) => Math.max(1, Math.min(Math.round(ms / 1000), 2 ** 31 - 1));
  const bounds: Bounds = {
    firstS: seconds(config.interval),
    minS: seconds(config.min_interval),
    maxS: seconds(config.max_interval),
  };
  return config.kind === 'fixed'
    ? fixedSchedule(bounds)
    : adaptiveSchedule(bounds, {changed: config.changed, unchanged: config.unchanged});
}
