import assert from 'node:assert/strict';
import {test} from 'node:test';
import {familyRules} from '../../jobs/family-rules.ts';
import {hostRules} from '../../jobs/host-rules.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {HostStatsRow, SeedStatsRow} from '../../lib/schema/hostdb.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {page, type SmallWeb} from '../support/small-web.ts';

/** What hosts, domains and seeds may have, and how what they gave steers what they get. */

const hosts = (crawl: JobHarness) =>
  crawl.sql<HostStatsRow>('SELECT * FROM hoststats ORDER BY url_host_name');
const numbered = (host: string, n: number) => Array.from({length: n}, (_, i) => `http://${host}/${i}`);
const unlike = (url: string) => page(`the words of ${url} and of nothing else ${url.length} ${url}`);

test('a host has no more pages and bytes than its budget, and the rest is counted', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  max_pages_per_host: 5\n  max_bytes_per_host: 100\n');
  await injectUrls(crawl, [...numbered('pages.test', 8), ...numbered('bytes.test', 8)]);
  const web: SmallWeb = (url) => page(url.includes('bytes') ? url.padEnd(60, 'x') : url.slice(-1));
  const first = await round(crawl, web, {maxPerHost: 2});
  assert.equal(first.urls.length, 4);
  const second = await round(crawl, web);
  assert.deepEqual(
    second.urls.map((url) => url.slice(0, 12)),
    ['http://pages', 'http://pages', 'http://pages'],
  );
  assert.equal(second.left.budget, 6 + 3, 'bytes.test has its 100 bytes, and three of pages.test are beyond');
  assert.deepEqual((await round(crawl, web)).urls, []);
});

test('a domain and a seed have budgets over all their hosts', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  max_pages_per_domain: 3\n  max_pages_per_seed: 4\n');
  await injectUrls(crawl, [
    'http://a.one.com/',
    'http://b.one.com/',
    'http://c.one.com/',
    'http://d.one.com/',
    'http://two.org/',
  ]);
  const links = Array.from({length: 9}, (_, i) => `http://far${i}.net/`);
  const web: SmallWeb = (url) => (url === 'http://two.org/' ? page(url, links) : page(url));
  const first = await round(crawl, web);
  assert.equal(first.urls.filter((url) => url.includes('one.com')).length, 3);
  assert.equal(first.left.budget, 1);
  const second = await round(crawl, web);
  assert.equal(second.urls.length, 3, 'the seed two.org has had one of its four pages');
  assert.equal(second.left.budget, 6 + 1);
  const seeds = await crawl.sql<SeedStatsRow>("SELECT * FROM seedstats WHERE seed = 'http://two.org/'");
  assert.deepEqual(
    seeds.map(({urls, pages_fetched}) => [urls, pages_fetched]),
    [[9, 4]],
  );
});

test('beyond its budget of URLs a seed adds none, and they are counted', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  max_urls_per_seed: 3\n');
  await injectUrls(crawl, ['http://a.test/']);
  const links = Array.from({length: 9}, (_, i) => `http://far${i}.net/`);
  const {refused} = await round(crawl, (url) => page(url, links));
  assert.equal(refused.over_budget, 6);
  const [seed] = await crawl.sql<SeedStatsRow>('SELECT * FROM seedstats');
  assert.deepEqual([seed?.urls, seed?.over_budget], [3, 6]);
});

test('what is blocked or a trap takes no place in the budgets of other URLs', async (t) => {
  const crawl = await jobHarness(t, 'budget: {max_urls_per_domain: 6}\n');
  await injectUrls(crawl, ['http://www.ex.test/']);
  await crawl.run(hostRules, {...defaultOptions(hostRules), pattern: 'bad*.ex.test', block: true});
  await crawl.run(familyRules, {
    ...defaultOptions(familyRules),
    url: 'http://www.ex.test/calendar/1',
    block: true,
  });
  const links = Array.from({length: 20}, (_, i) => [
    `http://bad${i}.ex.test/`,
    `http://www.ex.test/calendar/${i}`,
    ...(i < 5 ? [`http://www.ex.test/page-${i}`] : []),
  ]).flat();
  const {refused} = await round(crawl, () => page('a page', links));
  assert.deepEqual(refused, {host_blocked: 20, trap: 20});
  const hosts = await crawl.sql<HostStatsRow>('SELECT * FROM hoststats');
  assert.deepEqual(
    hosts.map(({url_host_name, urls}) => [url_host_name, urls]),
    [['www.ex.test', 6]],
  );
});

test('payloads that the crawl has already are no novel bytes', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, numbered('a.test', 4));
  await round(crawl, (url) => page(url.endsWith('3') ? 'other text' : 'same text'));
  const [host] = await hosts(crawl);
  assert.equal(host?.body_bytes, 3 * 9 + 10);
  assert.equal(host?.novel_bytes, 9 + 10);
});

test('a host that gives nothing of its own gets less, links less deep, and all again when it gives more', async (t) => {
  const crawl = await jobHarness(t, 'scope:\n  max_depth: 10\n');
  await injectUrls(crawl, [...numbered('dull.test', 150), ...numbered('rich.test', 60)]);
  let dull = true;
  const web: SmallWeb = (url) =>
    dull && url.includes('dull') ? page('always the same', [`${url}/more`]) : unlike(url);
  await round(crawl, web, {maxPerHost: 30});
  const [first, second] = await hosts(crawl);
  assert.deepEqual([first?.recent_pages, first?.recent_new], [30, 1]);
  assert.deepEqual([second?.recent_pages, second?.recent_new], [30, 30]);

  const less = await round(crawl, web, {maxPerHost: 30});
  const count = (urls: readonly string[], host: string) => urls.filter((url) => url.includes(host)).length;
  assert.deepEqual(
    [count(less.urls, 'dull'), count(less.urls, 'rich')],
    [10, 30],
    'ten show whether it changes',
  );
  dull = false;
  const back: number[] = [];
  for (let n = 0; n < 4; n++) back.push(count((await round(crawl, web, {maxPerHost: 30})).urls, 'dull'));
  assert.deepEqual(
    back,
    [10, 14, 24, 30],
    'it gives content, so it gets more, and its whole share in the end',
  );
});

test('dead links, which are finite and cost little, weigh less than pages without anything of their own', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, [...numbered('dead.test', 90), ...numbered('dull.test', 90)]);
  const web: SmallWeb = (url) =>
    url.includes('dead') ? {status: 'gone', reason: 'http_404', code: 404} : page('always the same');
  await round(crawl, web, {maxPerHost: 40});
  const yields = (await hosts(crawl)).map(({recent_pages, recent_new}) => [recent_pages, recent_new]);
  assert.deepEqual(yields, [
    [40, 10],
    [40, 1],
  ]);
  const {urls} = await round(crawl, web, {maxPerHost: 40});
  const count = (host: string) => urls.filter((url) => url.includes(host)).length;
  assert.deepEqual([count('dead'), count('dull')], [20, 10]);
});

test('links of a host that gives nothing of its own go less deep, and the refusal has a reason', async (t) => {
  const crawl = await jobHarness(t);
  const time = new Date(crawl.effects.now());
  const found = {
    score: 1,
    depth: 4,
    seed: null,
    tag: null,
    hopType: 'L',
    from: 'http://x.test/',
    intervalS: 60,
    time,
  } as const;
  const rows = ['dull.test', 'rich.test'].map((host) => newRow(identify(`http://${host}/`), found, 1));
  const stats = rows.map(
    ({host_key, url_host_name, url_host_registered_domain}): HostStatsRow => ({
      ...{host_key, url_host_name, url_host_registered_domain},
      ...{urls: 1, unfetched: 1, fetched: 0, duplicates: 0, gone: 0, redirects: 0},
      ...{pages_fetched: 90, body_bytes: 0, over_budget: 0, novel_bytes: 0},
      ...{recent_pages: 90, recent_new: url_host_name === 'dull.test' ? 3 : 90},
    }),
  );
  const byKey = (a: {host_key: bigint}, b: {host_key: bigint}) => (a.host_key < b.host_key ? -1 : 1);
  await commitRows(crawl, [
    {slot: 'crawldb', table: 'crawldb', rows: rows.toSorted(byKey), facts: {kind: 'base'}},
    {slot: 'hoststats', table: 'hoststats', rows: stats.toSorted(byKey)},
  ]);
  const {refused} = await round(crawl, (url) => page(url, [`${url}deeper`]));
  assert.deepEqual(refused, {low_yield: 1});
  const added = await crawl.sql<{url: string}>('SELECT url FROM crawldb WHERE depth = 5');
  assert.deepEqual(added, [{url: 'http://rich.test/deeper'}]);
  assert.deepEqual(await crawl.sql('SELECT url, reason, from_url FROM refusals'), [
    {url: 'http://dull.test/deeper', reason: 'low_yield', from_url: 'http://dull.test/'},
  ]);
});

test('with budget.yield off a host gets its share whatever it gives', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  yield: false\n');
  await injectUrls(crawl, numbered('dull.test', 80));
  await round(crawl, () => page('always the same'), {maxPerHost: 30});
  assert.equal((await round(crawl, () => page('always the same'), {maxPerHost: 30})).urls.length, 30);
});

test('a page that is visited several times a day is as many visits to the price', async (t) => {
  const crawl = await jobHarness(t, 'schedule: {kind: change_rate}\n');
  await injectUrls(crawl, ['http://a.test/']);
  const visits: (number | undefined)[] = [];
  for (let n = 0; n < 6; n++) {
    if (n === 5) crawl.effects.pass(86_400_000);
    await round(crawl, () => page(`text ${n}`), {force: true});
    visits.push((await crawl.head()).manifest.summary.schedule_visits);
  }
  assert.deepEqual(visits, [undefined, 0, 1, 2, 3, 0], 'until the price is computed anew');
});
