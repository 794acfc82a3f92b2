/**
 * The world as jobs see it. Time, chance, sleep and log come in through this interface, so that a
 * test passes days within a second. The real ones are in jobs/effects.ts.
 */
export interface Effects {
  /** Milliseconds since the epoch, UTC. For what is stored. */
  now(): number;
  /** Milliseconds on a clock that never jumps. For delays and durations. */
  monotonic(): number;
  /** Resolves after `ms`, or rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
  readonly log: Log;
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Variables of the environment, for secrets that the configuration refers to; none if absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input, for commands that take it as `-`; empty if absent. */
  readonly stdin?: NodeJS.ReadableStream;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** `event` is a fixed snake_case word; the facts are fields with units in their names. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** A point in a job's work, for progress on a terminal. */
export interface Progress {
  readonly done: number;
  readonly total?: number;
  /** What is counted: `pages`, `rows`. */
  readonly unit: string;
  /** Expected time to the end, where the work knows better than its rate so far. */
  readonly leftMs?: number;
  /** Further figures for the line, in order. */
  readonly facts?: Readonly<Record<string, string | number>>;
}
