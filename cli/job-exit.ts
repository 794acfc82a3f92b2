import type {EndedTasks} from '../jobs/runner/run-job.ts';
import {type ExitCode, exitCodes, Interruption} from './exit-codes.ts';
import {fetchStop, nothingAccepted} from './rounds.ts';

/**
 * Exit code of the command of a job that is about to commit what its tasks did. Only a fetch commits when something has
 * ended it before its time; other jobs that are stopped leave no report. URLs of which none could be taken are a mistake
 * of whoever gave them, though each is kept with its reason.
 */
export function exitCodeOfJob(ended: EndedTasks, signal: AbortSignal): ExitCode {
  if (ended.job !== 'fetch') return nothingAccepted(ended) ? exitCodes.failed : exitCodes.done;
  if (signal.aborted && signal.reason instanceof Interruption) return signal.reason.exitCode;
  return fetchStop(ended) === undefined ? exitCodes.done : exitCodes.stopped;
}
