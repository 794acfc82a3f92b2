import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {HostStateRow} from '../../lib/schema/hostdb.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls} from '../support/small-round.ts';
import {fetchSegment, page} from '../support/small-web.ts';

/** Clocks that jump, dates and numbers that no sane server gives: bounded, and told in the report. */

const hour = 3_600_000;
const year = 8766 * hour;
const generated = async (crawl: JobHarness) => {
  const report = await crawl.run(generate, defaultOptions(generate));
  return {...report, segment: report.plan?.segment ?? ''};
};
const oddIn = (counters: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(counters).filter(([name]) => /ahead|lastmod|bounded/.test(name)));

test('lastmod of the future and from before the web, and changefreq beyond all bounds, are counted by updatedb', async (t) => {
  const crawl = await jobHarness(
    t,
    'links:\n  sitemap_hints: true\nschedule:\n  min_interval: 1h\n  max_interval: 90d\n',
  );
  await injectUrls(crawl, ['http://a.test/']);
  const {segment} = await generated(crawl);
  const now = crawl.effects.now();
  const facts: Readonly<Record<string, Partial<Outlink>>> = {
    future: {lastmod: new Date(now + 50 * year)},
    ancient: {lastmod: new Date(0)},
    always: {sitemap_changefreq: 'always'},
    never: {sitemap_changefreq: 'never'},
    weekly: {sitemap_changefreq: 'weekly', lastmod: new Date(now - hour)},
  };
  const links = Object.keys(facts).map((name) => `http://a.test/${name}`);
  await fetchSegment(crawl, segment, () =>
    page('a page', links, {linkFacts: (to) => ({...facts[to.slice(14)], hop_type: 'S'})}),
  );
  const {counters} = await crawl.run(updatedb, defaultOptions(updatedb));
  assert.deepEqual(oddIn(counters), {
    ...{lastmod_future_total: 1, lastmod_ancient_total: 1, changefreq_bounded_total: 2},
  });
  const rows = await crawl.sql<CrawlDatum>(
    "SELECT * FROM crawldb WHERE url <> 'http://a.test/' ORDER BY url",
  );
  for (const {url, next_fetch_time, fetch_interval_s} of rows) {
    assert.ok(next_fetch_time.getTime() <= crawl.effects.now(), `${url} is due`);
    assert.ok(fetch_interval_s >= 3600 && fetch_interval_s <= 90 * 86_400, `${url} ${fetch_interval_s}`);
  }
  const [run] = await crawl.sql<{counters: string}>("SELECT counters FROM runs WHERE job = 'updatedb'");
  assert.match(run!.counters, /"lastmod_future_total":1/);
});

test('a fetch whose clock ran ahead is taken as of the job that takes it in, and counted', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/']);
  const {segment} = await generated(crawl);
  crawl.effects.pass(12 * hour);
  await fetchSegment(crawl, segment, () => page('a page'));
  crawl.effects.pass(-12 * hour);
  const {counters} = await crawl.run(updatedb, defaultOptions(updatedb));
  assert.deepEqual(oddIn(counters), {clock_ahead_total: 1});
  const [row] = await crawl.sql<CrawlDatum>('SELECT * FROM crawldb');
  assert.ok(row!.next_fetch_time.getTime() <= crawl.effects.now() + row!.fetch_interval_s * 1000);
});

test('a host whose state was written by a clock that ran ahead is asked again, and scores that are no numbers stand last', async (t) => {
  const crawl = await jobHarness(t);
  const now = crawl.effects.now();
  const found = {depth: 1, seed: null, tag: null, hopType: 'L', from: null, intervalS: 60} as const;
  const scores = {
    'a/nan': Number.NaN,
    'a/endless': Number.POSITIVE_INFINITY,
    'a/below': -1,
    'b/good': 1,
    'b/less': 0.5,
  };
  const rows = Object.entries(scores).map(([name, score]) =>
    newRow(identify(`http://${name.replace('/', '.test/')}`), {...found, score, time: new Date(now)}, 1),
  );
  const {host_key, url_host_name} = rows[0]!;
  const state: HostStateRow = {
    ...{host_key, url_host_name, delay_ms: 2000, delay_term: 'latency', min_delay_ms: 1000, latency_ms: 2000},
    ...{
      crawl_delay_ms: 0,
      retry_after_ms: 0,
      backoff_ms: 0,
      failures: 1,
      last_reason: 'timeout',
      requests: 9,
    },
    ...{last_response_time: new Date(now + year), next_allowed_time: new Date(now + year + 2000)},
    ...{dns_failures: 0, updated_segment: '', soft_404_time: null, soft_404_signature: null},
  };
  const byKey = (a: CrawlDatum, b: CrawlDatum) => (a.host_key < b.host_key ? -1 : 1);
  await commitRows(crawl, [
    {slot: 'crawldb', table: 'crawldb', rows: rows.toSorted(byKey), facts: {kind: 'base'}},
    {slot: 'hoststate', table: 'hoststate', rows: [state]},
  ]);
  const {counters, reasons, segment} = await generated(crawl);
  assert.deepEqual(reasons, {}, 'the host does not rest for a year');
  assert.deepEqual(oddIn(counters), {clock_ahead_total: 1, scores_bounded_total: 2});
  const list = await crawl.sql<{url: string; score: number}>(
    `SELECT url, score FROM fetchlist WHERE segment = '${segment}' ORDER BY rank`,
  );
  assert.deepEqual(
    list.map(({score}) => score),
    [1, 0.5, 0, 0, -1],
  );

  await fetchSegment(crawl, segment, (url) => page(url, [`${url}/next`]));
  const report = await crawl.run(updatedb, defaultOptions(updatedb));
  assert.equal(oddIn(report.counters).scores_bounded_total, 2);
  const next = await crawl.sql<{score: number}>("SELECT score FROM crawldb WHERE url LIKE '%/next'");
  assert.ok(
    next.every(({score}) => Number.isFinite(score)),
    JSON.stringify(next),
  );
});
