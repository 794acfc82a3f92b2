import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';
import type {Job, Skip, Task} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {temporaryCrawl, testEffects} from '../support/temporary-crawl.ts';

/** A job whose tasks are done by a module written for the test. */
async function workerJob(dir: string, body: string): Promise<Job> {
  const path = join(dir, 'task.mjs');
  await writeFile(path, `export async function runTask(task, ctx) { ${body} }`);
  const refuse = (): never => assert.fail('not called');
  return {
    name: 'sample',
    summary: '',
    options: {},
    locks: () => [],
    plan: refuse,
    run: refuse,
    next: refuse,
    worker: pathToFileURL(path),
  };
}

const task = (part: number): Task => ({stage: 0, part, inputs: [], params: {part}});
const stage = (dir: string, effects = testEffects()) => ({dir, run: 'r', effects, progress: () => undefined});

test('tasks run in threads, with their parameters, and their results come in order', async (t) => {
  const dir = await temporaryCrawl(t);
  const job = await workerJob(
    dir,
    `const {threadId} = await import('node:worker_threads'); return {files: [], counters: {}, reasons: {}, facts: {part: task.params.part, thread: threadId}};`,
  );
  const results = await embeddedExecutor().run(job, [task(0), task(1), task(2)], stage(dir));
  assert.deepEqual(
    results.map((result) => result.facts?.part),
    [0, 1, 2],
  );
  assert.ok(results.every((result) => Number(result.facts?.thread) > 0));
});

test('a page that loops for ever, or kills its thread, is left out and named; the rest is done', async (t) => {
  const dir = await temporaryCrawl(t);
  const job = await workerJob(
    dir,
    `const done = [];
     for (const key of ['good', 'loop', 'crash', 'last']) {
       if (task.params.skip.some((skip) => skip.key === key)) continue;
       ctx.guard(key, 1500);
       await new Promise((resolve) => setImmediate(resolve));
       if (key === 'loop') for (;;);
       if (key === 'crash') process.exit(7);
       ctx.guard(null);
       done.push(key);
     }
     return {files: [], counters: {}, reasons: {}, facts: {done, skip: task.params.skip, attempt: ctx.attempt}};`,
  );
  const [result] = await embeddedExecutor().run(job, [task(0)], stage(dir));
  assert.deepEqual(result!.facts?.done, ['good', 'last']);
  assert.deepEqual(
    (result!.facts!.skip as Skip[]).map(({key, reason}) => [key, reason]),
    [
      ['loop', 'parse_timeout'],
      ['crash', 'parse_failed'],
    ],
  );
  assert.equal(result!.facts?.attempt, 2);
});

test('an error in a task is an error of the job, with its code', async (t) => {
  const dir = await temporaryCrawl(t);
  const job = await workerJob(dir, `throw new Error('no such luck');`);
  await assert.rejects(embeddedExecutor().run(job, [task(0)], stage(dir)), {
    code: 'TASK_FAILED',
    message: /no such luck/,
  });
});

test('a thread that ends outside any page fails the job', async (t) => {
  const dir = await temporaryCrawl(t);
  const job = await workerJob(dir, `process.exit(3);`);
  await assert.rejects(embeddedExecutor().run(job, [task(0)], stage(dir)), {
    code: 'TASK_FAILED',
    message: /exit code 3/,
  });
});

test('an abort reaches the thread', async (t) => {
  const dir = await temporaryCrawl(t);
  const stop = new AbortController();
  const job = await workerJob(
    dir,
    `ctx.log('info', 'begun'); await ctx.sleep(3_600_000); return {files: [], counters: {}, reasons: {}};`,
  );
  const effects = {...testEffects(0, stop.signal), log: () => stop.abort(new Error('stopped'))};
  await assert.rejects(embeddedExecutor().run(job, [task(0)], stage(dir, effects)), /stopped/);
});
