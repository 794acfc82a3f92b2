import assert from 'node:assert/strict';
import {cp, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {merge} from '../../jobs/merge.ts';
import {mergesegs} from '../../jobs/mergesegs.ts';
import {parse} from '../../jobs/parse.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {Inlink} from '../../lib/schema/linkdb.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';
import {injectUrls} from '../support/small-round.ts';
import {fetchSegment, page} from '../support/small-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** A segment is the same one in whichever crawl it lies, and comes whole. */

const day = 86_400_000;

async function crawled(t: TestContext, url: string, startDay: number, rounds = 2): Promise<JobHarness> {
  const crawl = await jobHarness(t);
  crawl.effects.pass(startDay * day);
  await crawl.run(inject, {...defaultOptions(inject), urls: [url, 'http://both.test/']});
  for (let n = 0; n < rounds; n++) {
    await crawl.run(generate, defaultOptions(generate));
    await fetchSegment(crawl, (await crawl.head()).segments.at(-1)!, (asked) => page(`${asked} ${n}`, [url]));
    await crawl.run(updatedb, defaultOptions(updatedb));
    await crawl.run(invertlinks, defaultOptions(invertlinks));
    crawl.effects.pass(40 * day);
  }
  crawl.effects.pass(200 * day);
  return crawl;
}

/** All that a second merge must leave as it is. */
async function stateOf(crawl: JobHarness) {
  const rows = (await crawl.crawldb()).map(({revision: _, ...row}) => row);
  return {
    rows: rows.sort((a, b) => (a.url < b.url ? -1 : 1)),
    segments: (await crawl.head()).segments,
    hosts: await crawl.sql('SELECT host_key, pages_fetched, body_bytes FROM hoststats ORDER BY host_key'),
    captures: await crawl.sql('SELECT segment, url FROM captures ORDER BY ALL'),
    links: await crawl.sql('SELECT segment, source_url, target_url FROM linkdb ORDER BY ALL'),
  };
}

async function changesNothing(crawl: JobHarness, from: readonly JobHarness[], when: string): Promise<void> {
  const before = await stateOf(crawl);
  await crawl.run(merge, {from: from.map(({dir}) => dir)});
  assert.deepEqual(await stateOf(crawl), before, when);
}

test('a crawl merged again changes nothing, whatever its segments are called', async (t) => {
  const north = await crawled(t, 'http://north.test/', 0);
  const clashing = await crawled(t, 'http://south.test/', 0);
  const apart = await crawled(t, 'http://east.test/', 7);
  const from = [clashing.dir, apart.dir];
  await north.run(merge, {from});
  assert.equal((await north.head()).segments.length, 6);
  await changesNothing(north, [clashing, apart], 'again');
  await changesNothing(north, [apart], 'one of them again');

  // By way of another crawl
  const all = await jobHarness(t);
  all.effects.pass(400 * day);
  await all.run(merge, {from: [north.dir, apart.dir, clashing.dir]});
  assert.equal(
    (await all.head()).segments.length,
    6,
    'the segments of crawls that were merged before are known',
  );
  const [visits] = await all.sql(`SELECT visits FROM crawldb WHERE url = 'http://east.test/'`);
  assert.deepEqual(visits, {visits: 2});
});

test('so do crawls whose segments were merged meanwhile, here or there', async (t) => {
  const north = await crawled(t, 'http://north.test/', 0);
  const south = await crawled(t, 'http://south.test/', 7);
  await north.run(merge, {from: [south.dir]});
  const copyDir = join(await temporaryFolder(t), 'copy');
  await cp(north.dir, copyDir, {recursive: true});

  await south.run(mergesegs, defaultOptions(mergesegs));
  assert.equal((await south.head()).segments.length, 1);
  await changesNothing(north, [south], 'merged there');
  await north.run(mergesegs, defaultOptions(mergesegs));
  assert.equal((await north.head()).segments.length, 1);
  await changesNothing(north, [south], 'merged here and there');
  const before = await stateOf(north);
  await north.run(merge, {from: [copyDir]});
  assert.deepEqual((await stateOf(north)).captures, before.captures, 'a copy from before');
});

test('a merge has the whole memory that a job may have', async (t) => {
  const [south, north] = [await jobHarness(t), await jobHarness(t)];
  const keys = (n: number) => identify(`http://h${n % 97}.test/${n}`);
  const rows: Inlink[] = Array.from({length: 60_000}, (_, n) => {
    const [target, source] = [keys(n % 5000), keys(n + 5000)];
    return {
      ...{target_host_key: target.host_key, target_url_key: target.url_key, target_url: target.url},
      ...{source_host_key: source.host_key, source_url_key: source.url_key, source_url: source.url},
      ...{anchor: `${'long anchor '.repeat(20)}${n}`, rel: null, kind: 'a', links: 1, internal: false},
      ...{fetch_time: new Date(n), segment: '20260101000000', revision: 0, cut: null},
    };
  });
  await commitRows(south, [{slot: 'linkdb', table: 'linkdb', rows}]);
  const {config} = loadConfig({
    env: {},
    file: {name: 'crawl.yaml', text: 'storage:\n  memory: 72MB\n  threads: 2\n'},
  });
  const {dir, effects} = north;
  await runJob(
    merge,
    {from: [south.dir]},
    {dir, config, effects, executor: embeddedExecutor({concurrency: 1})},
  );
  assert.deepEqual(await north.sql('SELECT count(*) AS n FROM linkdb'), [{n: rows.length}]);
});

test('rows of extractors come along, and parses that were whole are', async (t) => {
  const segment = '20260101000000';
  const [south, north] = [await jobHarness(t), await jobHarness(t)];
  const file = join(south.dir, 'headings.mjs');
  await writeFile(
    file,
    `export default {
      doc: 'Headings.',
      columns: {heading: {type: 'text'}},
      *extract(page) { for (const node of page.select('h2')) yield {heading: page.text(node)}; },
    };`,
  );
  const headers = ['Content-Type: text/html'];
  for (const [crawl, url] of [
    [south, 'http://south.test/'],
    [north, 'http://north.test/'],
  ] as const) {
    await injectUrls(crawl, [url]);
    await commitFetched(crawl, segment, [{url, body: `<h2>${url}</h2>`, headers}]);
    await crawl.run(parse, {...defaultOptions(parse), with: crawl === south ? [file] : []});
    await crawl.run(updatedb, defaultOptions(updatedb));
  }
  const [own] = await south.sql('SELECT heading, url FROM headings');
  // Its list of captures gets another version there, as by a merge of segments
  await south.run(mergesegs, {...defaultOptions(mergesegs), where: 'true'});
  await north.run(merge, {from: [south.dir]});
  assert.deepEqual(await north.sql('SELECT heading, url FROM headings'), [own]);
  const segments = await north.sql(
    'SELECT segment FROM headings SEMI JOIN captures USING (segment, capture_id)',
  );
  assert.equal(segments.length, 1, 'under the name that the segment has here');
  const again = await north.run(parse, {...defaultOptions(parse), all: false, stale: true});
  assert.equal(again.outcome, 'nothing', 'all parses are whole');
});
