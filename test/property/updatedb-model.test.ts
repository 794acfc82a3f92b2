import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {HostStatsRow} from '../../lib/schema/hostdb.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import {CrawldbModel, type ModelSegment} from '../support/crawldb-model.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, type SmallPage} from '../support/small-web.ts';

/** Any rounds over a small web that changes give the crawldb that a plain model in memory gives. */

const urls = ['a', 'b', 'c'].flatMap((host) =>
  [0, 1, 2, 3].map((n) => `http://${host}.test/${n === 0 ? '' : n}`),
);
const someUrl = fc.constantFrom(...urls);

const answers: fc.Arbitrary<SmallPage> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({
        body: fc.constantFrom('one', 'two', 'three', 'four', 'five'),
        links: fc.array(someUrl, {maxLength: 4}),
        canonical: fc.option(someUrl, {nil: undefined}),
      })
      .map(({body, links, canonical}) => page(body, links, canonical === undefined ? {} : {canonical})),
  },
  {weight: 1, arbitrary: fc.constant(page('broken', [], {parseFails: true}))},
  {
    weight: 2,
    arbitrary: fc.record({
      status: fc.constantFrom('redir_temp' as const, 'redir_perm' as const),
      reason: fc.constant('redirect' as const),
      redirect: someUrl,
    }),
  },
  {weight: 1, arbitrary: fc.constant<SmallPage>({status: 'gone', reason: 'http_404', code: 404})},
  {weight: 1, arbitrary: fc.constant<SmallPage>({status: 'gone', reason: 'robots_denied'})},
  {weight: 1, arbitrary: fc.constant<SmallPage>({status: 'retry', reason: 'timeout'})},
  {weight: 1, arbitrary: fc.constant<SmallPage>({status: 'retry', reason: 'http_503', code: 503})},
  {weight: 1, arbitrary: fc.constant<SmallPage>({status: 'skipped', reason: 'window'})},
  {weight: 1, arbitrary: fc.constant<SmallPage>({status: 'notmodified', code: 304})},
);

const rounds = fc.array(
  fc.record({
    web: fc.array(answers, {minLength: urls.length, maxLength: urls.length}),
    topN: fc.integer({min: 1, max: 6}),
    segments: fc.integer({min: 1, max: 2}),
    follow: fc.integer({min: 0, max: 2}),
    days: fc.constantFrom(0, 1, 35, 100),
    backwards: fc.boolean(),
  }),
  {minLength: 3, maxLength: 3},
);

const listOptions = defaultOptions(generate);

async function segmentRows(crawl: JobHarness, segment: string): Promise<ModelSegment> {
  return {
    captures: await crawl.sql<Capture>(`SELECT * FROM captures WHERE segment = '${segment}'`),
    parses: await crawl.sql<ParseRow>(`SELECT * FROM parse WHERE segment = '${segment}'`),
    outlinks: await crawl.sql<Outlink>(`SELECT * FROM outlinks WHERE segment = '${segment}'`),
  };
}

const order = (rows: Iterable<CrawlDatum>) =>
  [...rows]
    .map(({revision: _, inlinks: __, ...row}) => ({
      ...row,
      visit_history: row.visit_history && Buffer.from(row.visit_history),
    }))
    .sort((a, b) => (a.url < b.url ? -1 : 1));

test('any rounds give the crawldb of a plain model in memory', async (t) => {
  await fc.assert(
    fc.asyncProperty(rounds, async (list) => {
      const crawl = await jobHarness(t);
      const model = new CrawldbModel(crawl.config);
      const seeds = [urls[0]!, urls[5]!];
      await crawl.run(inject, {files: [], urls: seeds, update: false, overwrite: false});
      for (const url of seeds) model.inject(url, 1, crawl.effects.now());
      for (const {web, topN, segments, follow, days, backwards} of list) {
        const made = await crawl.run(generate, {...listOptions, topN, maxSegments: segments});
        if (made.outcome === 'done') {
          const ids = ((made.facts[0]?.segments ?? []) as {id: string}[]).map(({id}) => id);
          for (const id of ids) await fetchSegment(crawl, id, (url) => web[urls.indexOf(url)]!, {follow});
          const applied = backwards ? ids.toReversed() : ids;
          await crawl.run(updatedb, {segments: applied, unparsed: false, noAdditions: false});
          const told: ModelSegment[] = [];
          for (const id of ids) told.push(await segmentRows(crawl, id));
          model.update(told);
          assert.deepEqual(order(await crawl.crawldb()), order(model.rows.values()));
          await checkStatistics(crawl);
        }
        crawl.effects.pass(days * 86_400_000);
      }
      await checkHosts(crawl);
      await checkSeeds(crawl);
      await checkLinks(crawl);
    }),
    // A failure is reported with its seed; looking for a smaller one would take many minutes.
    {numRuns: Number(process.env.CRAWL_TEST_RUNS ?? 2), endOnFailure: true, includeErrorInReport: true},
  );
});

/** Counts of hosts, kept by differences, are what a count over the crawldb gives. */
async function checkHosts(crawl: JobHarness): Promise<void> {
  const counted = await crawl.sql(`
    SELECT host_key, count(*) AS urls,
      count(*) FILTER (status = 'unfetched') AS unfetched,
      count(*) FILTER (status IN ('fetched', 'notmodified')) AS fetched,
      count(*) FILTER (status = 'duplicate') AS duplicates,
      count(*) FILTER (status = 'gone') AS gone,
      count(*) FILTER (status IN ('redir_temp', 'redir_perm')) AS redirects
    FROM crawldb GROUP BY host_key ORDER BY host_key`);
  const kept = await crawl.sql<HostStatsRow>('SELECT * FROM hoststats ORDER BY host_key');
  assert.deepEqual(
    kept.map(({host_key, urls: known, unfetched, fetched, duplicates, gone, redirects}) => ({
      host_key,
      urls: known,
      unfetched,
      fetched,
      duplicates,
      gone,
      redirects,
    })),
    counted,
  );
}

/** So are the URLs of seeds. */
async function checkSeeds(crawl: JobHarness): Promise<void> {
  const counted = await crawl.sql(
    `SELECT seed, count(*) AS urls FROM crawldb WHERE hop_type <> 'I' GROUP BY seed ORDER BY seed`,
  );
  const kept = await crawl.sql('SELECT seed, urls FROM seedstats WHERE urls > 0 ORDER BY seed');
  assert.deepEqual(kept, counted);
}

/** The linkdb holds the links of each page's newest capture, and the crawldb the number of pages that link. */
async function checkLinks(crawl: JobHarness): Promise<void> {
  await crawl.run(invertlinks, {segments: []});
  const wrong = await crawl.sql(`
    WITH counted AS (
      SELECT target_url AS url, count(*) AS n FROM linkdb GROUP BY ALL
    )
    SELECT url, inlinks, n FROM crawldb LEFT JOIN counted USING (url) WHERE inlinks <> coalesce(n, 0)`);
  assert.deepEqual(wrong, []);
  const expected = await crawl.sql(`
    WITH newest AS (
      SELECT * FROM captures
      WHERE status IN ('success', 'redir_temp', 'redir_perm') OR (status = 'gone' AND fetch_status IS NOT NULL)
      QUALIFY row_number() OVER (PARTITION BY url ORDER BY fetch_time DESC) = 1
    )
    SELECT DISTINCT from_url AS source_url, to_url AS target_url
    FROM outlinks JOIN newest USING (segment, capture_id) WHERE newest.status = 'success' ORDER BY ALL`);
  const kept = await crawl.sql('SELECT source_url, target_url FROM linkdb ORDER BY ALL');
  assert.deepEqual(kept, expected);
}
