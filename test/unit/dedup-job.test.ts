import assert from 'node:assert/strict';
import {test} from 'node:test';
import {dedup} from '../../jobs/dedup.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';

const start = new Date(Date.UTC(2026, 0, 1));

function fetchedRow(url: string, body: number, changes: Partial<CrawlDatum> = {}): CrawlDatum {
  const found = {score: 1, depth: 0, seed: null, tag: null, hopType: 'I', time: start, from: null} as const;
  return {
    ...newRow(identify(url), {...found, intervalS: 3600}, 1),
    status: 'fetched',
    signature: Uint8Array.of(body),
    ...changes,
  };
}

const put = (crawl: JobHarness, rows: readonly CrawlDatum[]) =>
  commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows, facts: {kind: 'base'}}]);

const kept = async (crawl: JobHarness) =>
  (await crawl.crawldb())
    .filter(({status}) => status !== 'duplicate')
    .map(({url}) => url)
    .sort();

test('of equal pages one stays, by canonical, score, https, length, time and URL, in this order', async (t) => {
  const later = new Date(start.getTime() + 1);
  const cases: readonly (readonly [winner: CrawlDatum, loser: CrawlDatum])[] = [
    [
      fetchedRow('http://canonical.test/a/long/one', 1, {canonical_url: 'http://canonical.test/a/long/one'}),
      fetchedRow('https://x.test/', 1, {score: 9}),
    ],
    [fetchedRow('http://score.test/longer', 2, {score: 2}), fetchedRow('https://x.test/2', 2)],
    [fetchedRow('https://tls.test/longer', 3), fetchedRow('http://x.test/3', 3)],
    [
      fetchedRow('http://short.test/', 4, {discovered_time: later}),
      fetchedRow('http://short.test/longer', 4),
    ],
    [fetchedRow('http://z.test/', 5), fetchedRow('http://a.test/', 5, {discovered_time: later})],
    [fetchedRow('http://a.test/6', 6), fetchedRow('http://b.test/6', 6)],
  ];
  const crawl = await jobHarness(t);
  await put(crawl, cases.flat());
  const report = await crawl.run(dedup, {group: undefined});
  assert.deepEqual(await kept(crawl), cases.map(([winner]) => winner.url).sort());
  assert.equal(report.counters.duplicates_total, cases.length);
  for (const row of await crawl.crawldb()) {
    const pair = cases.find(([, loser]) => loser.url === row.url);
    assert.equal(row.duplicate_of, pair?.[0].url ?? null);
  }
  const again = await crawl.run(dedup, {group: undefined});
  assert.equal(again.counters.rows_updated_total, 0);
});

test('groups within hosts only; changing the setting makes duplicates pages again', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [
    fetchedRow('http://a.test/1', 1),
    fetchedRow('http://a.test/2', 1),
    fetchedRow('http://b.test/1', 1),
    fetchedRow('http://c.test/', 1, {status: 'gone', reason: 'http_404'}),
  ]);
  await crawl.run(dedup, {group: 'none'});
  assert.deepEqual(await kept(crawl), ['http://a.test/1', 'http://c.test/']);
  await crawl.run(dedup, {group: 'host'});
  assert.deepEqual(await kept(crawl), ['http://a.test/1', 'http://b.test/1', 'http://c.test/']);
  const [row] = (await crawl.crawldb()).filter(({url}) => url === 'http://b.test/1');
  assert.deepEqual([row?.status, row?.reason, row?.duplicate_of], ['fetched', null, null]);
});
