import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {sitemap} from '../../jobs/sitemap.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {linkRows} from '../../lib/parse/outlinks.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import type {RobotsRow} from '../../lib/schema/hostdb.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {voucherIndex} from '../../lib/sitemap/vouchers.ts';
import {maxSitemaps} from '../../lib/sitemap/walk.ts';
import {hostKey} from '../../lib/url/keys.ts';
import {parseBase, urlPolicy} from '../../lib/url/normalize.ts';
import {checkStatistics} from '../support/crawldb-statistics.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page} from '../support/small-web.ts';

const home = 'http://a.test/';
const seedOptions = {files: [], update: false, overwrite: false};
const sitemapOptions = {urls: [], hosts: [], wellKnown: false};
const updateOptions = {segments: [], unparsed: false, noAdditions: false};
const listOptions = defaultOptions(generate);

function robotsRow(host: string, sitemaps: readonly string[] | null): RobotsRow {
  return {
    origin: `http://${host}`,
    host_key: hostKey(host),
    fetched_time: new Date(0),
    expires_time: new Date(0),
    verdict: 'allow_all',
    fetch_status: 200,
    reason: null,
    unreachable_since: null,
    last_good_time: null,
    body: null,
    crawl_delay_s: null,
    sitemaps: sitemaps === null ? null : JSON.stringify(sitemaps),
  };
}

const sitemapsOf = (crawl: JobHarness) =>
  crawl.sql<{url: string; sitemap_depth: number; seed: string; score: number; depth: number}>(
    'SELECT url, sitemap_depth, seed, score, depth FROM crawldb WHERE sitemap_depth IS NOT NULL ORDER BY url',
  );

test('sitemaps of robots.txt files: as near as their host, of known hosts only, never a page of another host', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {
    ...seedOptions,
    urls: [`${home}\tscore=2`, 'http://b.test/', 'http://a.test/map'],
  });
  await commitRows(crawl, [
    {
      slot: 'robots',
      table: 'robots',
      rows: [
        robotsRow('a.test', [
          'http://a.test/map',
          'http://cdn.test/1.xml',
          'http://b.test/',
          'ftp://a.test/x',
        ]),
        robotsRow('b.test', null),
        robotsRow('stranger.test', ['http://stranger.test/map']),
      ],
    },
  ]);
  const report = await crawl.run(sitemap, {...sitemapOptions, wellKnown: true});
  await checkStatistics(crawl);
  assert.deepEqual(report.counters, {
    sitemaps_found_total: 6,
    sitemaps_added_total: 4,
    sitemaps_known_total: 1,
    sitemaps_rejected_total: 1,
  });
  assert.deepEqual(report.reasons, {scheme: 1});
  const row = (url: string, seed: string, score: number) => ({url, sitemap_depth: 0, seed, score, depth: 0});
  assert.deepEqual(await sitemapsOf(crawl), [
    row('http://a.test/map', 'http://a.test/map', 1),
    row('http://b.test/sitemap.xml', 'http://b.test/', 1),
    row('http://b.test/sitemap_index.xml', 'http://b.test/', 1),
    row('http://cdn.test/1.xml', home, 2),
  ]);
  const again = await crawl.run(sitemap, {
    ...sitemapOptions,
    hosts: ['b.test', 'unheard.test'],
    wellKnown: true,
  });
  assert.deepEqual(
    crawl.effects.events.filter(({event}) => event === 'host_without_robots').map(({fields}) => fields),
    [{host: 'unheard.test'}],
  );
  assert.deepEqual(
    [again.counters.sitemaps_found_total, again.counters.sitemaps_known_total],
    [2, 2],
    'one host; nothing changes',
  );
});

test('a host has so many sitemaps and no more', async (t) => {
  const crawl = await jobHarness(t);
  const urls = Array.from({length: maxSitemaps + 1}, (_, n) => `http://a.test/${n}.xml`);
  const first = await crawl.run(sitemap, {...sitemapOptions, urls: urls.slice(1)});
  assert.deepEqual(first.reasons, {});
  const second = await crawl.run(sitemap, {...sitemapOptions, urls});
  assert.deepEqual(second.reasons, {sitemap_limit: 1});
  assert.equal((await sitemapsOf(crawl)).length, maxSitemaps);
});

test('index files are followed three deep; budgets of pages leave sitemaps out', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  max_pages_per_host: 2\n');
  await crawl.run(sitemap, {...sitemapOptions, urls: [`${home}0`]});
  await crawl.run(inject, {...seedOptions, urls: [`${home}a`, `${home}b`, `${home}c`]});
  for (let depth = 0; depth <= 4; depth++) {
    const report = await crawl.run(generate, {
      ...listOptions,
      where: depth === 0 ? undefined : 'sitemap_depth IS NOT NULL',
    });
    if (report.outcome === 'nothing') {
      assert.equal(depth, 4);
      break;
    }
    const segment = report.plan!.segment!;
    const list = await crawl.sql<FetchlistRow>(`SELECT * FROM fetchlist WHERE segment = '${segment}'`);
    if (depth === 0) assert.deepEqual(list.map(({kind}) => kind).sort(), ['page', 'page', 'sitemap']);
    const map = list.find(({kind}) => kind === 'sitemap')!;
    assert.equal(map.url, `${home}${depth}`);
    await fetchSegment(crawl, segment, (url) =>
      url === map.url ? page(url, [`${home}${depth + 1}`, home]) : {status: 'skipped', reason: 'window'},
    );
    const links = await crawl.sql<Outlink>(
      `SELECT * FROM outlinks WHERE segment = '${segment}' ORDER BY position`,
    );
    const rows = links.map((link): Outlink => {
      const names = link.to_url !== home;
      return {...link, kind: 'sitemap', rel: names ? 'sitemap' : null, hop_type: 'S'};
    });
    await commitRows(crawl, [{slot: `segments/${segment}/outlinks/p1`, table: 'outlinks', rows}]);
    const applied = await crawl.run(updatedb, updateOptions);
    assert.deepEqual(applied.reasons, depth < 3 ? {} : {sitemap_limit: 1});
  }
  assert.deepEqual(
    (await sitemapsOf(crawl)).map(({url, sitemap_depth}) => [url, sitemap_depth]),
    [0, 1, 2, 3].map((n) => [`${home}${n}`, n]),
  );
  const [homeRow] = await crawl.sql(
    `SELECT hop_type, sitemap_depth, depth FROM crawldb WHERE url = '${home}'`,
  );
  assert.deepEqual(homeRow, {hop_type: 'S', sitemap_depth: null, depth: 1});
  assert.deepEqual(await crawl.sql('SELECT url, reason, from_url FROM refusals'), [
    {url: `${home}4`, reason: 'sitemap_limit', from_url: `${home}3`},
  ]);
});

test('a sitemap on another host lists URLs of those whose robots.txt names it', async (t) => {
  const {config} = await jobHarness(t);
  const scope = makeScope(config.scope, config.url, config.links, []);
  const url = 'http://cdn.test/maps/1.xml';
  const {rows} = linkRows(
    ['http://a.test/x', 'http://b.test/x', 'http://cdn.test/x'].map((href) => ({
      href,
      kind: 'sitemap' as const,
      rel: null,
      anchor: null,
    })),
    10,
    {
      segment: '20260101000000',
      parse_id: 'p',
      capture_id: 'c',
      host_key: 1n,
      url_key: 1n,
      url,
      fetch_time: new Date(0),
      depth: 0,
      seed: null,
      base: parseBase(url),
      nofollow: false,
    },
    {
      url: urlPolicy(config.url),
      scope,
      digest: scope.digest,
      follow: new Set(config.links.follow),
      nofollow: true,
      seedScopes: {},
      namedBy: voucherIndex([{folder: 'http://cdn.test/maps/', origin: 'http://a.test'}]),
    },
  );
  assert.deepEqual(
    rows.map(({accepted, reason}) => [accepted, reason]),
    [
      [true, null],
      [false, 'sitemap_host'],
      [true, null],
    ],
  );
});
