import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {join} from 'node:path';

const main = join(import.meta.dirname, '../../dist/cli/main.js');

export interface ProcessOutcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command as a process of its own: for what only a process can show, signals and pipes. */
export async function crawlProcess(
  argv: readonly string[],
  settings: {readonly cwd?: string; readonly env?: Readonly<Record<string, string>>} = {},
): Promise<ProcessOutcome> {
  if (!existsSync(main)) throw new Error('dist/ is missing: run the tests by npm test, which builds it');
  const child = spawn(process.execPath, [main, ...argv], {
    cwd: settings.cwd,
    env: {PATH: process.env.PATH, HOME: process.env.HOME, ...settings.env},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return {
    code,
    signal,
    stdout: Buffer.concat(stdout).toString('utf8'),
    stderr: Buffer.concat(stderr).toString('utf8'),
  };
}
