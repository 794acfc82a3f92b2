/**
 * Places where a crash is tried by tests: a process started with CRAWL_CRASH_AT=NAME kills itself there with
 * SIGKILL, as a power cut or the system's out-of-memory killer would.
 */
export const crashPoints = [
  'plan_written',
  'journal_flushed',
  'journal_sealed',
  'bucket_written',
  'task_files_written',
  'task_result_written',
  'lists_written',
  'manifest_created',
  'first_file_placed',
  'files_placed',
] as const;
export type CrashPoint = (typeof crashPoints)[number];

/** Dies here if the environment asks for it. */
export function crashPoint(name: CrashPoint): void {
  if (process.env.CRAWL_CRASH_AT === name) process.kill(process.pid, 'SIGKILL');
}
