import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {mkdir, readdir, rm, writeFile} from 'node:fs/promises';
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
    await assert.rejects(run, {
      code: 'CONFIG_INVALID',
      message: `storage.spill: ${spill} cannot be used: ENOENT`,
    });
    assert.ok(
      !existsSync(join(dir, 'spilled')),
      'it is not made: it may be the place of a disk that is missing',
    );
    await mkdir(spill, {recursive: true});
    await run();
    assert.deepEqual(await readdir(spill), []);
    await rm(join(dir, 'spilled'), {recursive: true});
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

test('a crawl that may only be read is read whatever other readers left in the folder for temporary files', async (t) => {
  const {dir} = await jobHarness(t);
  const temporary = join(dir, 'elsewhere');
  await mkdir(temporary);
  for (const name of ['crawl', 'crawl-spill', 'duckdb']) await writeFile(join(temporary, name), 'not ours');
  await rm(join(dir, 'tmp'), {recursive: true, force: true});
  const before = process.env.TMPDIR;
  process.env.TMPDIR = temporary;
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const {config} = loadConfig({env: {}});
  const reader = await openReader({dir, config, signal: new AbortController().signal});
  assert.deepEqual(await reader.db.all('SELECT count(*)::INT AS n FROM crawldb'), [{n: 0}]);
  assert.equal((await readdir(temporary)).length, 4);
  await reader.close();
  assert.equal((await readdir(temporary)).length, 3, 'and leaves nothing');
});
