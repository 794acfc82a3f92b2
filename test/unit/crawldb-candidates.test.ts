import assert from 'node:assert/strict';
import {type TestContext, test} from 'node:test';
import {compact} from '../../jobs/compact.ts';
import {readCandidates} from '../../jobs/crawldb/candidates.ts';
import {nextRevision, openTaskDatabase, writeRows} from '../../jobs/crawldb/writer.ts';
import {inject} from '../../jobs/inject.ts';
import {defineJob} from '../../jobs/job.ts';
import {applyDelta} from '../../lib/crawldb/layout.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {bindTables} from '../../lib/store/views.ts';
import {identify} from '../../lib/url/keys.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** What generate may choose from, read from the head of each file, is what a scan of all rows gives. */

const now = Date.UTC(2026, 0, 1);
const day = 86_400_000;

function row(n: number, facts: Partial<CrawlDatum>): CrawlDatum {
  const found = {
    depth: 1,
    seed: null,
    tag: null,
    hopType: 'L',
    time: new Date(now - day),
    from: null,
  } as const;
  return {
    ...newRow(identify(`http://h${n % 7}.test/${n}`), {...found, score: 1, intervalS: 60}, 0),
    ...facts,
  };
}

const visited = (n: number, due: number, score: number) =>
  row(n, {
    status: 'fetched',
    score,
    fetch_time: new Date(now - 40 * day),
    next_fetch_time: new Date(due),
    visits: 1,
  });

async function database(t: TestContext, crawl: JobHarness): Promise<Database> {
  const db = await openDatabase({memoryBytes: 256e6, spillDir: await temporaryFolder(t)});
  t.after(() => db.close());
  const snapshot = await crawl.head();
  const files = {crawldb: await snapshot.files('crawldb')};
  await bindTables(db, snapshot.store, files, {asViews: true});
  return db;
}

/** Compares what is read with a scan, at several depths. */
async function checkHead(t: TestContext, crawl: JobHarness, least: number, differ: boolean): Promise<void> {
  const files = await (await crawl.head()).files('crawldb');
  const db = await database(t, crawl);
  const candidates = readCandidates(db, files, {due: now, wholeRows: 0});
  const order = 'ORDER BY score DESC, url_key, host_key';
  const all = await db.all<{url: string; score: number; status: string}>(
    `SELECT url, score, status FROM crawldb WHERE next_fetch_time <= $now ${order}`,
    {now: new Date(now)},
  );
  const depths: number[] = [];
  for (let want = least; ; want *= 4) {
    await candidates.deepen(want);
    const read = await db.all(`SELECT url, score, status FROM due_row ${order}`);
    const {complete, bound} = candidates;
    const isAbove = (score: number, key: bigint) =>
      score > bound.score || (score === bound.score && (bound.key === null || key <= bound.key));
    assert.deepEqual(
      read,
      all.filter(({status, score, url}) => status !== 'unfetched' || isAbove(score, identify(url).url_key)),
      'what is due down to the bound, and all that was fetched before',
    );
    assert.ok(complete || read.length >= want * 0.7, `${read.length} of ${want}`);
    depths.push(read.length);
    if (complete) break;
  }
  assert.equal(depths.at(-1), all.length, 'all that is due');
  if (differ) assert.ok(depths[0]! < all.length, 'the first look is not at all of them');
  await db.close();
}

for (const [title, score, differ] of [
  ['scores that differ', (n: number) => ((n * 7919) % 4001) / 4001, true],
  ['a few scores, each of many rows', (n: number) => (n * 7919) % 3, true],
  ['one score', () => 1, true],
] as const)
  test(`the head of the crawldb is exact with ${title}: in base and deltas, fetched since and raised since`, async (t) => {
    const crawl = await jobHarness(t);
    const rows = [
      ...Array.from({length: 3000}, (_, n) => row(n, {score: score(n)})),
      ...Array.from({length: 300}, (_, n) => visited(3000 + n, now + (n - 100) * day, score(n))),
    ];
    await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows, facts: {kind: 'base'}}]);
    await crawl.run(compact, {full: true});
    await checkHead(t, crawl, 200, differ);

    // Two commits over it: some were fetched, some raised, some are new
    const urls = Array.from({length: 120}, (_, n) => `http://h${n % 7}.test/${n}\tscore=${n % 4}`);
    const raised = await crawl.run(inject, {files: [], urls, update: true, overwrite: false});
    assert.equal(raised.counters.seeds_updated_total, 120);
    await crawl.run(inject, {
      files: [],
      urls: [...urls.slice(40, 80).map((line) => line.replace(/score=.*/, 'score=9')), 'http://new.test/'],
      update: true,
      overwrite: false,
    });
    await checkHead(t, crawl, 200, differ);
  });

/** A commit after which the best URLs never fetched are fetched, and due much later. */
const visitBest = (most: number) =>
  defineJob({
    name: 'visit-best',
    summary: 'Visits the best URLs of the frontier.',
    options: {},
    locks: () => [],
    async plan(_options, {snapshot}) {
      const inputs = [...(await snapshot.files('crawldb'))];
      const facts = {before: inputs, revision: nextRevision(snapshot)};
      return {
        base: snapshot.manifest.number,
        now,
        tasks: [{stage: 0, part: 0, inputs, params: facts}],
        facts,
      };
    },
    async run(task, ctx) {
      const db = await openTaskDatabase(task, ctx, {memory: 256e6}, ['crawldb']);
      await db.run(`CREATE TABLE delta AS
        SELECT * REPLACE (
          'fetched' AS status, 1 AS visits, make_timestamptz(${now * 1000}) AS fetch_time,
          make_timestamptz(${(now + 30 * day) * 1000}) AS next_fetch_time)
        FROM crawldb WHERE status = 'unfetched' ORDER BY score DESC, url_key LIMIT ${most}`);
      const files = await writeRows(db, ctx, Number(task.params?.revision));
      await db.close();
      return {files, counters: {}, reasons: {}};
    },
    next({facts}, _stage, results) {
      const before = facts?.before as readonly FileRef[];
      return {edit: {reads: [], writes: {crawldb: applyDelta(before, results[0]?.files ?? [])}}};
    },
  });

for (const [title, score] of [
  ['scores that differ', (n: number) => ((n * 7919) % 4001) / 4001],
  ['one score', () => 1],
] as const)
  test(`the first look is deep enough after rounds took the best, with ${title}`, async (t) => {
    const crawl = await jobHarness(t);
    const rows = Array.from({length: 6000}, (_, n) => row(n, {score: score(n)}));
    await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows, facts: {kind: 'base'}}]);
    await crawl.run(compact, {full: true});
    for (let round = 0; round < 3; round++) await crawl.run(visitBest(700), {});
    const files = await (await crawl.head()).files('crawldb');
    const db = await database(t, crawl);
    const candidates = readCandidates(db, files, {due: now, wholeRows: 0});
    await candidates.deepen(200);
    const [read] = await db.all<{n: number}>('SELECT count(*) AS n FROM due_row');
    assert.ok(read!.n >= 200, `${read!.n} URLs to choose 200 from`);
    assert.ok(read!.n < 3900, 'and not all that there are');
  });
