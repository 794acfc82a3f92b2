import assert from 'node:assert/strict';
import {test} from 'node:test';
import {compact} from '../../jobs/compact.ts';
import {statisticsFiles} from '../../jobs/crawldb/statistics.ts';
import {nextRevision} from '../../jobs/crawldb/writer.ts';
import {readStatistics} from '../../jobs/read/statistics.ts';
import {rollback} from '../../jobs/rollback.ts';
import {updatehostdb} from '../../jobs/updatehostdb.ts';
import {statisticsOf} from '../../lib/crawldb/statistics.ts';
import type {CrawldbStatsRow} from '../../lib/schema/crawldbstats.ts';
import {checkStatistics, plainStatistics} from '../support/crawldb-statistics.ts';
import {changeRows} from '../support/crawldb-steps.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {page} from '../support/small-web.ts';

/** Counts of the crawldb: what is said of them, and that they are right whoever wrote rows. */

const counted = (
  statistic: CrawldbStatsRow['statistic'],
  values: Readonly<Record<string, number>>,
): CrawldbStatsRow[] =>
  Object.entries(values).map(([value, urls]) => ({statistic, word: null, value: Number(value), urls}));
const words = (statistic: CrawldbStatsRow['statistic'], values: Readonly<Record<string, number>>) =>
  Object.entries(values).map(([word, urls]) => ({statistic, word, value: null, urls}));
const told = (counts: readonly CrawldbStatsRow[], now = 0) =>
  statisticsOf(counts, now).map(({statistic, of, value}) => `${statistic}, ${of}: ${value}`);

test('states come most first, numbers in order', () => {
  assert.deepEqual(
    told([...counted('depth', {2: 5, 0: 1, 10: 3}), ...words('status', {gone: 2, fetched: 2, unfetched: 9})]),
    [
      'status, unfetched: 9',
      'status, fetched: 2',
      'status, gone: 2',
      'depth, 0: 1',
      'depth, 2: 5',
      'depth, 10: 3',
    ],
  );
});

test('a quantile is the least value that so large a share does not exceed', () => {
  assert.deepEqual(told(counted('score', {1: 94, 0.5: 5, 2: 1})), [
    'score, least: 0.5',
    'score, 5 %: 0.5',
    'score, 25 %: 1',
    'score, 50 %: 1',
    'score, 75 %: 1',
    'score, 95 %: 1',
    'score, 99 %: 1',
    'score, mean: 0.985',
    'score, greatest: 2',
  ]);
});

test('what is due in this minute is due now', () => {
  const now = Date.UTC(2026, 0, 1, 12, 0, 30);
  const minute = now / 1000 - 30;
  const due = counted('due', {[minute - 60]: 1, [minute]: 2, [minute + 60]: 4});
  assert.deepEqual(told(due, now), [
    'due, now: 3',
    'due, earliest: 2026-01-01T11:59Z',
    'due, latest: 2026-01-01T12:01Z',
  ]);
});

test('of no rows nothing is told', () => assert.deepEqual(told([]), []));

async function crawled(t: Parameters<typeof jobHarness>[0]): Promise<JobHarness> {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/', 'http://b.test/']);
  await checkStatistics(crawl);
  for (let n = 0; n < 2; n++) {
    await round(crawl, (url) =>
      url.endsWith('gone')
        ? {status: 'gone', reason: 'http_404', code: 404}
        : page(url, [`${url}more`, 'http://a.test/gone']),
    );
    await checkStatistics(crawl);
  }
  return crawl;
}

test('rounds, a rollback and a full compaction keep them', async (t) => {
  const crawl = await crawled(t);
  const {number} = (await crawl.head()).manifest;
  await injectUrls(crawl, ['http://c.test/']);
  await checkStatistics(crawl);
  await crawl.run(rollback, {to: number, force: false});
  await checkStatistics(crawl);
  await injectUrls(crawl, ['http://d.test/']);
  await checkStatistics(crawl);
  await crawl.run(compact, {full: true});
  await checkStatistics(crawl);
});

const read = async (crawl: JobHarness, now = 0) =>
  readStatistics(await crawl.head(), crawl.config, new AbortController().signal, now);

test('what is read says what all counts would, at any time', async (t) => {
  const crawl = await crawled(t);
  const all = plainStatistics(await crawl.crawldb());
  const times = all.flatMap(({statistic, value}) => (statistic === 'due' ? [(value ?? 0) * 1000] : []));
  assert.ok(new Set(times).size > 1);
  for (const now of [...times, 0, 1e14]) {
    const {counts} = await read(crawl, now);
    assert.deepEqual(statisticsOf(counts, now), statisticsOf(all, now));
  }
});

test('a crawl that has none is counted by reading its rows, once', async (t) => {
  const crawl = await crawled(t);
  await commitRows(crawl, [{slot: 'crawldbstats', table: 'crawldbstats', rows: []}]);
  const rows = await crawl.crawldb();
  const before = await read(crawl);
  assert.equal(before.kept, false);
  assert.deepEqual(statisticsOf(before.counts, 0), statisticsOf(plainStatistics(rows), 0));
  await changeRows(crawl, [{...rows[0]!, depth: 7, score: 0.25}]);
  await checkStatistics(crawl);
  assert.equal((await read(crawl)).kept, true);
});

test('counts of older rows than the crawldb has are not believed', async (t) => {
  const crawl = await crawled(t);
  const [row] = await crawl.crawldb();
  const revision = nextRevision(await crawl.head());
  const facts = {kind: 'delta', revision, list: 'visited'};
  await commitRows(crawl, [
    {slot: 'crawldb', table: 'crawldb', rows: [{...row!, depth: 9, revision}], facts},
  ]);
  assert.equal((await statisticsFiles(await crawl.head())).length, 0);
  assert.equal((await read(crawl)).kept, false);
  await crawl.run(updatehostdb, {});
  assert.equal((await read(crawl)).kept, true);
  assert.deepEqual(
    statisticsOf((await read(crawl)).counts, 0),
    statisticsOf(plainStatistics(await crawl.crawldb()), 0),
  );
});
