import assert from 'node:assert/strict';
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {createReadStream, existsSync, watch, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {crawl, temporaryFolder} from '../support/cli.ts';

/** The program as a process of its own: what only a real pipe or a real signal shows. */
const main = join(import.meta.dirname, '../../cli/main.ts');

function start(
  t: TestContext,
  cwd: string,
  argv: readonly string[],
  stdin: 'ignore' | 'pipe' = 'ignore',
): ChildProcess {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...argv], {
    cwd,
    env: {...process.env, CRAWL_DIR: cwd},
    stdio: [stdin, 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  let all = '';
  for await (const piece of stream!) all += String(piece);
  return all;
}

async function folder(t: TestContext): Promise<string> {
  const cwd = temporaryFolder(t);
  assert.equal((await crawl(cwd, ['init'])).code, 0);
  return cwd;
}

test('a closed pipe is no error', async (t) => {
  const cwd = await folder(t);
  const child = start(t, cwd, ['sql', '--format', 'jsonl', 'SELECT i FROM range(100000000) t(i)']);
  const stderr = text(child.stderr);
  const [first] = (await once(child.stdout!, 'data')) as [Buffer];
  assert.match(first.toString(), /^\{"i":0\}\n/);
  child.stdout!.destroy();
  const [code] = (await once(child, 'close')) as [number];
  assert.deepEqual([code, await stderr], [0, '']);
});

for (const [signal, exit] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  test(`${signal} stops a query with exit code ${exit}`, async (t) => {
    const cwd = await folder(t);
    const child = start(t, cwd, ['sql', '--format', 'jsonl', 'SELECT i FROM range(100000000000) t(i)']);
    const stderr = text(child.stderr);
    await once(child.stdout!, 'data');
    child.kill(signal);
    child.stdout!.resume();
    const [code] = (await once(child, 'close')) as [number];
    assert.equal(code, exit);
    assert.match(await stderr, new RegExp(`^crawl: stopped by ${signal}\n`));
  });

test('a command that waits for standard input ends at the first signal', async (t) => {
  const cwd = await folder(t);
  const child = start(t, cwd, ['inject', '-'], 'pipe');
  const stderr = text(child.stderr);
  const watcher = watch(join(cwd, 'runs'));
  t.after(() => watcher.close());
  await once(watcher, 'change'); // the folder of the run: its plan waits for the list
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number];
  assert.equal(code, 130);
  assert.match(await stderr, /^crawl: stopped by SIGINT\n/);
});

test('a disk that fills up under standard output is an error', {
  skip: !existsSync('/dev/full') && 'no /dev/full',
}, async (t) => {
  const cwd = await folder(t);
  const child = spawn(
    'sh',
    [
      '-c',
      '"$@" > /dev/full',
      'sh',
      process.execPath,
      '--import',
      import.meta.resolve('tsx'),
      main,
      'sql',
      'FROM range(100000)',
    ],
    {cwd, stdio: ['ignore', 'ignore', 'pipe']},
  );
  t.after(() => child.kill('SIGKILL'));
  const stderr = await text(child.stderr);
  const [code] = child.exitCode === null ? ((await once(child, 'close')) as [number]) : [child.exitCode];
  assert.equal(code, 1);
  assert.match(stderr, /no space left/);
});

test('a query from standard input, and the exit code of a usage error', async (t) => {
  const cwd = await folder(t);
  writeFileSync(join(cwd, 'question.sql'), 'SELECT 6 * 7 AS answer');
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), main, 'sql', '--format', 'csv'],
    {
      cwd,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  createReadStream(join(cwd, 'question.sql')).pipe(child.stdin!);
  assert.equal(await text(child.stdout), 'answer\n42\n');
  const wrong = start(t, cwd, ['genrate']);
  const [code] = (await once(wrong, 'close')) as [number];
  assert.equal(code, 2);
});

test('help and usage errors do not load DuckDB; a query does', async (t) => {
  const cwd = await folder(t);
  const script = `
    const {run} = await import(${JSON.stringify(import.meta.resolve('../../cli/run.ts'))});
    const {PassThrough} = await import('node:stream');
    const loaded = () => process.report.getReport().sharedObjects.some((name) => name.includes('duckdb'));
    const ask = (...argv) => run(argv, {stdout: new PassThrough().resume(), stderr: new PassThrough().resume(), stdin: process.stdin, env: {}, cwd: process.cwd()});
    await ask('--help'); await ask('generate', '--help'); await ask('sql', '--format', 'xml'); await ask('fetch', '--nonsense');
    const before = loaded();
    await ask('sql', 'SELECT 1');
    console.log(before, loaded());`;
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script],
    {
      cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  t.after(() => child.kill('SIGKILL'));
  assert.equal(await text(child.stdout), 'false true\n');
});
