import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {rekey} from '../../jobs/rekey.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {runWith} from '../support/run-with.ts';
import {fetchSegment, page, type SmallPage} from '../support/small-web.ts';

const listOptions = defaultOptions(generate);
const seedOptions = {files: [], update: false, overwrite: false};
const home = 'http://a.test/';

async function round(crawl: JobHarness, pages: Readonly<Record<string, SmallPage>>): Promise<void> {
  const segment = (await crawl.run(generate, listOptions)).plan!.segment!;
  await fetchSegment(crawl, segment, (url) => pages[url] ?? {status: 'gone', reason: 'http_404', code: 404});
  await crawl.run(updatedb, {segments: [], unparsed: false, noAdditions: false});
  await crawl.run(invertlinks, {segments: []});
}

const byUrl = (rows: readonly CrawlDatum[]) => Object.fromEntries(rows.map((row) => [row.url, row]));
const codeIs = (code: string) => (error: unknown) => error instanceof CrawlError && error.code === code;

const stripRef = 'url:\n  strip_parameters: [ref]\nscope:\n  rules: ["- regex /old$"]\n';

test('other url settings are refused until rekey has given all URLs their new form and merged rows that become one', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: [home, 'http://b.test/\tscore=3']});
  const pages = {
    [home]: page('home', [
      `${home}p?ref=1`,
      `${home}p?ref=2`,
      `${home}q`,
      `${home}old?ref=9`,
      `${home}c?ref=4`,
    ]),
    'http://b.test/': page('b', [`${home}p?ref=2`, `${home}p`]),
    [`${home}p?ref=1`]: page('one', [`${home}q`], {etag: '"1"'}),
    [`${home}q`]: page('q', [`${home}p?ref=2`]),
    [`${home}c?ref=4`]: page('c', [], {canonical: `${home}c?ref=5`}),
  };
  await round(crawl, pages);
  await round(crawl, pages);
  const before = await crawl.crawldb();
  const old = byUrl(before);
  assert.equal(before.length, 8);

  await assert.rejects(
    runWith(crawl, stripRef, inject, {...seedOptions, urls: [`${home}new`]}),
    codeIs('URL_POLICY_CHANGED'),
  );
  const report = await runWith(crawl, stripRef, rekey, {});
  await checkStatistics(crawl);
  assert.deepEqual(report.counters, {
    urls_rekeyed_total: 4,
    urls_merged_total: 2,
    rows_refused_total: 1,
    links_total: 7,
  });
  assert.deepEqual(report.reasons, {scope_rule: 1});

  const rows = await crawl.crawldb();
  const now = byUrl(rows);
  assert.deepEqual(Object.keys(now).sort(), [
    home,
    `${home}c`,
    `${home}old`,
    `${home}p`,
    `${home}q`,
    'http://b.test/',
  ]);
  for (const {url, host_key, url_key} of rows)
    assert.deepEqual(
      {host_key, url_key},
      {host_key: identify(url).host_key, url_key: identify(url).url_key},
      url,
    );
  const p = now[`${home}p`]!;
  const [one, two, three] = [old[`${home}p?ref=1`]!, old[`${home}p?ref=2`]!, old[`${home}p`]!];
  const newest = [one, two, three].sort((a, b) => b.fetch_time!.getTime() - a.fetch_time!.getTime())[0]!;
  assert.deepEqual(
    [p.status, p.fetch_time, p.next_fetch_time, p.fetch_status],
    [newest.status, newest.fetch_time, newest.next_fetch_time, newest.fetch_status],
  );
  assert.deepEqual(
    [p.last_success_time, p.signature, p.etag, p.visits, p.depth, p.score],
    [one.fetch_time, one.signature, null, 1, 1, 3 * 0.85],
  );
  assert.deepEqual(
    [p.discovered_time, p.discovered_from],
    [one.discovered_time.getTime() < three.discovered_time.getTime() ? one : three].flatMap((row) => [
      row.discovered_time,
      row.discovered_from,
    ]),
  );
  const refused = now[`${home}old`]!;
  assert.deepEqual(
    [refused.status, refused.reason, refused.next_fetch_time.getUTCFullYear()],
    ['gone', 'scope_rule', 9999],
  );
  assert.equal(now[`${home}c`]!.canonical_url, `${home}c`);
  assert.deepEqual(
    {...now[`${home}q`], revision: 0, inlinks: 0},
    {...old[`${home}q`], revision: 0, inlinks: 0},
  );

  const links = await crawl.sql<{source_url: string; links: number}>(
    `SELECT source_url, links FROM linkdb WHERE target_url = '${home}p' ORDER BY source_url`,
  );
  assert.deepEqual(
    links.map(({source_url, links}) => [source_url, links]),
    [
      [home, 2],
      [`${home}q`, 1],
      ['http://b.test/', 2],
    ],
  );
  assert.equal(p.inlinks, 3);
  assert.deepEqual(
    await crawl.sql('SELECT url_host_name, urls, gone, pages_fetched FROM hoststats ORDER BY ALL'),
    [
      {url_host_name: 'a.test', urls: 5, gone: newest.status === 'gone' ? 3 - 1 : 1, pages_fetched: 4},
      {url_host_name: 'b.test', urls: 1, gone: 0, pages_fetched: 1},
    ],
  );
  const {manifest} = await crawl.head();
  assert.equal(manifest.summary.urls, 6);

  // The crawl goes on with the new settings: a known page is known, and what is refused is not asked for.
  const again = await runWith(crawl, stripRef, inject, {...seedOptions, urls: [`${home}q?ref=7`]});
  assert.equal(again.counters.seeds_known_total, 1);
  assert.equal((await runWith(crawl, stripRef, rekey, {})).outcome, 'nothing');
  await runWith(crawl, stripRef, generate, {...listOptions, addDays: 1000});
  const listed = await crawl.sql<{url: string}>(
    'SELECT url FROM fetchlist WHERE segment = (SELECT max(segment) FROM fetchlist) ORDER BY url',
  );
  assert.ok(!listed.some(({url}) => url === `${home}old`));
  assert.equal(listed.length, 5);
  await assert.rejects(runWith(crawl, '', rekey, {}), codeIs('SEGMENT_STATE'));
});

test('links to URLs that are no rows yet count when they become rows, under their new form', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: [`${home}?ref=1`]});
  const segment = (await crawl.run(generate, listOptions)).plan!.segment!;
  await fetchSegment(crawl, segment, () => page('home', [`${home}p?ref=2`, `${home}q`]));
  await crawl.run(updatedb, {segments: [], unparsed: false, noAdditions: true});
  await crawl.run(invertlinks, {segments: []});
  await runWith(crawl, stripRef, rekey, {});
  await runWith(crawl, stripRef, inject, {...seedOptions, urls: [`${home}p`, `${home}q`]});
  assert.deepEqual((await crawl.crawldb()).map(({url, inlinks}) => [url, inlinks]).sort(), [
    [home, 0],
    [`${home}p`, 1],
    [`${home}q`, 1],
  ]);
});

test('a URL that was refused comes back when the settings let it, and hosts that become one bring their counts', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {
    ...seedOptions,
    urls: ['http://www.a.test/x', 'http://a.test/x', 'http://www.b.test/'],
  });
  await round(crawl, {
    'http://www.a.test/x': page('x'),
    'http://a.test/x': page('x'),
    'http://www.b.test/': page('b'),
  });
  const bare = 'url:\n  strip_www: true\n';
  const noB = `${bare}scope:\n  rules: ["- domain b.test"]\n`;
  const first = await runWith(crawl, noB, rekey, {});
  assert.deepEqual(first.counters, {
    urls_rekeyed_total: 2,
    urls_merged_total: 1,
    rows_refused_total: 1,
    links_total: 0,
  });
  const rows = await crawl.crawldb();
  assert.deepEqual(
    rows.map(({url, status, visits}) => [url, status, visits]).sort(),
    [
      ['http://a.test/x', 'fetched', 2],
      ['http://b.test/', 'gone', 1],
    ],
    'what was a duplicate of its own page is a page',
  );
  assert.deepEqual(await crawl.sql('SELECT url_host_name, urls, pages_fetched FROM hoststats ORDER BY ALL'), [
    {url_host_name: 'a.test', urls: 1, pages_fetched: 2},
    {url_host_name: 'b.test', urls: 1, pages_fetched: 1},
  ]);
  const second = await runWith(crawl, 'url:\n  strip_www: true\n  sort_parameters: true\n', rekey, {});
  assert.deepEqual(second.reasons, {});
  const b = byUrl(await crawl.crawldb())['http://b.test/']!;
  assert.deepEqual(
    [b.status, b.reason, b.next_fetch_time.getTime()],
    ['unfetched', null, crawl.effects.now()],
  );
});

test('of rows that become one a fixed interval stays, and the history of visits is that of the newest success; duplicates of a refused page are pages again', async (t) => {
  const crawl = await jobHarness(t);
  const row = (url: string, days: number, changes: Partial<CrawlDatum>): CrawlDatum => {
    const time = new Date(days * 86_400_000);
    const found = {score: 1, depth: 0, seed: null, tag: null, hopType: 'I', time, from: null} as const;
    const visited = {status: 'fetched', fetch_time: time, last_success_time: time} as const;
    return {...newRow(identify(url), {...found, intervalS: 3600}, 1), ...visited, ...changes};
  };
  const equal = {signature: Uint8Array.of(9)};
  await commitRows(crawl, [
    {
      slot: 'crawldb',
      table: 'crawldb',
      rows: [
        row(`${home}p?ref=1`, 1, {
          fixed_interval: true,
          fetch_interval_s: 60,
          visit_history: Uint8Array.of(1),
        }),
        row(`${home}p?ref=2`, 3, {last_success_time: null}),
        row(`${home}p`, 2, {visit_history: Uint8Array.of(2), change_rate: 0.5}),
        row(`${home}old?ref=1`, 1, equal),
        row(`${home}copy`, 1, {...equal, status: 'duplicate', duplicate_of: `${home}old?ref=1`}),
      ],
      facts: {kind: 'base'},
    },
  ]);
  await runWith(crawl, stripRef, rekey, {});
  const now = byUrl(await crawl.crawldb());
  const p = now[`${home}p`]!;
  assert.deepEqual(
    [p.fixed_interval, p.fetch_interval_s, p.fetch_time, p.last_success_time, p.change_rate],
    [true, 60, new Date(3 * 86_400_000), new Date(2 * 86_400_000), 0.5],
  );
  assert.deepEqual(new Uint8Array(p.visit_history!), Uint8Array.of(2));
  assert.equal(now[`${home}old`]?.reason, 'scope_rule');
  const copy = now[`${home}copy`]!;
  assert.deepEqual([copy.status, copy.reason, copy.duplicate_of], ['fetched', null, null]);
});
