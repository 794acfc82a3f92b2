import {PassThrough} from 'node:stream';
import {run} from '../../cli/run.ts';

export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process, as a script would that reads its output. */
export async function crawl(
  argv: readonly string[],
  settings: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: string;
  } = {},
): Promise<CommandOutcome> {
  const [stdout, stderr] = [collect(), collect()];
  const stdin = new PassThrough();
  stdin.end(settings.stdin ?? '');
  const code = await run(argv, {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin,
    env: settings.env ?? {},
    cwd: settings.cwd ?? process.cwd(),
  });
  return {code, stdout: stdout.text(), stderr: stderr.text()};
}

function collect(): {stream: PassThrough; text(): string} {
  const chunks: Buffer[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return {stream, text: () => Buffer.concat(chunks).toString('utf8')};
}

/** Rows of a query over the crawl in `dir`. */
export async function query<R = Record<string, unknown>>(
  dir: string,
  sql: string,
  ...flags: string[]
): Promise<R[]> {
  const {code, stdout, stderr} = await crawl(['sql', '-C', dir, '--format', 'jsonl', ...flags, '--', sql]);
  if (code !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as R);
}
