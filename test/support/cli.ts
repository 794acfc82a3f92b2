import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {PassThrough, Readable} from 'node:stream';
import type {TestContext} from 'node:test';
import type {Io} from '../../cli/command.ts';
import {run} from '../../cli/run.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder that goes when the test ends. */
export function temporaryFolder(t: Pick<TestContext, 'after'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'crawl-cli-'));
  t.after(() => rmSync(dir, {recursive: true, force: true}));
  return dir;
}

/** Runs the program within this process, as a terminal would see it if `terminal` is set. */
export async function crawl(
  cwd: string,
  argv: readonly string[],
  more: Partial<Pick<Io, 'env' | 'signal'>> & {readonly terminal?: boolean; readonly stdin?: string} = {},
): Promise<Ran> {
  const {terminal = false} = more;
  const [out, err] = [collect(terminal), collect(terminal)];
  const code = await run(argv, {
    stdout: out.stream,
    stderr: err.stream,
    stdin: Readable.from([more.stdin ?? '']),
    env: more.env ?? {},
    cwd,
    ...(more.signal ? {signal: more.signal} : {}),
  });
  return {code, stdout: out.text(), stderr: err.text()};
}

function collect(isTTY: boolean) {
  const pieces: Buffer[] = [];
  const stream = Object.assign(new PassThrough(), {isTTY, columns: 100});
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  return {stream, text: () => Buffer.concat(pieces).toString('utf8')};
}
