import {CrawlError} from '../lib/errors.ts';

/** Exit codes of all commands: the numbers live here alone. */
export const exitCodes = {
  /** Go on. Also when the output was there already. */
  done: 0,
  /** Look at the error. Also what Node itself returns for an uncaught error. */
  failed: 1,
  /** Fix the command or the configuration; nothing was touched. */
  usage: 2,
  /** Only from `generate` and `run`: no URL is due; end the round in peace. */
  nothing: 3,
  /** Another job holds what this one needs; come back later. */
  locked: 4,
  /** Stopped by a guard or limit (disk, error rate, window); what was done is committed. */
  stopped: 5,
  /** `verify` or `check` found something wrong with the data, not with the command. */
  findings: 6,
  sigint: 130,
  sigterm: 143,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What each code means to a script, for help and docs/cli.md. */
export const exitCodeDocs: readonly (readonly [code: number, name: string, meaning: string])[] = [
  [0, 'done', 'Go on. Also when the output was there already.'],
  [1, 'failed', 'Look at the error.'],
  [2, 'usage', 'Fix the command or the configuration; nothing was touched.'],
  [3, 'nothing to do', 'Only from generate and run: no URL is due. End the round in peace.'],
  [4, 'locked', 'Another command holds what this one needs. Come back later.'],
  [5, 'stopped', 'By a guard or limit (disk, error rate, window); what was done is committed.'],
  [6, 'findings', 'verify or check found something wrong with the data, not with the command.'],
  [130, 'interrupted', 'By SIGINT (Ctrl-C). What was done is kept; run it again to go on.'],
  [143, 'terminated', 'By SIGTERM. The same.'],
];

/** Why `effects.signal` aborted: the reason that cli/signals.ts gives it. */
export class Interruption extends CrawlError {
  readonly exitCode: ExitCode;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('INTERRUPTED', `stopped by ${signal}`, {facts: {signal}});
    this.exitCode = signal === 'SIGINT' ? exitCodes.sigint : exitCodes.sigterm;
  }
}

/** The exit code for a thrown error. A signal that has arrived explains every error after it. */
export function exitCodeOf(error: unknown, signal: AbortSignal): ExitCode {
  if (signal.aborted && signal.reason instanceof Interruption) return signal.reason.exitCode;
  return error instanceof CrawlError ? error.exit : exitCodes.failed;
}
