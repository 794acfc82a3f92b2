import assert from 'node:assert/strict';
import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {defineJob, type Job, type Task} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {type RunJobSettings, runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {runs} from '../../lib/schema/runs.ts';
import {type SeedRow, seeds} from '../../lib/schema/seeds.ts';
import {CommitRefused} from '../../lib/store/commit.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {lockHolder, takeLocks} from '../../lib/store/lock.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {temporaryCrawl, testEffects} from '../support/temporary-crawl.ts';

function settings(dir: string, more: Partial<RunJobSettings> = {}): RunJobSettings {
  const {config} = loadConfig({env: {}});
  return {dir, config, effects: testEffects(), executor: embeddedExecutor(), ...more};
}

function row(line: number): SeedRow {
  return {
    run: 'r',
    source: 'argument',
    line,
    text: '',
    url: null,
    host_key: null,
    url_key: null,
    tag: null,
    seed_group: null,
    score: null,
    scope: null,
    outcome: 'rejected',
    reason: 'url_invalid',
    detail: null,
    injected_time: new Date(0),
  };
}

const task = (stage: number, part: number): Task => ({stage, part, inputs: [], params: {}});

/** Two stages of two tasks: each task writes a file of one row; the second stage's are committed. */
function twoStages(changes: Partial<Job<typeof options>> = {}): Job<typeof options> {
  return defineJob({
    name: 'sample',
    summary: 'Writes rows.',
    options,
    locks: () => ['crawldb'],
    async plan(_options, {snapshot, now}) {
      return {base: snapshot.manifest.number, now: now(), tasks: [task(0, 0), task(0, 1)]};
    },
    async run({stage, part}, ctx) {
      const file = await ctx.store.create(seeds, 'crawldb/seeds');
      await file.write([row(stage * 10 + part)]);
      return {files: [await file.close()], counters: {seeds_read_total: 1}, reasons: {url_invalid: 1}};
    },
    next(_plan, stage, results) {
      if (stage === 0) return {tasks: [task(1, 0), task(1, 1)]};
      return {edit: {reads: ['crawldb'], writes: {seeds: results.flatMap((result) => result.files)}}};
    },
    ...changes,
  });
}
const options = {fail: {kind: 'flag', default: false, doc: 'Fail.'}} as const;

test('a job runs its stages, commits, and leaves its report as a row of runs', async (t) => {
  const dir = await temporaryCrawl(t);
  const report = await runJob(twoStages(), {fail: false}, settings(dir));
  assert.equal(report.outcome, 'done');
  assert.deepEqual(report.counters, {seeds_read_total: 4});
  const head = await (await openCrawl(dir)).head();
  assert.equal(head.manifest.slots.seeds?.rows, 2, 'files of the first stage are not part of the crawl');
  const [file] = await head.files('runs');
  const rows = [];
  for await (const batch of readTable(runs, head.store.path(file!))) rows.push(...batch);
  assert.equal(rows.length, 1);
  assert.equal(rows[0]!.job, 'sample');
  assert.equal(rows[0]!.tasks, 4);
  assert.deepEqual(JSON.parse(rows[0]!.reasons), {url_invalid: 4});
  assert.equal(await lockHolder(dir, 'crawldb'), undefined);
  assert.match(await readFile(join(dir, 'views.sql'), 'utf8'), /CREATE/);
});

test('a plan that finds nothing changes nothing', async (t) => {
  const dir = await temporaryCrawl(t);
  const report = await runJob(twoStages({plan: async () => undefined}), {fail: false}, settings(dir));
  assert.equal(report.outcome, 'nothing');
  assert.equal((await (await openCrawl(dir)).head()).manifest.number, 0);
  assert.deepEqual(await readdir(join(dir, 'runs')), []);
});

test('a dry run gives the plan and takes no lock', async (t) => {
  const dir = await temporaryCrawl(t);
  const held = await takeLocks(dir, ['crawldb'], 'other', testEffects());
  let planned: unknown;
  const report = await runJob(
    twoStages(),
    {fail: false},
    settings(dir, {dryRun: (plan) => (planned = plan)}),
  );
  assert.equal(report.outcome, 'planned');
  assert.deepEqual(planned, {base: 0, now: Date.UTC(2026, 0, 1), tasks: [task(0, 0), task(0, 1)]});
  await held.release();
});

test('a failed task fails the job: nothing is visible, the lock is free, the other tasks were told to stop', async (t) => {
  const dir = await temporaryCrawl(t);
  let stopped = false;
  const job = twoStages({
    async run({part}, ctx) {
      if (part === 0) throw new Error('broken');
      await new Promise<void>((resolve) =>
        ctx.signal.addEventListener('abort', () => resolve(), {once: true}),
      );
      stopped = true;
      return {files: [], counters: {}, reasons: {}};
    },
  });
  await assert.rejects(
    runJob(job, {fail: true}, settings(dir, {executor: embeddedExecutor({concurrency: 2})})),
    /broken/,
  );
  assert.equal(stopped, true);
  assert.equal((await (await openCrawl(dir)).head()).manifest.number, 0);
  assert.equal(await lockHolder(dir, 'crawldb'), undefined);
});

test('a lost race is planned again, and given up after three plans', async (t) => {
  const dir = await temporaryCrawl(t);
  let plans = 0;
  const job = twoStages({
    async plan(_options, {snapshot, store, now}) {
      plans++;
      if (plans <= 2)
        await store.commit({
          base: snapshot,
          edit: {reads: [], writes: {crawldb: []}},
          run: `other${plans}-test`,
          job: 'other',
          now: now(),
        });
      return {base: snapshot.manifest.number, now: now(), tasks: [task(0, 0)]};
    },
  });
  assert.equal((await runJob(job, {fail: false}, settings(dir))).outcome, 'done');
  assert.equal(plans, 3);
  plans = -10;
  await assert.rejects(runJob(job, {fail: false}, settings(dir)), CommitRefused);
  assert.equal(plans, -7);
});

test('after 64 runs their reports become one file, and none is lost', async (t) => {
  const dir = await temporaryCrawl(t);
  const one = twoStages({next: () => ({edit: {reads: [], writes: {}}})});
  for (let i = 0; i < 65; i++) await runJob(one, {fail: false}, settings(dir));
  const head = await (await openCrawl(dir)).head();
  const files = await head.files('runs');
  assert.ok(files.length < 10, `${files.length} files`);
  assert.equal(
    files.reduce((sum, file) => sum + file.rows, 0),
    65,
  );
  for (const file of files) assert.equal((await stat(head.store.path(file))).size, file.bytes);
});
