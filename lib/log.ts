import {pino} from 'pino';
import type {Log, LogLevel} from './effects.ts';

/** Where lines go: one call a line, the line break included. */
export type WriteLine = (line: string) => void;

const order: Readonly<Record<LogLevel, number>> = {debug: 0, info: 1, warn: 2, error: 3};

/** A log for people: `warn  lock_taken_over  resource=crawldb pid=4711`. Lines below `least` are left out. */
export function textLog(write: WriteLine, least: LogLevel): Log {
  return (level, event, fields = {}) => {
    if (order[level] < order[least]) return;
    const facts = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${fieldText(value)}`);
    write(`${level}: ${[event, ...facts].join(' ')}\n`);
  };
}

/** A log for programs: JSON lines with `time`, `level`, `event` and the fields, written by pino. */
export function jsonLog(write: WriteLine, least: LogLevel, now: () => number): Log {
  const logger = pino(
    {
      level: least,
      base: null,
      messageKey: 'event',
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: {level: (label) => ({level: label})},
    },
    {write},
  );
  return (level, event, fields = {}) => logger[level](fields, event);
}

/** Quotes what holds blanks, so that a line can be taken apart again; control characters come out as JSON escapes. */
function fieldText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Error) return JSON.stringify(value.message);
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return /^[!#-<>-~]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? String(value);
}
