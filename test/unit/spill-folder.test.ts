import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {mkdir, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {openReader} from '../../jobs/read/crawl.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {defaultOptions} from '../support/default-options.ts';
import {jobHarness} from '../support/job-harness.ts';

test('tasks, plans and readers spill into storage.spill, which counts from the crawl, and leave it empty', async (t) => {
  const {dir, effects} = await jobHarness(t);
  const {config} = loadConfig({
    env: {},
    file: {name: 'crawl.yaml', text: 'storage:\n  memory: 256MB\n  spill: spilled/here\n'},
  });
  const spill = join(dir, 'spilled/here');
  const executor = embeddedExecutor({concurrency: 1});
  const uses = async (run: () => Promise<unknown>) => {
    await rm(join(dir, 'spilled'), {recursive: true, force: true});
    await run();
    assert.deepEqual(await readdir(spill), []);
  };
  // The task of inject, and plan and task of generate
  await uses(() =>
    runJob(inject, {...defaultOptions(inject), urls: ['http://one.test/']}, {dir, config, effects, executor}),
  );
  await uses(() => runJob(generate, defaultOptions(generate), {dir, config, effects, executor}));
  await uses(async () => {
    const reader = await openReader({dir, config, signal: new AbortController().signal});
    assert.equal((await readdir(spill)).length, 1);
    await reader.close();
  });
  await mkdir(join(dir, 'tmp'), {recursive: true});
  const left = (await readdir(join(dir, 'tmp'))).filter((name) => name.startsWith('duckdb-'));
  assert.deepEqual(left, [], 'nor is anything left where it would be else');
  assert.ok(existsSync(join(dir, 'manifests')));
});
