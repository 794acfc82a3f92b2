import {CrawlError} from '../errors.ts';

/** Hours of the day in which requests may be sent. */
export interface Hours {
  /** Minutes after midnight, UTC. `from` after `to`: over midnight. */
  readonly from: number;
  readonly to: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

/** The setting fetch.hours. @throws CrawlError CONFIG_INVALID for a text that is not `HH:MM-HH:MM` */
export function parseHours(text: string | undefined): Hours | null {
  if (text === undefined) return null;
  const hours = hoursOf(text);
  if (hours !== null) return hours;
  throw new CrawlError('CONFIG_INVALID', `fetch.hours: ${text} is not ${hoursForm}`, {
    facts: {key: 'fetch.hours', value: text},
  });
}

/** How hours are written, for messages. */
export const hoursForm = 'HH:MM-HH:MM, as 22:00-06:00';

/** Null: not hours, or none at all. */
export function hoursOf(text: string): Hours | null {
  const match = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]|24):([0-5]\d)$/.exec(text.trim());
  const [, fromHour, fromMinute, toHour, toMinute] = (match ?? []).map(Number);
  const from = fromHour! * 60 + fromMinute!;
  const to = toHour! * 60 + toMinute!;
  return !match || to > 1440 || from === to ? null : {from, to};
}

/** `now` if requests may be sent then, else when they may be sent next. @param now ms since the epoch */
export function openFrom(hours: Hours | null, now: number): number {
  if (hours === null) return now;
  const midnight = Math.floor(now / dayMs) * dayMs;
  const minute = (now - midnight) / minuteMs;
  const {from, to} = hours;
  const open = from < to ? minute >= from && minute < to : minute >= from || minute < to;
  if (open) return now;
  return midnight + from * minuteMs + (minute < from ? 0 : dayMs);
}
