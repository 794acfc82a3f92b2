import assert from 'node:assert/strict';
import {test} from 'node:test';
import {explain} from '../../jobs/explain.ts';
import {generate} from '../../jobs/generate.ts';
import {hostRules} from '../../jobs/host-rules.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';

const start = Date.UTC(2026, 0, 1);

function row(url: string, score: number, changes: Partial<CrawlDatum> = {}): CrawlDatum {
  const found = {score, depth: 0, seed: null, tag: null, hopType: 'I', from: null, intervalS: 3600} as const;
  return {...newRow(identify(url), {...found, time: new Date(start)}, 1), ...changes};
}

async function put(crawl: JobHarness, rows: readonly CrawlDatum[]): Promise<void> {
  const ordered = rows.toSorted((a, b) =>
    a.host_key < b.host_key || (a.host_key === b.host_key && a.url_key < b.url_key) ? -1 : 1,
  );
  await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows: ordered, facts: {kind: 'base'}}]);
}

test('why a selection passed a URL over is told again from what its segment keeps', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [
    row('http://a.test/1', 9),
    row('http://a.test/2', 8),
    row('http://a.test/3', 7),
    row('http://b.test/best', 6),
    row('http://c.test/weak', 1),
    row('http://blocked.test/', 9),
    row('http://later.test/', 9, {next_fetch_time: new Date(start + 5)}),
    row('http://other.test/x', 9, {depth: 3}),
  ]);
  await crawl.run(hostRules, {...defaultOptions(hostRules), host: 'blocked.test', block: true});
  await crawl.run(generate, {
    ...defaultOptions(generate),
    topN: 3,
    maxPerHost: 2,
    where: 'depth < 3',
  });
  const [segment] = (await crawl.head()).segments;
  const why = async (url: string) => {
    const settings = {dir: crawl.dir, config: crawl.config, signal: crawl.effects.signal};
    const {passedOver} = await explain(url, settings);
    for (const one of passedOver) assert.deepEqual([one.segment, one.present], [segment, false]);
    return passedOver.map(({verdict, detail}) => `${verdict}: ${detail}`);
  };
  assert.deepEqual(await why('http://a.test/1'), [], 'it was taken');
  assert.deepEqual(await why('http://a.test/3'), ['host_limit: its host got 2, and others of it come first']);
  assert.deepEqual(await why('http://c.test/weak'), [
    'list_full: it stood at 1, place 1 in its host; of the new URLs the last one taken stood at 6, place 1',
  ]);
  assert.deepEqual(await why('http://blocked.test/'), ['host_blocked: so was all of its host']);
  assert.deepEqual(await why('http://later.test/'), ['not_due: it was due 2026-01-01T00:00:00.005Z']);
  assert.deepEqual(await why('http://other.test/x'), ['where: it did not meet depth < 3']);

  // What changed since does not change the answer
  crawl.effects.pass(1000);
  await crawl.run(hostRules, {...defaultOptions(hostRules), host: 'blocked.test', clear: true});
  assert.deepEqual(await why('http://blocked.test/'), ['host_blocked: so was all of its host']);
  await put(crawl, [row('http://new.test/', 1)]);
  assert.deepEqual(await why('http://new.test/'), ['not_known: it was not in the crawldb']);
});
