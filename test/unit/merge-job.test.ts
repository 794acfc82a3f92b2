import assert from 'node:assert/strict';
import {cp} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {merge} from '../../jobs/merge.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, type SmallWeb} from '../support/small-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const day = 86_400_000;

const web: SmallWeb = (url) =>
  url.endsWith('.test/') ? page(url, [`${url}a`, 'http://both.test/']) : page(url, ['http://both.test/']);

async function round(crawl: JobHarness, answers: SmallWeb = web): Promise<void> {
  await crawl.run(generate, defaultOptions(generate));
  const segment = (await crawl.head()).segments.at(-1)!;
  await fetchSegment(crawl, segment, answers);
  await crawl.run(updatedb, defaultOptions(updatedb));
  await crawl.run(invertlinks, defaultOptions(invertlinks));
}

async function crawlOf(t: TestContext, ...urls: string[]): Promise<JobHarness> {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls});
  return crawl;
}

test('two crawls become one: URLs, links, segments of one name, counts; again changes nothing', async (t) => {
  const north = await crawlOf(t, 'http://north.test/', 'http://both.test/');
  const south = await crawlOf(t, 'http://south.test/', 'http://both.test/');
  await round(north);
  await round(south);
  south.effects.pass(86_400_000 * 40);
  await round(south, (url) =>
    url === 'http://both.test/' ? {status: 'gone', code: 404, reason: 'http_404'} : web(url),
  );
  north.effects.pass(86_400_000 * 41);
  const [northId] = (await north.head()).segments;
  assert.deepEqual((await south.head()).segments[0], northId, 'the test needs a clash of names');

  const report = await north.run(merge, {from: [south.dir]});
  await checkStatistics(north);
  const rows = new Map((await north.crawldb()).map((row) => [row.url, row]));
  assert.deepEqual([...rows.keys()].sort(), [
    'http://both.test/',
    'http://both.test/a',
    'http://north.test/',
    'http://north.test/a',
    'http://south.test/',
    'http://south.test/a',
  ]);
  assert.equal(report.counters.rows_added_total, 2);
  const both = rows.get('http://both.test/')!;
  // The south saw it last, gone; what was known of its success stays, and visits are added up
  assert.deepEqual([both.status, both.reason, both.visits], ['gone', 'http_404', 2]);
  assert.ok(both.last_success_time !== null);

  const segments = (await north.head()).segments;
  assert.equal(segments.length, 3);
  const captures = await north.sql<{segment: string; url: string}>('SELECT segment, url FROM captures');
  assert.equal(captures.length, 2 + (await south.sql('FROM captures')).length);
  assert.deepEqual([...new Set(captures.map(({segment}) => segment))].sort(), [...segments]);
  // What the crawldb refers to is there
  const dangling = await north.sql(
    `FROM crawldb c WHERE last_success_segment IS NOT NULL AND NOT EXISTS (
      FROM captures f WHERE f.segment = c.last_success_segment AND f.url = c.url)`,
  );
  assert.deepEqual(dangling, []);
  const [links] = await north.sql<{n: number; sources: number}>(
    `SELECT count(*) AS n, sum(inlinks)::INTEGER AS sources FROM crawldb JOIN linkdb ON url = target_url WHERE target_url = 'http://both.test/'`,
  );
  const [inlinks] = await north.sql<{n: number}>(
    `SELECT count(DISTINCT source_url) AS n FROM linkdb WHERE target_url = 'http://both.test/'`,
  );
  assert.equal(rows.get('http://both.test/')?.inlinks, inlinks?.n);
  assert.ok(links!.n > 1);
  const [hosts] = await north.sql<{urls: number; fetched: number}>(
    'SELECT sum(urls)::INTEGER AS urls, sum(pages_fetched)::INTEGER AS fetched FROM hoststats',
  );
  assert.equal(hosts?.urls, rows.size);
  assert.equal((await north.head()).manifest.summary.urls, rows.size);
  assert.equal((await north.sql(`FROM seeds WHERE text = 'http://south.test/'`)).length, 1);

  const before = await north.crawldb();
  const again = await north.run(merge, {from: [south.dir]});
  assert.equal(again.counters.rows_added_total, 0);
  const plain = ({revision: _revision, ...row}: (typeof before)[number]) => row;
  assert.deepEqual((await north.crawldb()).map(plain), before.map(plain));
  assert.deepEqual((await north.head()).segments, segments);

  // The crawl goes on
  north.effects.pass(86_400_000 * 80);
  await round(north);
});

test('links to URLs that no crawl has as a row count when it becomes one', async (t) => {
  const [north, south] = [await crawlOf(t, 'http://north.test/'), await crawlOf(t, 'http://south.test/')];
  const target = 'http://target.test/';
  for (const crawl of [north, south]) {
    await crawl.run(generate, defaultOptions(generate));
    await fetchSegment(crawl, (await crawl.head()).segments.at(-1)!, (url) => page(url, [target]));
    await crawl.run(updatedb, {...defaultOptions(updatedb), noAdditions: true});
    await crawl.run(invertlinks, defaultOptions(invertlinks));
  }
  await north.run(merge, {from: [south.dir]});
  await north.run(inject, {...defaultOptions(inject), urls: [target]});
  const [row] = (await north.crawldb()).filter(({url}) => url === target);
  assert.equal(row?.inlinks, 2);
});

test('links that came with a crawl go when their page is told anew; its rules by hand and its seeds’ counts come along', async (t) => {
  const south = await crawlOf(t, 'http://south.test/');
  for (let days = 1; days <= 3; days++) {
    await round(south, () => page(`${days}`, [`http://south.test/v${days}`]));
    south.effects.pass(86_400_000 * 40);
  }
  await commitRows(south, [
    {
      slot: 'familyrules',
      table: 'familyrules',
      rows: [
        {place: 'south.test', pattern: '/v{n}', action: 'release', note: 'ours', changed_time: new Date(0)},
      ],
    },
  ]);
  const north = await crawlOf(t, 'http://north.test/');
  north.effects.pass(86_400_000 * 200);
  await north.run(merge, {from: [south.dir]});
  assert.deepEqual(await north.sql('SELECT note FROM familyrules'), [{note: 'ours'}]);
  const seedCounts = 'SELECT seed, urls, pages_fetched FROM seedstats ORDER BY seed';
  assert.deepEqual(await north.sql(seedCounts), await south.sql(seedCounts));
  await round(north, () => page('new', ['http://south.test/new']));
  const targets = await north.sql<{target_url: string}>(
    `SELECT target_url FROM linkdb WHERE source_url = 'http://south.test/'`,
  );
  assert.deepEqual(targets, [{target_url: 'http://south.test/new'}]);
});

test('a page that was told last without links has none, wherever its older links stand', async (t) => {
  const url = 'http://both.test/';
  const north = await crawlOf(t, url);
  await round(north, () => page('with links', ['http://x.test/']));
  const south = await crawlOf(t, url);
  south.effects.pass(day);
  await round(south, () => page('without'));
  const told = 'SELECT source_url_key, fetch_time FROM linksources';
  const last = await south.sql(told);
  assert.equal(last.length, 1);
  await north.run(merge, {from: [south.dir]});
  assert.deepEqual(await north.sql('SELECT source_url, target_url FROM linkdb'), []);
  assert.deepEqual(await north.sql(told), last);
  const x = (await north.crawldb()).find(({url}) => url === 'http://x.test/');
  assert.equal(x?.inlinks, 0);
});

test('of rows that become one a fixed interval stays, and the history of visits is that of the newest success', async (t) => {
  const [north, south] = [await jobHarness(t), await jobHarness(t)];
  const row = (days: number, changes: Partial<CrawlDatum>): CrawlDatum => {
    const time = new Date(days * day);
    const found = {score: 1, depth: 0, seed: null, tag: null, hopType: 'I', time, from: null} as const;
    const visited = {status: 'fetched', fetch_time: time} as const;
    return {...newRow(identify('http://both.test/'), {...found, intervalS: 3600}, 1), ...visited, ...changes};
  };
  const success = (days: number) => ({
    last_success_time: new Date(days * day),
    visit_history: Uint8Array.of(days),
    change_rate: days,
    hints_followed: days,
    hints_right: days,
  });
  const put = (crawl: JobHarness, rows: readonly CrawlDatum[]) =>
    commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows, facts: {kind: 'base'}}]);
  await put(north, [row(1, {...success(1), fixed_interval: true, fetch_interval_s: 60, visits: 1})]);
  const other = await jobHarness(t);
  await put(other, [row(3, {last_success_time: null, retries: 1})]);
  await put(south, [row(2, {...success(2), visits: 2, history_frozen: true})]);
  await north.run(merge, {from: [other.dir, south.dir]});
  const [one] = await north.crawldb();
  assert.deepEqual(
    [one?.fixed_interval, one?.fetch_interval_s, one?.fetch_time, one?.retries, one?.visits],
    [true, 60, new Date(3 * day), 1, 3],
  );
  const {last_success_time, visit_history, change_rate, hints_followed, hints_right} = one!;
  const history = visit_history === null ? null : new Uint8Array(visit_history);
  assert.deepEqual(
    {last_success_time, visit_history: history, change_rate, hints_followed, hints_right},
    success(2),
  );
  assert.equal(one?.history_frozen, true);
});

test('a copy of the crawl brings what it did since, and nothing twice', async (t) => {
  const crawl = await crawlOf(t, 'http://north.test/');
  await round(crawl);
  const copyDir = join(await temporaryFolder(t), 'copy');
  await cp(crawl.dir, copyDir, {recursive: true});
  const before = await crawl.crawldb();
  await crawl.run(merge, {from: [copyDir]});
  const plain = ({revision: _revision, ...row}: (typeof before)[number]) => row;
  assert.deepEqual((await crawl.crawldb()).map(plain), before.map(plain));
  assert.equal((await crawl.head()).segments.length, 1);
});

test('where a merge takes out a page that others repeat, the next takes its place; pages that are equal now are told', async (t) => {
  const [first, second, third] = ['http://both.test/', 'http://both.test/copy', 'http://both.test/other'];
  const seeds = [first, second, third] as const;
  const pages: SmallWeb = (url) => page(url === third ? 'other' : 'same');
  const north = await crawlOf(t, ...seeds);
  await round(north, pages);
  const southern = 'http://south.test/long/copy/of/other';
  const south = await crawlOf(t, ...seeds, southern);
  south.effects.pass(40 * day);
  await round(south, (url) =>
    url === first
      ? {status: 'gone', code: 404, reason: 'http_404'}
      : url === second
        ? pages(url)
        : page('other'),
  );
  const standing = async () =>
    Object.fromEntries((await north.crawldb()).map((row) => [row.url, [row.status, row.duplicate_of]]));
  assert.deepEqual(
    (await standing())[second],
    ['duplicate', first],
    'the test needs one that repeats the other',
  );
  await north.run(merge, {from: [south.dir]});
  assert.deepEqual(await standing(), {
    [first]: ['gone', null],
    [second]: ['fetched', null],
    [third]: ['fetched', null],
    [southern]: ['duplicate', third],
  });
  await checkStatistics(north);
});

test('a duplicate that only this crawl has is a page when the others have lost what it repeats', async (t) => {
  const [kept, copy] = ['http://both.test/', 'http://both.test/copy'];
  const north = await crawlOf(t, kept, copy);
  await round(north, () => page('same'));
  const south = await crawlOf(t, kept);
  south.effects.pass(40 * day);
  await round(south, () => page('another text'));
  await north.run(merge, {from: [south.dir]});
  const rows = new Map((await north.crawldb()).map((row) => [row.url, row]));
  assert.deepEqual([rows.get(copy)?.status, rows.get(copy)?.duplicate_of], ['fetched', null]);
});

test('what cannot be merged is refused before anything is touched', async (t) => {
  const crawl = await crawlOf(t, 'http://north.test/');
  await assert.rejects(crawl.run(merge, {from: []}), /name the crawls/);
  await assert.rejects(crawl.run(merge, {from: [crawl.dir]}), /is the crawl itself/);
  await assert.rejects(crawl.run(merge, {from: [join(crawl.dir, 'none')]}), /no crawl in/);
  const other = await jobHarness(t, 'url:\n  strip_www: true\n');
  await other.run(inject, {...defaultOptions(inject), urls: ['http://www.south.test/']});
  await assert.rejects(crawl.run(merge, {from: [other.dir]}), /another form/);
  // A segment that was never begun is left where it is
  const south = await crawlOf(t, 'http://south.test/');
  await south.run(generate, defaultOptions(generate));
  await crawl.run(merge, {from: [south.dir]});
  assert.deepEqual((await crawl.head()).segments, []);
  assert.equal((await crawl.crawldb()).length, 2);
});
