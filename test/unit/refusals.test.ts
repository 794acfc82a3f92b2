import assert from 'node:assert/strict';
import {test} from 'node:test';
import {familyRules} from '../../jobs/family-rules.ts';
import {generate} from '../../jobs/generate.ts';
import {hostRules} from '../../jobs/host-rules.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import type {RefusalRow} from '../../lib/schema/refusals.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {crawl as cli} from '../support/cli.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {fetchSegment, page, parseSegment, type SmallWeb} from '../support/small-web.ts';

/** What updatedb does not add can be asked for: by URL, by link, by host and family. */

const told = async (crawl: JobHarness) =>
  (await crawl.sql<RefusalRow>('SELECT * FROM refusals ORDER BY url, parse_id')).map(
    ({url, parse_id, reason}) => `${url} ${parse_id ?? 'fetch'} ${reason}`,
  );
const byReason = (crawl: JobHarness) =>
  crawl.sql<{reason: string | null; accepted: boolean; n: number}>(
    'SELECT reason, accepted, count(*) AS n FROM outlinks GROUP BY ALL ORDER BY ALL',
  );
const refusalSlots = async (crawl: JobHarness) =>
  Object.keys((await crawl.head()).manifest.slots).filter((slot) => slot.endsWith('/refusals'));
const shop: SmallWeb = (url) =>
  url === 'http://a.test/'
    ? page(
        'home',
        Array.from({length: 6}, (_, i) => `http://a.test/list?page=${i}`),
      )
    : page(url);

test('links beyond a budget say over_budget, to SQL, explain and traps', async (t) => {
  const crawl = await jobHarness(t, 'budget: {max_urls_per_host: 3}\n');
  await injectUrls(crawl, ['http://a.test/']);
  const {refused} = await round(crawl, shop);
  assert.deepEqual(refused, {over_budget: 4});
  assert.deepEqual(await byReason(crawl), [
    {reason: 'over_budget', accepted: false, n: 4},
    {reason: null, accepted: true, n: 2},
  ]);
  const rows = await crawl.sql<RefusalRow>('SELECT * FROM refusals ORDER BY url');
  assert.equal(rows.length, 4);
  const [{url, ...first}] = rows as [RefusalRow];
  assert.deepEqual([first.reason, first.from_url, first.parse_id], ['over_budget', 'http://a.test/', 'p1']);

  const explained = await cli(crawl.dir, ['explain', url]);
  assert.match(explained.stdout, /Not in the crawldb: updatedb did not add it, over_budget \(/);
  assert.match(explained.stdout, /not added .* segment \d{14}: over_budget; found on http:\/\/a.test\//);
  const listed = await cli(crawl.dir, ['traps', '--refused', '--json']);
  assert.deepEqual(JSON.parse(listed.stdout), {
    place: 'a.test',
    pattern: '/list?page={n}',
    reason: 'over_budget',
    urls: 4,
    example: url,
  });
  assert.equal((await cli(crawl.dir, ['traps', 'http://a.test/list?page=7', '--refused'])).code, 0);
  const {code, stderr} = await cli(crawl.dir, ['traps', url, '--refused', '--block']);
  assert.equal(code, 2, stderr);
  const {stdout} = await cli(crawl.dir, [
    'sql',
    '--format',
    'csv',
    'SELECT url_host_name, url_family(url), reason, count(*) FROM refusals GROUP BY ALL',
  ]);
  assert.match(stdout, /a\.test,\/list\?page=\{n\},over_budget,4/);
});

test('a round that refuses nothing keeps nothing', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/']);
  await round(crawl, shop);
  assert.deepEqual(await refusalSlots(crawl), []);
  assert.deepEqual(await byReason(crawl), [{reason: null, accepted: true, n: 6}]);
});

test('each reason of updatedb is kept with the URL: trap, blocked host, additions off, duplicates', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/', 'http://b.test/']);
  await crawl.run(hostRules, {...defaultOptions(hostRules), host: 'bad.test', block: true});
  await crawl.run(familyRules, {...defaultOptions(familyRules), url: 'http://a.test/cal/1', block: true});
  await round(crawl, (url) =>
    url === 'http://a.test/'
      ? page('same', ['http://a.test/cal/2', 'http://bad.test/', 'http://a.test/fine'])
      : page('same', ['http://b.test/only']),
  );
  assert.deepEqual(await told(crawl), [
    'http://a.test/cal/2 p1 trap',
    'http://b.test/only p1 duplicate_source',
    'http://bad.test/ p1 host_blocked',
  ]);
  const report = await crawl.run(generate, defaultOptions(generate));
  const segment = report.plan!.segment!;
  await fetchSegment(crawl, segment, (url) => page(url, ['http://a.test/new']));
  await crawl.run(updatedb, {...defaultOptions(updatedb), noAdditions: true});
  assert.deepEqual(
    (await told(crawl)).filter((line) => line.includes('/new')),
    ['http://a.test/new p1 no_additions'],
  );
});

test('a URL that shares the keys of another is refused by its own name alone', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/', 'http://a.test/known']);
  const report = await crawl.run(generate, defaultOptions(generate));
  const segment = report.plan!.segment!;
  const links = ['http://a.test/x', 'http://a.test/known', 'http://a.test/new'];
  await fetchSegment(crawl, segment, (url) => page(url, url === 'http://a.test/' ? links : []));
  // No real clash is at hand: the link to /x is given the keys of /known.
  const [known] = await crawl.sql<{host_key: bigint; url_key: bigint}>(
    "SELECT host_key, url_key FROM crawldb WHERE url = 'http://a.test/known'",
  );
  const rows = (await crawl.sql<Outlink>('SELECT * FROM outlinks ORDER BY position')).map((link) =>
    link.to_url === 'http://a.test/x'
      ? {...link, to_host_key: known!.host_key, to_url_key: known!.url_key}
      : link,
  );
  await commitRows(crawl, [{slot: `segments/${segment}/outlinks/p1`, table: 'outlinks', rows}]);
  await crawl.run(updatedb, defaultOptions(updatedb));
  assert.deepEqual(await told(crawl), ['http://a.test/x p1 key_clash']);
  assert.deepEqual(
    await crawl.sql('SELECT to_url, reason FROM outlinks ORDER BY position'),
    links.map((to_url) => ({to_url, reason: to_url.endsWith('/x') ? 'key_clash' : null})),
  );
});

test('targets of redirects that are not added are told of, and outlive another parse', async (t) => {
  const crawl = await jobHarness(
    t,
    'budget: {max_urls_per_host: 1}\nscope:\n  rules: ["- domain no.test"]\n',
  );
  await injectUrls(crawl, ['http://a.test/', 'http://b.test/', 'http://c.test/']);
  const report = await crawl.run(generate, defaultOptions(generate));
  const segment = report.plan!.segment!;
  const web: SmallWeb = (url) => {
    if (url === 'http://c.test/') return page(url, ['http://c.test/1', 'http://c.test/2']);
    const redirect = url === 'http://a.test/' ? 'http://c.test/moved' : 'http://no.test/';
    return {status: 'redir_temp', code: 302, reason: 'redirect', redirect};
  };
  await fetchSegment(crawl, segment, web);
  await crawl.run(updatedb, defaultOptions(updatedb));
  const redirects = ['http://c.test/moved fetch over_budget', 'http://no.test/ fetch redirect_out_of_scope'];
  assert.deepEqual(await told(crawl), [
    'http://c.test/1 p1 over_budget',
    'http://c.test/2 p1 over_budget',
    ...redirects,
  ]);
  await parseSegment(crawl, segment, (url) => ({...web(url), links: ['http://c.test/2']}), 'p2');
  await crawl.run(updatedb, defaultOptions(updatedb));
  assert.deepEqual(await told(crawl), ['http://c.test/2 p2 over_budget', ...redirects]);
  await parseSegment(crawl, segment, (url) => ({...web(url), links: []}), 'p3');
  const before = await (await openCrawl(crawl.dir)).head();
  await crawl.run(updatedb, defaultOptions(updatedb));
  assert.deepEqual(await told(crawl), redirects);
  const again = await crawl.run(updatedb, {...defaultOptions(updatedb), segments: [segment]});
  assert.equal(again.outcome, 'nothing');
  assert.deepEqual(await told(crawl), redirects);
  const [old] = await before.files(`segments/${segment}/refusals`);
  assert.equal(old?.rows, 3, 'an older manifest shows what was so then');
});

test('links that the rules of today refuse say so, unless another link leads there', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/']);
  const report = await crawl.run(generate, defaultOptions(generate));
  await fetchSegment(crawl, report.plan!.segment!, (url) => page(url, ['http://a.test/1', 'http://b.test/']));
  const scope = {...crawl.config.scope, rules: ['- domain b.test']};
  await runJob(updatedb, defaultOptions(updatedb), {
    dir: crawl.dir,
    config: {...crawl.config, scope},
    effects: crawl.effects,
    executor: embeddedExecutor(),
  });
  assert.deepEqual(await told(crawl), ['http://b.test/ p1 scope_rule']);
  assert.deepEqual(await byReason(crawl), [
    {reason: 'scope_rule', accepted: false, n: 1},
    {reason: null, accepted: true, n: 1},
  ]);
});

test('a trap with many links to few URLs takes a row a URL; segments without refusals are not joined', async (t) => {
  const crawl = await jobHarness(t, 'budget: {max_urls_per_host: 30}\n');
  await injectUrls(crawl, ['http://a.test/', 'http://b.test/']);
  const trap: SmallWeb = (url) =>
    url.startsWith('http://a.test/')
      ? page(
          url,
          Array.from({length: 100}, (_, i) => `http://a.test/?d=${i}`),
        )
      : page(url, ['http://b.test/1']);
  await round(crawl, trap, {maxPerHost: 1});
  await round(crawl, trap);
  const slots = await refusalSlots(crawl);
  assert.equal(slots.length, 2);
  const {slots: all} = (await crawl.head()).manifest;
  for (const slot of slots) assert.equal(all[slot]?.rows, 71);
  const counts = await byReason(crawl);
  assert.deepEqual(
    counts.map(({reason, n}) => [reason, n]),
    [
      ['over_budget', 71 + 29 * 71],
      [null, 29 + 1 + 29 * 29 + 1],
    ],
  );
  await round(crawl, () => page('new', ['http://c.test/']));
  assert.equal((await refusalSlots(crawl)).length, 2);
});
