import assert from 'node:assert/strict';
import {test} from 'node:test';
import {dedup} from '../../jobs/dedup.ts';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page} from '../support/small-web.ts';

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
  await checkStatistics(crawl);
  assert.deepEqual(await kept(crawl), ['http://a.test/1', 'http://b.test/1', 'http://c.test/']);
  const [row] = (await crawl.crawldb()).filter(({url}) => url === 'http://b.test/1');
  assert.deepEqual([row?.status, row?.reason, row?.duplicate_of], ['fetched', null, null]);
});

const marked = async (crawl: JobHarness) =>
  (await crawl.crawldb())
    .filter(({duplicate_kind}) => duplicate_kind !== null)
    .map(({url, status, duplicate_kind, duplicate_of, similar_to}) => [
      url,
      status,
      duplicate_kind,
      duplicate_of ?? similar_to,
    ])
    .sort();

const text = (body: number, changes: Partial<CrawlDatum> = {}) => ({
  text_signature: Uint8Array.of(body),
  ...changes,
});

test('equal texts are marked, or duplicates where configured; exact equals come first', async (t) => {
  const rows = [
    fetchedRow('http://a.test/', 1, text(1, {score: 3})),
    fetchedRow('http://a.test/copy', 1, text(1, {score: 2})),
    fetchedRow('http://b.test/print', 2, text(1)),
    fetchedRow('http://c.test/', 3, text(2)),
  ];
  const crawl = await jobHarness(t, 'dedup:\n  near: off\n');
  await put(crawl, rows);
  const report = await crawl.run(dedup, {group: undefined});
  assert.deepEqual(await marked(crawl), [
    ['http://a.test/copy', 'duplicate', 'exact', 'http://a.test/'],
    ['http://b.test/print', 'fetched', 'text', 'http://a.test/'],
  ]);
  assert.deepEqual([report.counters.duplicates_total, report.counters.similar_total], [1, 1]);

  const strict = harnessLike(crawl, 'status');
  await strict.run(dedup, {group: undefined});
  assert.deepEqual((await marked(crawl))[1], ['http://b.test/print', 'duplicate', 'text', 'http://a.test/']);
  const off = harnessLike(crawl, 'off');
  await off.run(dedup, {group: undefined});
  assert.deepEqual(await marked(crawl), [['http://a.test/copy', 'duplicate', 'exact', 'http://a.test/']]);
  assert.equal((await crawl.crawldb()).find(({url}) => url === 'http://b.test/print')?.status, 'fetched');
});

/** The same crawl with another setting of dedup.text. */
function harnessLike(crawl: JobHarness, setting: 'off' | 'status'): JobHarness {
  const config = {...crawl.config, dedup: {...crawl.config.dedup, text: setting}};
  const run: JobHarness['run'] = (job, options) =>
    runJob(job, options, {
      dir: crawl.dir,
      config,
      effects: crawl.effects,
      executor: embeddedExecutor({concurrency: 1}),
    });
  return {...crawl, config, run};
}

test('nearly equal texts follow the best page that they are like, never a chain', async (t) => {
  const crawl = await jobHarness(t, 'dedup:\n  near: status\n');
  const print = (bits: bigint, score: number) => ({simhash: bits, score});
  await put(crawl, [
    fetchedRow('http://best.test/', 1, print(0n, 9)),
    fetchedRow('http://near.test/', 2, print(0b111n, 8)), // 3 bits from the best
    fetchedRow('http://chain.test/', 3, print(0b111111n, 7)), // 3 bits from near.test, 6 from the best
    fetchedRow('http://same.test/', 4, print(0b111111n, 6)), // the fingerprint of chain.test
    fetchedRow('http://far.test/', 5, print((1n << 63n) | 0b1111n, 5)), // 5 from the best, 3 from chain.test
    fetchedRow('http://other.test/', 6, print(2n ** 64n - 1n, 4)),
  ]);
  await crawl.run(dedup, {group: undefined});
  assert.deepEqual(await marked(crawl), [
    ['http://far.test/', 'duplicate', 'near', 'http://chain.test/'],
    ['http://near.test/', 'duplicate', 'near', 'http://best.test/'],
    ['http://same.test/', 'duplicate', 'near', 'http://chain.test/'],
  ]);
  assert.equal((await crawl.run(dedup, {group: undefined})).counters.rows_updated_total, 0);
  // Within hosts none is like another
  await crawl.run(dedup, {group: 'host'});
  assert.deepEqual(await marked(crawl), []);
});

for (const [near, status] of [
  ['mark', 'notmodified'],
  ['status', 'duplicate'],
] as const)
  test(`updatedb keeps near duplicates (dedup.near: ${near}) that keep standing until their text changes`, async (t) => {
    const crawl = await jobHarness(t, `dedup:\n  near: ${near}\n`);
    const [best, other] = ['http://best.test/', 'http://other.test/'];
    await crawl.run(inject, {...defaultOptions(inject), urls: [`${best}\tscore=2`, other]});
    const words = (word: string) => Array.from({length: 200}, (_, n) => `${word}${n}`).join(' ');
    let texts: Record<string, string> = {[best]: words('word'), [other]: `${words('word')} last`};
    const round = async () => {
      const made = await crawl.run(generate, defaultOptions(generate));
      await fetchSegment(crawl, made.plan!.segment!, (url) => page(texts[url]!, [], {fingerprint: true}));
      await crawl.run(updatedb, defaultOptions(updatedb));
      crawl.effects.pass(400 * 86_400_000);
    };
    await round();
    assert.deepEqual(await marked(crawl), [], 'updatedb looks for none');
    await crawl.run(dedup, {group: undefined});
    assert.equal((await marked(crawl)).length, 1, 'the test needs two texts that are nearly equal');

    await round();
    assert.deepEqual(await marked(crawl), [[other, status, 'near', best]]);
    texts = {[best]: texts[best]!, [other]: words('else')};
    await round();
    assert.deepEqual(await marked(crawl), []);
    assert.equal((await crawl.crawldb()).find(({url}) => url === other)?.status, 'fetched');
  });

test('savings are told by host', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [
    fetchedRow('http://a.test/', 1),
    fetchedRow('http://a.test/2', 1),
    fetchedRow('http://a.test/3', 1),
    fetchedRow('http://b.test/long', 1),
    fetchedRow('http://c.test/', 2),
  ]);
  const report = await crawl.run(dedup, {group: undefined});
  assert.deepEqual(report.facts[0]?.savings, [
    {host: 'a.test', duplicates: 2, alike: 0, pages: 1},
    {host: 'b.test', duplicates: 1, alike: 0, pages: 0},
  ]);
});
