import assert from 'node:assert/strict';
import {type TestContext, test} from 'node:test';
import fc from 'fast-check';
import {compact} from '../../jobs/compact.ts';
import {compactionPlan} from '../../lib/crawldb/compaction.ts';
import {bucketsOf, filesOfHosts, isDelta, oneHost} from '../../lib/crawldb/layout.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import {bindTables} from '../../lib/store/views.ts';
import {identify} from '../../lib/url/keys.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {changeInlinks, changeRows, compactBy} from '../support/crawldb-steps.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** Commits and compactions of any kind in any order give the rows that a plain map gives; compacted in full, the same bytes. */

const time = Date.UTC(2026, 0, 1);
const urls = Array.from({length: 60}, (_, n) => `http://h${n % 12}.test/${n}`);

function row(n: number, state: number): CrawlDatum {
  const found = {depth: 1, seed: null, tag: null, hopType: 'L', time: new Date(time), from: null} as const;
  const fresh = newRow(identify(urls[n]!), {...found, score: state % 5, intervalS: 60}, 0);
  if (state < 6) return fresh;
  const fetched = {status: 'fetched', fetch_time: new Date(time), visits: state} as const;
  return {...fresh, ...fetched, next_fetch_time: new Date(time + state * 86_400_000)};
}

const someRows = fc.array(fc.tuple(fc.nat({max: urls.length - 1}), fc.nat({max: 12})), {
  minLength: 1,
  maxLength: 40,
});
const steps = fc.array(
  fc.oneof(
    {weight: 4, arbitrary: someRows.map((rows) => ({kind: 'rows' as const, rows}))},
    {weight: 2, arbitrary: someRows.map((rows) => ({kind: 'links' as const, rows}))},
    {weight: 3, arbitrary: fc.constant({kind: 'compact' as const})},
  ),
  {minLength: 10, maxLength: 10},
);

/** Buckets of a few rows, a few at a time, deltas merged soon: everything happens in a short test. */
const rule = {maxShare: 0.3, minRows: 4, maxRevisions: 2, smallRows: 0, bucketRows: 8, maxBuckets: 0.3};

/** Keys in order, rows without what is no part of their state. */
const plain = (rows: readonly CrawlDatum[]) =>
  rows.map(({revision: _, ...rest}) => rest).sort((a, b) => (a.url < b.url ? -1 : 1));

/** The table, the rows that jobs look up by key, and those of one host or one bucket. */
async function check(
  t: TestContext,
  crawl: JobHarness,
  model: ReadonlyMap<string, CrawlDatum>,
): Promise<void> {
  const expected = plain([...model.values()]);
  assert.deepEqual(plain(await crawl.crawldb()), expected);
  const snapshot = await crawl.head();
  const files = await snapshot.files('crawldb');
  const db = await openDatabase({memoryBytes: 256e6, threads: 1, spillDir: await temporaryFolder(t)});
  try {
    await bindTables(db, snapshot.store, {crawldb: files}, {asViews: true});
    await db.run('CREATE TABLE asked AS SELECT host_key, url_key FROM crawldb WHERE url_key % 2 = 0');
    const found = await db.all<{url: string; status: string}>(
      `SELECT url, status FROM crawldb_of('asked') ORDER BY url`,
    );
    assert.deepEqual(
      found,
      expected.filter(({url_key}) => url_key % 2n === 0n).map(({url, status}) => ({url, status})),
    );
    const inlinks = await snapshot.files('inlinks');
    const [bucket] = bucketsOf(files);
    const host = oneHost(identify(urls[0]!).host_key);
    for (const some of [host, bucket!]) {
      await bindTables(db, snapshot.store, {crawldb: files, inlinks}, {asViews: true, hosts: some});
      const theirs = expected.filter(({host_key}) => some.first <= host_key && host_key <= some.last);
      assert.deepEqual(plain(await db.all<CrawlDatum>('FROM crawldb')), theirs);
      const keys = await db.all<{url: string}>(`SELECT url FROM crawldb_of('crawldb') ORDER BY url`);
      assert.deepEqual(
        keys.map(({url}) => url),
        theirs.map(({url}) => url),
      );
    }
    const opened = filesOfHosts(files, host).filter((file) => !isDelta(file));
    assert.ok(new Set(opened.map(({facts}) => facts?.bucket)).size <= 1, 'one bucket of the base is opened');
  } finally {
    await db.close();
  }
}

const digests = async (crawl: JobHarness) =>
  (await (await crawl.head()).files('crawldb')).map(({sha256, facts}) => [
    facts?.list,
    facts?.bucket,
    sha256,
  ]);

const keysOf = (url: string) => {
  const {host_key, url_key} = identify(url);
  return {host_key, url_key};
};

/** A life in which buckets are split and deltas merged, so that no chance leaves that out. */
const all = (state: number) => ({
  kind: 'rows' as const,
  rows: urls.map((_, n): [number, number] => [n, state]),
});
const few = (n: number) => ({kind: 'rows' as const, rows: [[n, 8] as [number, number]]});
const example = [
  {kind: 'links' as const, rows: [[3, 9] as [number, number], [50, 7] as [number, number]]},
  all(2),
  {kind: 'compact' as const},
  few(1),
  {kind: 'links' as const, rows: [[3, 1] as [number, number]]},
  few(2),
  few(3),
  {kind: 'compact' as const},
  all(7),
  {kind: 'compact' as const},
];

test('any commits and compactions give the rows of a map, and in full the same bytes', async (t) => {
  let split = 0;
  let merged = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const crawl = await jobHarness(t);
      const model = new Map<string, CrawlDatum>();
      const links = new Map<string, number>();
      for (const step of list) {
        if (step.kind === 'rows') {
          const rows = new Map(step.rows.map(([n, state]) => [urls[n]!, row(n, state)]));
          await changeRows(crawl, [...rows.values()]);
          for (const [url, one] of rows) model.set(url, one);
        } else if (step.kind === 'links') {
          const by = new Map(step.rows.map(([n, by]) => [n, by - 5]));
          await changeInlinks(
            crawl,
            [...by].map(([n, inlinks]) => ({...keysOf(urls[n]!), inlinks})),
          );
          for (const [n, inlinks] of by) links.set(urls[n]!, (links.get(urls[n]!) ?? 0) + inlinks);
        } else await compactBy(crawl, (files) => compactionPlan(files, rule));
        if (model.size > 0) await checkStatistics(crawl);
        const files = await (await crawl.head()).files('crawldb');
        split += Number(bucketsOf(files).length > 1);
        merged += Number(files.some((file) => isDelta(file) && file.facts?.oldest !== undefined));
      }
      const state = new Map([...model].map(([url, one]) => [url, {...one, inlinks: links.get(url) ?? 0}]));
      await check(t, crawl, state);
      await crawl.run(compact, {full: true});
      await check(t, crawl, state);
      if (model.size > 0) await checkStatistics(crawl);

      const other = await jobHarness(t); // the same rows at once, in another order
      await changeRows(other, [...model.values()].reverse());
      await changeInlinks(
        other,
        [...links].map(([url, inlinks]) => ({...keysOf(url), inlinks})),
      );
      await other.run(compact, {full: true});
      assert.deepEqual(await digests(crawl), await digests(other));
    }),
    {
      numRuns: Number(process.env.CRAWL_TEST_RUNS ?? 2),
      endOnFailure: true,
      includeErrorInReport: true,
      examples: [[example]],
    },
  );
  assert.ok(split > 0 && merged > 0, `buckets were split ${split} times, deltas merged ${merged} times`);
});
