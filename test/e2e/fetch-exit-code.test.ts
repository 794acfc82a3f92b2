import assert from 'node:assert/strict';
import test from 'node:test';
import {Interruption} from '../../cli/exit-codes.ts';
import {crawl, temporaryFolder} from '../support/cli.ts';
import {query} from '../support/command.ts';
import {serveWeb} from '../support/fetch-web.ts';

/** What the command said, and what the table `runs` says of it. */
async function fetched(t: test.TestContext, flags: readonly string[], stopAtFirstPage = false) {
  const stop = new AbortController();
  const web = await serveWeb(t, {
    'a.test': (path) => {
      if (stopAtFirstPage && path === '/0') stop.abort(new Interruption('SIGTERM'));
      return {body: path};
    },
  });
  const cwd = temporaryFolder(t);
  const set = ['--set', `network.connect_to=${web.connectTo}`, '--contact', 'me@example.org'];
  const urls = Array.from({length: 20}, (_, page) => `http://a.test/${page}`);
  for (const argv of [['init'], ['inject', ...urls], ['generate']])
    assert.equal((await crawl(cwd, argv, {env: {CRAWL_DIR: cwd}})).code, 0);
  const {code, stderr} = await crawl(cwd, ['fetch', '--no-parse', ...set, ...flags], {
    env: {CRAWL_DIR: cwd},
    signal: stop.signal,
  });
  const rows = await query<{exit_code: number}>(cwd, "SELECT exit_code FROM runs WHERE job = 'fetch'");
  return {code, said: stderr, recorded: rows.map(({exit_code}) => exit_code)};
}

test('a fetch that its window ended: the table runs says what the command said', async (t) => {
  const {code, said, recorded} = await fetched(t, ['--window', '10ms', '--set', 'politeness.min_delay=1s']);
  assert.equal(code, 5, said);
  assert.deepEqual(recorded, [5]);
});

test('a fetch that a full disk ended, one that a signal ended, and one that came to its end', async (t) => {
  const disk = await fetched(t, ['--set', 'storage.min_free=8000TB']);
  assert.deepEqual([disk.code, disk.recorded], [5, [5]], disk.said);
  const stopped = await fetched(t, ['--set', 'politeness.min_delay=1s'], true);
  assert.deepEqual([stopped.code, stopped.recorded], [143, [143]], stopped.said);
  const whole = await fetched(t, [
    '--set',
    'politeness.min_delay=0s',
    '--set',
    'politeness.latency_factor=0',
  ]);
  assert.deepEqual([whole.code, whole.recorded], [0, [0]], whole.said);
});
