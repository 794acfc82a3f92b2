import {performance} from 'node:perf_hooks';
import {setTimeout as delay} from 'node:timers/promises';
import type {Effects, Log} from '../lib/effects.ts';

/** The real world; of the process what `given` does not say. */
export function realEffects(
  log: Log,
  signal: AbortSignal,
  {env = process.env, stdin}: Pick<Effects, 'env' | 'stdin'> = {},
): Effects {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, abort) => sleep(ms, abort === undefined ? signal : AbortSignal.any([signal, abort])),
    random: Math.random,
    log,
    signal,
    env,
    ...(stdin === undefined ? {} : {stdin}),
  };
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, {signal});
  } catch {
    throw signal.reason; // not the timer's own wrapping of it
  }
}
