import assert from 'node:assert/strict';
import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {test} from 'node:test';
import {promisify} from 'node:util';
import {connectionLimit, descriptorLimit} from '../../lib/http/descriptors.ts';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {rawServer} from '../support/raw-server.ts';

const run = promisify(execFile);
const here = import.meta.dirname;

test('where descriptors run out it is our own fault, not the host’s', {
  skip: process.platform === 'win32',
}, async () => {
  await using server = await rawServer(() => undefined);
  const {stdout} = await run('sh', [
    '-c',
    'ulimit -n 90 && exec "$0" "$@"',
    process.execPath,
    ...['--import', 'tsx', join(here, '../support/hanging-child.ts'), server.origin, '150'],
  ]);
  const reasons = Object.entries(JSON.parse(stdout.trim()) as Record<string, number>);
  const of = (reason: string) =>
    reasons.filter(([said]) => said.startsWith(reason)).reduce((sum, [, count]) => sum + count, 0);
  assert.ok(of('own_network: connect EMFILE') > 50, stdout);
  assert.ok(of('interrupted') > 0, stdout);
  assert.equal(of('own_network') + of('interrupted'), 150, stdout);
});

test('more requests at once than there are descriptors for: told, and as many as there are', async (t) => {
  assert.ok(descriptorLimit() > 0);
  assert.equal(connectionLimit(20_000), 19_800);
  assert.equal(connectionLimit(10), 1);
  const crawl = await fetchCrawl(t, []);
  await crawl.generate('20270101000000', ['http://127.0.0.1:9/']);
  const wanted = connectionLimit() + 1;
  await crawl.fetch({concurrency: wanted, close: true});
  const told = crawl.events.filter(({event}) => event === 'open_files_limit');
  assert.deepEqual(
    told.map(({fields}) => [fields?.max_active, fields?.requests_at_once]),
    [[wanted, wanted - 1]],
  );
});
