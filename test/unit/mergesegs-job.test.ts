import assert from 'node:assert/strict';
import {cp} from 'node:fs/promises';
import {type TestContext, test} from 'node:test';
import {drop} from '../../jobs/drop.ts';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {mergesegs} from '../../jobs/mergesegs.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import {listParses} from '../../lib/store/parses.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, type SmallPage, type SmallWeb} from '../support/small-web.ts';

const home = 'http://a.test/';
const [same, fails, unchanged, once, emptied, between] = [
  'same',
  'fails',
  'unchanged',
  'once',
  'emptied',
  'between',
].map((path) => home + path);
const day = 86_400_000;

/** Each round the home page is another and links to the others; of those each has a fate of its own. */
const webOf =
  (round: number): SmallWeb =>
  (url): SmallPage => {
    if (url === home)
      return page(`home ${round}`, [same!, fails!, unchanged!, emptied!, between!, `${home}only/${round}`]);
    if (url === between && round === 3) return {status: 'notmodified', code: 304};
    if (url === emptied) return page(round > 2 ? '' : 'full');
    if (url === fails && round > 2) return {status: 'retry', reason: 'timeout'};
    if (url === unchanged && round > 2) return {status: 'notmodified', code: 304};
    return page(`${url} ${url === same ? '' : round}`);
  };

async function round(crawl: JobHarness, n: number): Promise<string> {
  const made = await crawl.run(generate, defaultOptions(generate));
  const segment = made.plan!.segment!;
  await fetchSegment(crawl, segment, webOf(n));
  const captures = await crawl.sql<Capture>(
    `SELECT * FROM captures WHERE segment = '${segment}' AND status = 'success' AND content_segment IS NOT NULL`,
  );
  const rows = captures.map(({content_sha256, content_digest, content_length}) => ({
    segment,
    content_sha256: content_sha256!,
    content_digest: content_digest!,
    content_length: content_length!,
    payload: Buffer.from(content_sha256!),
  }));
  await commitRows(crawl, [{slot: `segments/${segment}/content`, table: 'content', rows}]);
  await crawl.run(updatedb, defaultOptions(updatedb));
  await crawl.run(invertlinks, defaultOptions(invertlinks));
  crawl.effects.pass(60 * day);
  return segment;
}

async function rounds(t: TestContext, count: number): Promise<{crawl: JobHarness; segments: string[]}> {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...defaultOptions(inject), urls: [home, once!]});
  const segments: string[] = [];
  for (let n = 1; n <= count; n++) segments.push(await round(crawl, n));
  return {crawl, segments};
}

/** Captures, with the round in which they were made. */
const captures = async (crawl: JobHarness, segments: readonly string[]) =>
  (
    await crawl.sql<{url: string; made: string; status: string}>(
      'SELECT url, left(capture_id, 14) AS made, status FROM captures ORDER BY url, made',
    )
  ).map(({url, made, status}) => `${url.slice(home.length - 1)} ${segments.indexOf(made) + 1} ${status}`);

/** What names something that is not there. */
const dangling = (crawl: JobHarness) =>
  crawl.sql(`
    SELECT 'payload' AS what, url FROM captures c WHERE content_segment IS NOT NULL AND NOT EXISTS (
      FROM content p WHERE p.segment = c.content_segment AND p.content_digest = c.content_digest)
    UNION ALL
    SELECT 'success', url FROM crawldb r WHERE last_success_segment IS NOT NULL AND NOT EXISTS (
      FROM captures c WHERE c.segment = r.last_success_segment AND c.url = r.url AND c.status = 'success' AND c.content_segment IS NOT NULL)
    UNION ALL
    SELECT 'fetch', url FROM crawldb r WHERE fetch_segment IS NOT NULL AND NOT EXISTS (
      FROM captures c WHERE c.segment = r.fetch_segment AND c.url = r.url AND c.fetch_time = r.fetch_time)
    UNION ALL
    SELECT 'parse', url FROM parse p WHERE NOT EXISTS (FROM captures c WHERE c.capture_id = p.capture_id AND c.segment = p.segment)
    UNION ALL
    SELECT 'list', url FROM fetchlist l WHERE NOT EXISTS (
      FROM captures c WHERE c.segment = l.segment AND c.url = l.url AND c.kind = l.kind)`);

const states = async (crawl: JobHarness) =>
  (await crawl.crawldb()).map(({revision: _, fetch_segment: _f, last_success_segment: _l, ...row}) => row);
const links = (crawl: JobHarness) => crawl.sql('SELECT source_url, target_url FROM linkdb ORDER BY ALL');

async function contentBut(crawl: JobHarness, segment: string, rows: readonly Capture[]) {
  const sha = rows.find(({url}) => url === same)?.content_sha256;
  return crawl.sql<never>(
    `SELECT * FROM content WHERE segment = '${segment}' AND content_sha256 <> '${sha}'`,
  );
}

test('after three rounds', async (t) => {
  const base = await rounds(t, 3);
  /** The crawl after them, in a folder of its own: to make it again takes most of the time. */
  const copied = async (t: TestContext) => {
    const crawl = await jobHarness(t);
    await cp(base.crawl.dir, crawl.dir, {recursive: true});
    crawl.effects.pass(base.crawl.effects.now() - crawl.effects.now());
    return {crawl, segments: base.segments};
  };

  await t.test(
    'segments become one: of each URL the newest capture and the newest payload stay, and nothing points at what is gone',
    async (t) => {
      const {crawl, segments} = await copied(t);
      const [before, linked] = [await states(crawl), await links(crawl)];
      const report = await crawl.run(mergesegs, defaultOptions(mergesegs));
      await checkStatistics(crawl);
      assert.deepEqual((await crawl.head()).segments, [segments[2]]);
      const kept = await captures(crawl, segments);
      assert.deepEqual(kept, [
        '/ 3 success',
        '/between 2 success',
        '/between 3 notmodified',
        '/emptied 2 success',
        '/emptied 3 success',
        '/fails 2 success',
        '/fails 3 retry',
        '/once 3 success',
        '/only/1 3 success',
        '/only/2 3 success',
        '/same 3 success',
        '/unchanged 2 success',
        '/unchanged 3 notmodified',
      ]);
      assert.equal(report.counters.captures_kept_total, kept.length);
      assert.deepEqual(await dangling(crawl), []);
      assert.deepEqual(await states(crawl), before);
      assert.deepEqual(await links(crawl), linked);
      assert.deepEqual(
        await crawl.sql('SELECT url FROM fetchlist ORDER BY url'),
        await crawl.sql('SELECT DISTINCT url FROM captures ORDER BY url'),
      );
      assert.deepEqual(
        await crawl.sql('SELECT count(*) AS n, max(rank) AS most, min(rank) AS least FROM fetchlist'),
        [{n: 9, most: 9, least: 1}],
      );
      const [stored] = await crawl.sql<{n: number}>('SELECT count(*) AS n FROM content');
      assert.equal(stored?.n, 9);
      assert.equal((await crawl.run(mergesegs, defaultOptions(mergesegs))).outcome, 'nothing');
      assert.equal((await crawl.run(updatedb, defaultOptions(updatedb))).outcome, 'nothing');
      assert.equal((await crawl.run(invertlinks, defaultOptions(invertlinks))).outcome, 'nothing');
      // The crawl goes on
      await round(crawl, 4);
      assert.deepEqual(await dangling(crawl), []);
    },
  );

  await t.test(
    'a part of the segments: payloads that others share stay, --all keeps every capture, conditions and slices',
    async (t) => {
      const {crawl, segments} = await copied(t);
      const [first, second, third] = segments as [string, string, string];
      // The third found its copy of a page stored in the first
      const rows = await crawl.sql<Capture>(`SELECT * FROM captures WHERE segment = '${third}'`);
      const shared = rows.map((row) => (row.url === same ? {...row, content_segment: first} : row));
      await commitRows(crawl, [
        {slot: `segments/${third}/fetch`, table: 'fetch', rows: shared},
        {slot: `segments/${third}/content`, table: 'content', rows: await contentBut(crawl, third, rows)},
      ]);
      const before = await captures(crawl, segments);
      await crawl.run(mergesegs, {...defaultOptions(mergesegs), segments: [second, first], all: true});
      assert.deepEqual((await crawl.head()).segments, [second, third]);
      assert.deepEqual(await captures(crawl, segments), before);
      assert.deepEqual(await dangling(crawl), []);
      const [capture] = await crawl.sql<Capture>(
        `SELECT * FROM captures WHERE segment = '${third}' AND url = '${same}'`,
      );
      assert.equal(capture?.content_segment, second);
      // Nothing of it can be dropped by mistake
      await assert.rejects(crawl.run(drop, {segment: [second], force: true}), /refer to/);

      await assert.rejects(
        crawl.run(mergesegs, {...defaultOptions(mergesegs), where: 'no_such_column = 1'}),
        /no_such_column/,
      );
      await assert.rejects(crawl.run(mergesegs, {...defaultOptions(mergesegs), slice: 0}), /at least one/);
      const cut = await crawl.run(mergesegs, {
        ...defaultOptions(mergesegs),
        where: `NOT contains(url, '/only/') AND parse_status IS NOT NULL`,
        slice: 2,
      });
      assert.deepEqual(await captures(crawl, segments), [
        '/ 3 success',
        '/between 2 success',
        '/emptied 2 success',
        '/emptied 3 success',
        '/fails 2 success',
        '/once 3 success',
        '/same 3 success',
        '/unchanged 2 success',
      ]);
      const sizes = await crawl.sql<{segment: string; n: number}>(
        'SELECT segment, count(*) AS n FROM captures GROUP BY segment ORDER BY segment',
      );
      assert.deepEqual(
        sizes.map(({n}) => n),
        [2, 2, 2, 2],
      );
      assert.deepEqual(
        sizes.slice(0, 2).map(({segment}) => segment),
        [second, third],
      );
      assert.equal(cut.counters.captures_dropped_total, before.length - 8);
      // What the condition left out is not held any more, and asked for without validators
      assert.deepEqual(
        (await dangling(crawl)).filter(({what}) => what !== 'fetch'),
        [],
      );
      const rest = (await crawl.crawldb()).filter(({url}) => url.includes('/only/'));
      assert.deepEqual(new Set(rest.map(({last_success_segment}) => last_success_segment)), new Set([null]));
    },
  );

  await t.test(
    'a 304 goes on naming the payload that it spoke of, wherever that lies now, or none',
    async (t) => {
      const {crawl, segments: former} = await copied(t);
      const segments = [...former, await round(crawl, 4)];
      const [, second, third, fourth] = segments as [string, string, string, string];
      const version = (await crawl.head()).manifest.slots[`segments/${third}/fetch`]?.version;
      const rows = await crawl.sql<ParseRow>(`SELECT * FROM parse WHERE segment = '${third}'`);
      const facts = {fetch_version: version!};
      await commitRows(crawl, [{slot: `segments/${third}/parse/p1`, table: 'parse', rows, facts}]);
      const whole = async () =>
        (await listParses(await crawl.head(), [third])).map(({parse, complete}) => [parse, complete]);
      assert.deepEqual(await whole(), [['p1', true]]);

      await crawl.run(mergesegs, {...defaultOptions(mergesegs), segments: [second, fourth]});
      const seen = async () =>
        (await captures(crawl, segments)).filter((line) => line.startsWith('/between'));
      assert.deepEqual(await seen(), ['/between 2 success', '/between 3 notmodified', '/between 4 success']);
      assert.deepEqual(await dangling(crawl), []);
      assert.deepEqual(await whole(), [['p1', true]], 'no capture came to it');

      await crawl.run(mergesegs, {...defaultOptions(mergesegs), all: true, slice: 3});
      assert.deepEqual(await dangling(crawl), []);

      const where = `NOT (status = 'success' AND url IN ('${unchanged}', '${between}'))`;
      await crawl.run(mergesegs, {...defaultOptions(mergesegs), all: true, where});
      const left = await crawl.sql(
        `SELECT content_segment FROM captures WHERE url IN ('${unchanged}', '${between}') GROUP BY ALL`,
      );
      assert.deepEqual(left, [{content_segment: null}]);
      const wrong = await dangling(crawl);
      assert.deepEqual(
        wrong.filter(({what}) => what !== 'fetch'),
        [],
      );
    },
  );
});

test('a segment that is applied unparsed is refused beside parsed ones', async (t) => {
  const {crawl, segments} = await rounds(t, 1);
  const unparsed = (await crawl.run(generate, defaultOptions(generate))).plan!.segment!;
  await fetchSegment(crawl, unparsed, webOf(2), {parse: null});
  await crawl.run(updatedb, {...defaultOptions(updatedb), unparsed: true});
  await assert.rejects(
    crawl.run(mergesegs, defaultOptions(mergesegs)),
    (error: unknown) =>
      error instanceof CrawlError &&
      /not parsed.*: \d{14}$/.test(error.message) &&
      /crawl parse/.test(error.hint!),
  );
  assert.deepEqual((await crawl.head()).segments, [...segments, unparsed]);
});

test('what is not fetched or not applied is refused, and nothing is touched', async (t) => {
  const crawl = await jobHarness(t);
  assert.equal((await crawl.run(mergesegs, defaultOptions(mergesegs))).outcome, 'nothing');
  await crawl.run(inject, {...defaultOptions(inject), urls: [home, 'http://b.test/']});
  const made = await crawl.run(generate, {...defaultOptions(generate), topN: 1, maxSegments: 2});
  const ids = ((made.facts[0]?.segments ?? []) as {id: string}[]).map(({id}) => id);
  assert.equal(ids.length, 2);
  const unknown = {...defaultOptions(mergesegs), segments: ['20200101000000']};
  await assert.rejects(crawl.run(mergesegs, unknown), /no segment 20200101000000/);
  await fetchSegment(crawl, ids[0]!, webOf(1));
  await assert.rejects(crawl.run(mergesegs, defaultOptions(mergesegs)), /not fetched yet/);
  await fetchSegment(crawl, ids[1]!, webOf(1));
  await assert.rejects(crawl.run(mergesegs, defaultOptions(mergesegs)), /not applied yet/);
  await crawl.run(updatedb, defaultOptions(updatedb));
  await crawl.run(invertlinks, {...defaultOptions(invertlinks), segments: [ids[0]!]});
  await assert.rejects(crawl.run(mergesegs, defaultOptions(mergesegs)), /not in the linkdb/);
  assert.deepEqual((await crawl.head()).segments, ids);
});
