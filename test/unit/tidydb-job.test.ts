import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {tidydb} from '../../jobs/tidydb.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, type SmallWeb} from '../support/small-web.ts';

const seed = 'http://one.test/';
const day = 86_400_000;

async function round(crawl: JobHarness, web: SmallWeb): Promise<void> {
  await crawl.run(generate, defaultOptions(generate));
  await fetchSegment(crawl, (await crawl.head()).segments.at(-1)!, web);
  await crawl.run(updatedb, defaultOptions(updatedb));
}

/** Runs the job under other settings. */
function tidy(crawl: JobHarness, options: Partial<Parameters<typeof tidydb.plan>[0]>, yaml = '') {
  const {config} = loadConfig({
    env: {},
    file: {name: 'crawl.yaml', text: `storage:\n  memory: 256MB\n${yaml}`},
  });
  return runJob(
    tidydb,
    {...defaultOptions(tidydb), ...options},
    {dir: crawl.dir, config, effects: crawl.effects, executor: embeddedExecutor({concurrency: 1})},
  );
}

const states = async (crawl: JobHarness) =>
  Object.fromEntries(
    (await crawl.crawldb()).map(({url, status, reason}) => [url.slice(15), [status, reason]]),
  );

const counts = async (crawl: JobHarness) => {
  const [row] = await crawl.sql('SELECT urls, unfetched, fetched, gone FROM hoststats');
  return row;
};

test('the scope of today is asked about every row: refused ones are gone with its reason, and come back with it', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed]});
  const web: SmallWeb = (url) => (url === seed ? page('home', [`${seed}a.gif`, `${seed}b`]) : page(url));
  await round(crawl, web);
  const rules = "scope:\n  rules: ['- suffix .gif']\n";
  const report = await tidy(crawl, {filter: true}, rules);
  assert.equal(report.counters.rows_refused_total, 1);
  const refused = await states(crawl);
  assert.deepEqual(refused['/a.gif']?.[0], 'gone');
  assert.deepEqual(refused['/b'], ['unfetched', null]);
  assert.deepEqual(report.reasons, {[refused['/a.gif']![1]!]: 1});
  assert.deepEqual(await counts(crawl), {urls: 3, unfetched: 1, fetched: 1, gone: 1});
  // Never selected, however late it gets; and not forgotten by a purge, since it would be found again
  crawl.effects.pass(day * 400);
  assert.equal((await tidy(crawl, {filter: true, purge: day}, rules)).counters.rows_purged_total, 0);
  assert.equal((await tidy(crawl, {filter: true}, rules)).counters.rows_updated_total, 0);

  assert.equal((await tidy(crawl, {filter: true})).counters.rows_released_total, 1);
  assert.deepEqual((await states(crawl))['/a.gif'], ['unfetched', null]);
});

test('pages to which nothing leads any more are orphans, and are released when something does', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed]});
  let links = [`${seed}a`, `${seed}b`];
  const web: SmallWeb = (url) => (url === seed ? page(`home ${links}`, links) : page(url));
  await round(crawl, web);
  await assert.rejects(tidy(crawl, {orphans: day}), /links are not in the linkdb yet/);
  await assert.rejects(tidy(crawl, {orphans: day}, 'links:\n  internal: false\n'), /orphans cannot be told/);
  const next = async () => {
    crawl.effects.pass(day * 60);
    await round(crawl, web);
    await crawl.run(invertlinks, defaultOptions(invertlinks));
  };
  links = [`${seed}b`, `${seed}new`];
  await next();
  const report = await tidy(crawl, {orphans: day * 30});
  assert.equal(report.counters.rows_orphaned_total, 1);
  assert.deepEqual((await states(crawl))['/a'], ['orphan', null]);
  assert.deepEqual((await states(crawl))['/new'], ['unfetched', null]);

  // A seed line names it: nobody's orphan, and due
  await crawl.run(inject, {...defaultOptions(inject), urls: [`${seed}a`]});
  const [named] = await crawl.sql<{status: string; due: Date}>(
    `SELECT status, next_fetch_time AS due FROM crawldb WHERE url = '${seed}a'`,
  );
  assert.equal(named?.status, 'fetched');
  assert.ok(named!.due.getTime() <= crawl.effects.now());
});

test('links of a page to itself and links of orphans hold nothing; what one that comes back leads to comes back too', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed]});
  let links = [`${seed}list1`];
  const next = (n: number) => [`${seed}list${n}`, `${seed}list${n + 1}`, `${seed}item${n}`];
  const web: SmallWeb = (url) =>
    url === seed
      ? page(`home ${links}`, links)
      : page(url, /list[123]$/.test(url) ? next(Number(url.at(-1))) : [url]);
  const go = async (days: number) => {
    crawl.effects.pass(day * days);
    await round(crawl, web);
    await crawl.run(invertlinks, defaultOptions(invertlinks));
  };
  for (let n = 0; n < 5; n++) await go(1);
  links = [];
  await go(60);
  const orphans = async () =>
    Object.entries(await states(crawl))
      .filter(([, [status]]) => status === 'orphan')
      .map(([path]) => path)
      .sort();
  const report = await tidy(crawl, {orphans: day * 30});
  const chain = ['/item1', '/item2', '/item3', '/list1', '/list2', '/list3', '/list4'];
  assert.deepEqual(await orphans(), chain);
  assert.equal(report.counters.rows_orphaned_total, chain.length);
  assert.equal((await tidy(crawl, {orphans: day * 30})).counters.rows_updated_total, 0);

  links = [`${seed}list1`];
  crawl.effects.pass(day * 60);
  await round(crawl, web); // updatedb gives back what the page links to
  await crawl.run(invertlinks, defaultOptions(invertlinks));
  assert.equal((await tidy(crawl, {orphans: day * 365})).counters.rows_released_total, chain.length - 1);
  assert.deepEqual(await orphans(), []);
});

test('an orphan that a page links to again is what it was, and due', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed]});
  let links = [`${seed}a`];
  const web: SmallWeb = (url) => (url === seed ? page(`home ${links}`, links) : page('a text'));
  await crawl.run(inject, {...defaultOptions(inject), urls: [`${seed}longer\tscore=0.1`]});
  await round(crawl, web);
  const next = async () => {
    crawl.effects.pass(day * 60);
    await round(crawl, web);
    await crawl.run(invertlinks, defaultOptions(invertlinks));
  };
  links = [];
  await next();
  assert.equal((await tidy(crawl, {orphans: day * 30})).counters.rows_orphaned_total, 1);
  links = [`${seed}a`];
  await next();
  // By updatedb, as soon as a page links to it
  const [released] = await crawl.sql<{status: string; reason: string | null; due: Date}>(
    `SELECT status, reason, next_fetch_time AS due FROM crawldb WHERE url = '${seed}a'`,
  );
  assert.deepEqual([released?.status, released?.reason], ['fetched', null]);
  assert.equal((await states(crawl))['/longer']?.[0], 'duplicate', 'it is the page of two that stays');
  assert.ok(released!.due.getTime() <= crawl.effects.now());
  assert.equal((await tidy(crawl, {orphans: day * 365})).counters.rows_released_total, 0);
});

test('what is long gone is forgotten; seeds, refusals and what is young are not', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed, 'http://two.test/']});
  const web: SmallWeb = (url) =>
    url === seed
      ? page('home', [`${seed}gone`, `${seed}denied`, `${seed}fine`])
      : url.endsWith('/denied')
        ? {status: 'gone', reason: 'robots_denied'}
        : url.endsWith('/fine')
          ? page('fine')
          : {status: 'gone', code: 404, reason: 'http_404'};
  await round(crawl, web);
  crawl.effects.pass(1000);
  await round(crawl, web);
  await crawl.run(invertlinks, defaultOptions(invertlinks));
  const inlinks = async () =>
    crawl.sql("SELECT url, inlinks FROM crawldb WHERE inlinks > 0 AND url NOT LIKE '%gone' ORDER BY url");
  const before = await inlinks();
  assert.equal((await tidy(crawl, {purge: day})).counters.rows_purged_total, 0);
  crawl.effects.pass(day * 2);
  const report = await tidy(crawl, {purge: day});
  assert.equal(report.counters.rows_purged_total, 1);
  await checkStatistics(crawl);
  assert.deepEqual(Object.keys(await states(crawl)).sort(), ['/', '/', '/denied', '/fine'].slice(1));
  assert.deepEqual(await inlinks(), before);
  const [hosts] = await crawl.sql<{urls: number; gone: number}>(
    'SELECT sum(urls)::INTEGER AS urls, sum(gone)::INTEGER AS gone FROM hoststats',
  );
  assert.deepEqual(hosts, {urls: 4, gone: 2});
  const seedUrls = 'SELECT seed, urls FROM seedstats WHERE urls > 0';
  assert.deepEqual(await crawl.sql(seedUrls), [{seed, urls: 2}]);
  // Seen again it is a new URL
  crawl.effects.pass(day * 60);
  await round(crawl, web);
  assert.deepEqual((await states(crawl))['/gone'], ['unfetched', null]);
  assert.deepEqual(await crawl.sql(seedUrls), [{seed, urls: 3}]);
});

test('a URL that is forgotten and found again has the inlinks that the linkdb tells of', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed]});
  const unknown = `${seed}unknown`;
  let links = [`${seed}g`];
  const web: SmallWeb = (url) =>
    url === seed ? page(`home ${links}`, links) : {status: 'gone', code: 404, reason: 'http_404'};
  const next = async (noAdditions = false) => {
    crawl.effects.pass(day * 60);
    await crawl.run(generate, defaultOptions(generate));
    await fetchSegment(crawl, (await crawl.head()).segments.at(-1)!, web);
    await crawl.run(updatedb, {...defaultOptions(updatedb), noAdditions});
    await crawl.run(invertlinks, defaultOptions(invertlinks));
  };
  const inlinks = async () =>
    Object.fromEntries((await crawl.crawldb()).map((row) => [row.url.slice(seed.length), row.inlinks]));
  await next();
  links = [`${seed}g`, unknown];
  await next(true);
  crawl.effects.pass(day * 2);
  assert.equal((await tidy(crawl, {purge: day})).counters.rows_purged_total, 1);
  assert.deepEqual(await inlinks(), {'': 0});
  await crawl.run(inject, {...defaultOptions(inject), urls: [unknown]});
  assert.deepEqual(await inlinks(), {'': 0, unknown: 1});
  await next();
  assert.deepEqual(await inlinks(), {'': 0, g: 1, unknown: 1});
  links = [];
  await next();
  assert.deepEqual(await inlinks(), {'': 0, g: 0, unknown: 0});
});

test('duplicates of a page that upkeep takes out are pages again, and what it gives back is a duplicate again', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [seed]});
  const copies = [`${seed}a`, `${seed}copy`, `${seed}copy/more`];
  const web: SmallWeb = (url) => (url === seed ? page('home', copies) : page('the same'));
  await round(crawl, web);
  await round(crawl, web);
  assert.deepEqual(
    (await crawl.crawldb()).map(({url, status, duplicate_of}) => [url, status, duplicate_of]).sort(),
    [
      [seed, 'fetched', null],
      [`${seed}a`, 'fetched', null],
      [`${seed}copy`, 'duplicate', `${seed}a`],
      [`${seed}copy/more`, 'duplicate', `${seed}a`],
    ],
  );
  await tidy(crawl, {filter: true}, "scope:\n  rules: ['- regex /a$']\n");
  assert.equal((await states(crawl))['/a']?.[0], 'gone');
  assert.deepEqual((await states(crawl))['/copy'], ['fetched', null]);
  const standing = async () =>
    (await crawl.crawldb()).find(({url}) => url === `${seed}copy/more`)?.duplicate_of;
  assert.equal(await standing(), `${seed}copy`);
  assert.deepEqual(await counts(crawl), {urls: 4, unfetched: 0, fetched: 2, gone: 1});

  await tidy(crawl, {filter: true});
  assert.deepEqual((await states(crawl))['/a'], ['fetched', null]);
  assert.deepEqual((await states(crawl))['/copy'], ['duplicate', 'duplicate']);
  assert.equal(await standing(), `${seed}a`);
});

test('near duplicates of a page that is forgotten are pages again', async (t) => {
  const crawl = await jobHarness(t);
  const found = {score: 1, depth: 1, seed, tag: null, hopType: 'L', from: seed} as const;
  const row = (url: string, changes: Partial<CrawlDatum>) => ({
    ...newRow(identify(url), {...found, time: new Date(crawl.effects.now() - 100 * day), intervalS: 3600}, 1),
    ...changes,
  });
  const rows = [
    row(`${seed}best`, {
      status: 'gone',
      reason: 'http_404',
      fetch_time: new Date(crawl.effects.now() - 90 * day),
    }),
    row(`${seed}near`, {
      status: 'duplicate',
      duplicate_kind: 'near',
      duplicate_of: `${seed}best`,
      simhash: 1n,
    }),
    row(`${seed}like`, {status: 'fetched', duplicate_kind: 'near', similar_to: `${seed}near`, simhash: 2n}),
  ];
  await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows, facts: {kind: 'base'}}]);
  await tidy(crawl, {purge: day});
  assert.deepEqual(
    (await crawl.crawldb()).map(({url, status, duplicate_kind}) => [url, status, duplicate_kind]).sort(),
    [
      [`${seed}like`, 'fetched', 'near'],
      [`${seed}near`, 'fetched', null],
    ],
  );
});
