import assert from 'node:assert/strict';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {keptManifests} from '../../jobs/rollback/kept-manifests.ts';
import {rollback} from '../../jobs/rollback.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page} from '../support/small-web.ts';

const web = (url: string) =>
  url === 'http://one.test/' ? page('home', ['http://one.test/a', 'http://one.test/b']) : page(url);

const seed = (crawl: JobHarness) =>
  crawl.run(inject, {...defaultOptions(inject), urls: ['http://one.test/']});

async function round(crawl: JobHarness): Promise<void> {
  const {plan} = await crawl.run(generate, defaultOptions(generate));
  const segment = (await crawl.head()).segments.at(-1)!;
  assert.ok(plan !== undefined);
  await fetchSegment(crawl, segment, web);
  await crawl.run(updatedb, defaultOptions(updatedb));
}

const tables = async (crawl: JobHarness) => ({
  crawldb: (await crawl.crawldb()).map(({revision: _revision, ...row}) => row),
  captures: await crawl.sql('SELECT url, segment, status FROM captures ORDER BY ALL'),
  hoststats: await crawl.sql('SELECT * FROM hoststats ORDER BY ALL'),
  fetchlist: await crawl.sql('SELECT url, segment FROM fetchlist ORDER BY ALL'),
});

test('a rollback makes tables, segments and counts as they were, and can itself be rolled back', async (t) => {
  const crawl = await jobHarness(t);
  await seed(crawl);
  await round(crawl);
  const {manifest: before} = await crawl.head();
  const early = await tables(crawl);
  await round(crawl);
  const {manifest: after} = await crawl.head();
  const late = await tables(crawl);
  assert.notDeepEqual(late, early);

  await crawl.run(rollback, {to: before.number, force: false});
  const back = await crawl.head();
  assert.equal(back.manifest.number, after.number + 1);
  assert.deepEqual(await tables(crawl), early);
  assert.deepEqual(back.manifest.summary, before.summary);
  assert.deepEqual(back.segments, Object.keys(before.segments));

  const again = await crawl.run(rollback, {to: before.number, force: false});
  assert.equal(again.outcome, 'nothing');

  // What was open then is open again: the same URLs are selected, and the round ends as it did
  await crawl.run(rollback, {to: after.number, force: false});
  assert.deepEqual(await tables(crawl), late);
  await crawl.run(rollback, {to: before.number, force: false});
  await round(crawl);
  const urls = (rows: typeof late.crawldb) => rows.map(({url, status}) => [url, status]);
  assert.deepEqual(urls((await tables(crawl)).crawldb), urls(late.crawldb));
  assert.equal((await keptManifests(crawl.dir))[0]?.manifest, (await crawl.head()).manifest.number);
});

test('politeness, rules by hand and the history of runs stay as they are', async (t) => {
  const crawl = await jobHarness(t);
  await seed(crawl);
  const {manifest} = await crawl.head();
  await commitRows(crawl, [
    {
      slot: 'hostrules',
      table: 'hostrules',
      rows: [
        {
          url_host_name: 'one.test',
          host_key: 1n,
          min_delay_ms: null,
          blocked: true,
          max_connections: null,
          note: null,
          changed_time: new Date(0),
          hours: null,
          max_rate: null,
          max_bandwidth: null,
          applies_to: 'host',
          unblocked: null,
        },
      ],
    },
    {
      slot: 'familyrules',
      table: 'familyrules',
      rows: [{place: 'one.test', pattern: '/x/{n}', action: 'block', note: null, changed_time: new Date(0)}],
    },
  ]);
  await crawl.run(inject, {...defaultOptions(inject), urls: ['http://two.test/']});
  const runs = (await crawl.sql('FROM runs')).length;
  await crawl.run(rollback, {to: manifest.number, force: false});
  assert.deepEqual(
    (await crawl.crawldb()).map(({url}) => url),
    ['http://one.test/'],
  );
  assert.equal((await crawl.sql('FROM hostrules')).length, 1);
  assert.equal((await crawl.sql('FROM familyrules')).length, 1);
  assert.equal((await crawl.sql('FROM runs')).length, runs + 1);
});

test('a rollback that would lose captures of an unfinished fetch, or that goes nowhere, is refused', async (t) => {
  const crawl = await jobHarness(t);
  await seed(crawl);
  const {manifest} = await crawl.head();
  await crawl.run(generate, defaultOptions(generate));
  const [segment] = (await crawl.head()).segments;
  await mkdir(join(crawl.dir, 'segments', segment!, 'journal'), {recursive: true});
  await assert.rejects(
    crawl.run(rollback, {to: manifest.number, force: false}),
    /unfinished fetches would be lost/,
  );
  await crawl.run(rollback, {to: manifest.number, force: true});
  assert.deepEqual((await crawl.head()).segments, []);
  const {number} = (await crawl.head()).manifest;
  await assert.rejects(crawl.run(rollback, {to: number, force: false}), /is the present one/);
  await assert.rejects(crawl.run(rollback, {to: number + 5, force: false}), /in the future/);
  await assert.rejects(crawl.run(rollback, {to: 0, force: false}), /manifest 0 is not there/);
});
