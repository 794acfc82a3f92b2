import {type SharedLimits, sharedLimits} from '../../lib/fetcher/shared.ts';
import type {TaskContext} from '../job.ts';
import type {FetchParams} from './task.ts';

/** Limits by run, until all its tasks have ended. */
const held = new Map<string, {readonly limits: SharedLimits; begun: number; running: number}>();

/**
 * Runs a task of a fetch under the limits that all tasks of the run in this process hold together: requests at once
 * in all, at an address and in a domain, requests and bytes a second, and delays of hosts that several come to, also
 * one after the other. Tasks in other processes have their own.
 */
export async function withSharedLimits<T>(
  {config, maxActive, partitions}: Pick<FetchParams, 'config' | 'maxActive' | 'partitions'>,
  {run, signal}: Pick<TaskContext, 'run' | 'signal'>,
  work: (limits: SharedLimits) => Promise<T>,
): Promise<T> {
  let here = held.get(run);
  if (!here) {
    here = {limits: sharedLimits(config, maxActive), begun: 0, running: 0};
    held.set(run, here);
  }
  here.begun++;
  here.running++;
  try {
    return await work(here.limits);
  } finally {
    const last = --here.running === 0 && (here.begun === partitions || signal.aborted);
    if (last) held.delete(run);
  }
}
