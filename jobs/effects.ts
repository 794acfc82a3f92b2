import {setMaxListeners} from 'node:events';
import {performance} from 'node:perf_hooks';
import type {Effects, Log} from '../lib/effects.ts';

/** The real world; of the process what `given` does not say. */
export function realEffects(
  log: Log,
  signal: AbortSignal,
  {env = process.env, stdin}: Pick<Effects, 'env' | 'stdin'> = {},
): Effects {
  setMaxListeners(0, signal); // each sleep is one
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms, abort) => sleep(ms, abort === undefined ? [signal] : [signal, abort]),
    random: Math.random,
    log,
    signal,
    env,
    ...(stdin === undefined ? {} : {stdin}),
  };
}

/** Without AbortSignal.any: each use of it leaves something behind with a signal that lives as long as the process. */
function sleep(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', aborted);
      settle();
    };
    const aborted = () => end(() => reject(signals.find((signal) => signal.aborted)?.reason));
    const timer = setTimeout(() => end(resolve), ms);
    for (const signal of signals) signal.addEventListener('abort', aborted);
    if (signals.some((signal) => signal.aborted)) aborted();
  });
}
