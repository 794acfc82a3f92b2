import {runInNewContext} from 'node:vm';

/**
 * Runs work that does not wait for anything, and breaks it off when it takes longer: the time limit of a test would wait
 * for it to return. For work whose time must not grow by the square of its input.
 *
 * @throws Error with the code ERR_SCRIPT_EXECUTION_TIMEOUT
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  return runInNewContext('work()', {work}, {timeout: limitMs}) as T;
}
