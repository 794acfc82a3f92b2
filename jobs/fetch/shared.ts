import type {Config} from '../../lib/config/settings.ts';
import {type SharedLimits, sharedLimits} from '../../lib/fetcher/shared.ts';

/** Limits by run, while a task of it runs here. */
const held = new Map<string, {readonly limits: SharedLimits; tasks: number}>();

/**
 * Runs a task of a fetch under the limits that all tasks of the run in this process hold together: requests at once
 * in all, at an address and in a domain, requests and bytes a second. Tasks in other processes have their own.
 */
export async function withSharedLimits<T>(
  run: string,
  config: Config,
  maxActive: number,
  work: (limits: SharedLimits) => Promise<T>,
): Promise<T> {
  let here = held.get(run);
  if (!here) {
    here = {limits: sharedLimits(config, maxActive), tasks: 0};
    held.set(run, here);
  }
  here.tasks++;
  try {
    return await work(here.limits);
  } finally {
    if (--here.tasks === 0) held.delete(run);
  }
}
