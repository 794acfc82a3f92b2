import assert from 'node:assert/strict';
import {test} from 'node:test';
import {drop} from '../../jobs/drop.ts';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {HostStatsRow} from '../../lib/schema/hostdb.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import {crawl as cli} from '../support/cli.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, parseSegment, type SmallPage, type SmallWeb} from '../support/small-web.ts';

const seedOptions = {files: [], update: false, overwrite: false};
const listOptions = defaultOptions(generate);
const updateOptions = {segments: [], unparsed: false, noAdditions: false};
const day = 86_400_000;

const web =
  (pages: Readonly<Record<string, SmallPage>>): SmallWeb =>
  (url) =>
    pages[url] ?? {status: 'gone', reason: 'http_404', code: 404};

/** A round without the update: its segment. */
async function fetched(crawl: JobHarness, pages: SmallWeb, follow = 0): Promise<string> {
  const report = await crawl.run(generate, listOptions);
  assert.equal(report.outcome, 'done');
  await fetchSegment(crawl, report.plan!.segment!, pages, {follow});
  return report.plan!.segment!;
}

async function round(crawl: JobHarness, pages: SmallWeb, follow = 0) {
  await fetched(crawl, pages, follow);
  return crawl.run(updatedb, updateOptions);
}

const byUrl = async (crawl: JobHarness): Promise<Record<string, CrawlDatum>> =>
  Object.fromEntries((await crawl.crawldb()).map((row) => [row.url, row]));

test('a round: pages are fetched, links become new rows with depth, seed, tag and score, hosts are counted', async (t) => {
  const crawl = await jobHarness(t);
  const start = crawl.effects.now();
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/\tscore=2\ttag=news']});
  const report = await round(
    crawl,
    web({'http://a.test/': page('home', ['http://a.test/1', 'http://b.test/', 'http://a.test/'])}),
  );
  assert.deepEqual(report.counters, {
    rows_updated_total: 1,
    rows_added_total: 2,
    rows_refused_total: 0,
    duplicates_total: 0,
  });
  const rows = await byUrl(crawl);
  const home = rows['http://a.test/']!;
  assert.deepEqual(
    [home.status, home.fetch_status, home.visits, home.changes, home.retries, home.last_success_segment],
    ['fetched', 200, 1, 0, 0, '20260101000000'],
  );
  assert.equal(home.next_fetch_time.getTime(), start + 1000 + 30 * day);
  const one = rows['http://a.test/1']!;
  assert.deepEqual(
    [one.status, one.depth, one.seed, one.tag, one.hop_type, one.discovered_from, one.score],
    ['unfetched', 1, 'http://a.test/', 'news', 'L', 'http://a.test/', 2 * 0.85],
  );
  assert.equal(one.next_fetch_time.getTime(), start + 1000);
  const hosts = await crawl.sql<HostStatsRow>('SELECT * FROM hoststats ORDER BY url_host_name');
  assert.deepEqual(
    hosts.map(({url_host_name, urls, unfetched, fetched, pages_fetched, body_bytes}) => [
      url_host_name,
      urls,
      unfetched,
      fetched,
      pages_fetched,
      body_bytes,
    ]),
    [
      ['a.test', 2, 1, 1, 1, 4],
      ['b.test', 1, 1, 0, 0, 0],
    ],
  );
  const {summary, segments} = (await crawl.head()).manifest;
  assert.deepEqual([summary.urls, summary.unfetched, summary.fetched, summary.hosts], [3, 2, 1, 2]);
  assert.equal(segments['20260101000000']?.applied, 'p1');
});

test('the same segment again is nothing to do; another parse replaces signatures and adds links only', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/']});
  const segment = await fetched(crawl, web({'http://a.test/': page('one', ['http://a.test/1'])}));
  await crawl.run(updatedb, updateOptions);
  const before = await byUrl(crawl);
  const again = await crawl.run(updatedb, {...updateOptions, segments: [segment]});
  assert.equal(again.outcome, 'nothing');
  assert.deepEqual(await byUrl(crawl), before);

  await parseSegment(crawl, segment, web({'http://a.test/': page('two', ['http://a.test/2'])}), 'p2');
  const reparse = await crawl.run(updatedb, updateOptions);
  assert.equal(reparse.counters.rows_added_total, 1);
  const after = await byUrl(crawl);
  const {signature, revision, ...home} = after['http://a.test/']!;
  const {signature: old, revision: oldRevision, ...oldHome} = before['http://a.test/']!;
  assert.deepEqual(home, oldHome);
  assert.notDeepEqual(signature, old);
  assert.ok(revision > oldRevision);
  assert.deepEqual(Object.keys(after).sort(), ['http://a.test/', 'http://a.test/1', 'http://a.test/2']);
  const [hosts] = await crawl.sql<HostStatsRow>('SELECT * FROM hoststats');
  assert.equal(hosts?.pages_fetched, 1);
});

test('segments that are not fetched or not parsed are refused, by name and with the next step', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/']});
  const report = await crawl.run(generate, listOptions);
  const segment = report.plan!.segment!;
  assert.equal((await crawl.run(updatedb, updateOptions)).outcome, 'nothing');
  await assert.rejects(crawl.run(updatedb, {...updateOptions, segments: [segment]}), {
    code: 'SEGMENT_STATE',
    hint: `Run: crawl fetch ${segment}`,
  });
  await assert.rejects(crawl.run(updatedb, {...updateOptions, segments: ['20000101000000']}), {
    code: 'SEGMENT_UNKNOWN',
  });
  const pages = web({'http://a.test/': page('one', ['http://a.test/1'])});
  await fetchSegment(crawl, segment, pages, {parse: null});
  await assert.rejects(crawl.run(updatedb, updateOptions), {code: 'SEGMENT_STATE'});
  await crawl.run(updatedb, {...updateOptions, unparsed: true});
  const rows = await byUrl(crawl);
  assert.deepEqual(Object.keys(rows), ['http://a.test/']);
  assert.equal(rows['http://a.test/']?.status, 'fetched');
  assert.equal(rows['http://a.test/']?.signature, null);

  await parseSegment(crawl, segment, pages, 'p1');
  await crawl.run(updatedb, updateOptions);
  const parsed = await byUrl(crawl);
  assert.equal(parsed['http://a.test/']?.visits, 1);
  assert.equal(Object.keys(parsed).length, 2);
});

test('a redirect’s target is new, due at once, and has score and depth of its source; followed or not', async (t) => {
  for (const follow of [0, 5]) {
    const crawl = await jobHarness(t);
    await crawl.run(inject, {...seedOptions, urls: ['http://a.test/\tscore=3\ttag=x']});
    await round(
      crawl,
      web({
        'http://a.test/': {status: 'redir_perm', code: 301, reason: 'redirect', redirect: 'http://b.test/'},
        'http://b.test/': page('b', ['http://b.test/1']),
      }),
      follow,
    );
    const rows = await byUrl(crawl);
    assert.equal(rows['http://a.test/']?.status, 'redir_perm');
    assert.equal(rows['http://a.test/']?.fetch_redirect, 'http://b.test/');
    const target = rows['http://b.test/']!;
    assert.deepEqual(
      [target.score, target.depth, target.tag, target.hop_type, target.discovered_from, target.status],
      [3, 0, 'x', 'R', 'http://a.test/', follow ? 'fetched' : 'unfetched'],
    );
    assert.equal(rows['http://b.test/1'] !== undefined, follow > 0);
  }
});

test('equal pages are marked before links are followed; if the kept one goes, the next takes its place', async (t) => {
  const crawl = await jobHarness(t);
  const pages: Record<string, SmallPage> = {
    'http://m1.test/': page('same', ['http://m1.test/x']),
    'http://m2.test/': page('same', ['http://m2.test/x']),
    'https://m3.test/': page('same', ['https://m3.test/x']),
  };
  await crawl.run(inject, {...seedOptions, urls: Object.keys(pages)});
  const report = await round(crawl, web(pages));
  assert.equal(report.counters.duplicates_total, 2);
  assert.equal(report.reasons.duplicate_source, 2);
  const rows = await byUrl(crawl);
  assert.equal(rows['https://m3.test/']?.status, 'fetched');
  assert.deepEqual(
    [rows['http://m1.test/']?.status, rows['http://m1.test/']?.duplicate_of, rows['http://m1.test/']?.reason],
    ['duplicate', 'https://m3.test/', 'duplicate'],
  );
  assert.deepEqual(
    Object.keys(rows).filter((url) => url.endsWith('x')),
    ['https://m3.test/x'],
  );

  crawl.effects.pass(31 * day);
  delete pages['https://m3.test/'];
  await round(crawl, web(pages));
  const later = await byUrl(crawl);
  assert.equal(later['https://m3.test/']?.status, 'gone');
  assert.deepEqual(
    [later['http://m1.test/']?.status, later['http://m1.test/']?.duplicate_of],
    ['notmodified', null],
  );
  assert.equal(later['http://m2.test/']?.duplicate_of, 'http://m1.test/');
  const [stats] = await crawl.sql<{duplicates: number; fetched: number}>(
    'SELECT sum(duplicates)::BIGINT AS duplicates, sum(fetched)::BIGINT AS fetched FROM hoststats',
  );
  assert.deepEqual(stats, {duplicates: 1, fetched: 1});
});

test('a group that names one of its pages as canonical keeps that one', async (t) => {
  const crawl = await jobHarness(t);
  const long = 'http://a.test/a/long/path';
  const pages = {
    'http://a.test/': page('same', [], {canonical: long}),
    [long]: page('same', [], {canonical: long}),
    'http://b.test/': page('same'),
  };
  await crawl.run(inject, {...seedOptions, urls: Object.keys(pages)});
  await round(crawl, web(pages));
  const rows = await byUrl(crawl);
  assert.equal(rows[long]?.status, 'fetched');
  assert.equal(rows['http://a.test/']?.duplicate_of, long);
  assert.equal(rows['http://b.test/']?.duplicate_of, long);
});

test('duplicates are looked for within the domain or host only, where so configured, or not at all', async (t) => {
  const urls = ['http://x.a.com/', 'http://y.a.com/', 'http://b.com/', 'http://b.com/2'];
  const expected = {none: 3, domain: 2, host: 1};
  for (const [group, duplicates] of Object.entries(expected)) {
    const crawl = await jobHarness(t, `dedup:\n  group: ${group}\n`);
    await crawl.run(inject, {...seedOptions, urls});
    const report = await round(crawl, () => page('same'));
    assert.equal(report.counters.duplicates_total, duplicates, group);
  }
  const crawl = await jobHarness(t, 'dedup:\n  exact: false\n');
  await crawl.run(inject, {...seedOptions, urls});
  assert.equal((await round(crawl, () => page('same'))).counters.duplicates_total, 0);
});

test('new URLs beyond a budget are refused and counted, the best are taken', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  max_urls_per_host: 3\n  max_urls_per_domain: 5\n');
  await crawl.run(inject, {...seedOptions, urls: ['http://x.a.com/']});
  const links = ['x', 'y', 'z'].flatMap((host) => [1, 2, 3, 4].map((n) => `http://${host}.a.com/${n}`));
  const report = await round(crawl, web({'http://x.a.com/': page('home', [...links, 'http://b.com/'])}));
  assert.equal(report.reasons.over_budget, 8);
  const hosts = await crawl.sql<HostStatsRow>('SELECT * FROM hoststats ORDER BY url_host_name');
  const count = (name: string) => hosts.find((host) => host.url_host_name === name)?.urls ?? 0;
  assert.equal(count('x.a.com') + count('y.a.com') + count('z.a.com'), 5);
  assert.ok(hosts.every((host) => host.urls <= 3));
  assert.equal(count('b.com'), 1);
  assert.equal(
    hosts.reduce((sum, host) => sum + host.over_budget, 0),
    8,
  );
});

test('without additions known URLs are updated and nothing is added', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/']});
  await fetched(crawl, web({'http://a.test/': page('home', ['http://a.test/1'])}));
  const report = await crawl.run(updatedb, {...updateOptions, noAdditions: true});
  assert.deepEqual(report.reasons, {no_additions: 1});
  assert.equal((await byUrl(crawl))['http://a.test/']?.status, 'fetched');
  assert.equal((await crawl.crawldb()).length, 1);
});

test('links decided by other rules are decided anew by today’s', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/']});
  await fetched(crawl, web({'http://a.test/': page('home', ['http://a.test/1', 'http://b.test/1'])}));
  const stricter = {...crawl.config, scope: {...crawl.config.scope, rules: ['- domain b.test']}};
  const other: JobHarness = {...crawl, config: stricter};
  await runWith(other, crawl);
  assert.deepEqual(Object.keys(await byUrl(crawl)).sort(), ['http://a.test/', 'http://a.test/1']);
});

async function runWith(other: JobHarness, crawl: JobHarness): Promise<void> {
  const {runJob} = await import('../../jobs/runner/run-job.ts');
  const {embeddedExecutor} = await import('../../jobs/runner/executor.ts');
  const settings = {
    dir: crawl.dir,
    config: other.config,
    effects: crawl.effects,
    executor: embeddedExecutor(),
  };
  await runJob(updatedb, updateOptions, settings);
}

test('several segments, in one command or one after the other in any order, give the same crawldb', async (t) => {
  const build = async () => {
    const crawl = await jobHarness(t);
    await crawl.run(inject, {
      ...seedOptions,
      urls: ['http://a.test/\tscore=4', 'http://b.test/\tscore=3', 'http://c.test/\tscore=2'],
    });
    const pages: Record<string, SmallPage> = {
      'http://a.test/': page('a', ['http://x.test/', 'http://b.test/']),
      'http://b.test/': {status: 'redir_temp', code: 302, reason: 'redirect', redirect: 'http://a.test/'},
      'http://c.test/': page('c', ['http://x.test/', 'http://c.test/1']),
    };
    const lists = await crawl.run(generate, {...listOptions, topN: 1, maxSegments: 3});
    assert.equal(lists.outcome, 'done');
    const {segments} = await crawl.head();
    // The second segment asks for the page of the first again, as the target of a redirect, with another body.
    await fetchSegment(crawl, segments[2]!, web(pages));
    await fetchSegment(
      crawl,
      segments[1]!,
      web({...pages, 'http://a.test/': page('a new', ['http://y.test/'])}),
      {
        follow: 1,
      },
    );
    await fetchSegment(crawl, segments[0]!, web(pages));
    return {crawl, segments};
  };
  const all = await build();
  await all.crawl.run(updatedb, {...updateOptions, segments: [...all.segments].reverse()});
  const expected = (await all.crawl.crawldb()).map(comparable);
  assert.equal(all.crawl.config.schedule.kind, 'adaptive');
  const a = expected.find((row) => row.url === 'http://a.test/');
  assert.deepEqual([a?.visits, a?.changes, a?.status], [2, 1, 'fetched']);
  assert.equal(expected.length, 6);
  for (const order of [
    [0, 1, 2],
    [2, 1, 0],
    [1, 0, 2],
  ]) {
    const {crawl, segments} = await build();
    for (const index of order) await crawl.run(updatedb, {...updateOptions, segments: [segments[index]!]});
    assert.deepEqual((await crawl.crawldb()).map(comparable), expected, order.join());
  }
});

/** Which commit wrote the row depends on the order of commands. */
function comparable({revision: _revision, ...row}: CrawlDatum) {
  return row;
}

test('URLs that share both keys: the known one stays, the newcomer is refused and counted', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/', 'http://a.test/known']});
  const segment = await fetched(
    crawl,
    web({'http://a.test/': page('home', ['http://a.test/x', 'http://a.test/new'])}),
  );
  // No real clash is at hand: the link to /x is given the keys of /known.
  const known = (await byUrl(crawl))['http://a.test/known']!;
  const links = await crawl.sql<Outlink>('SELECT * FROM outlinks ORDER BY position');
  const slot = `segments/${segment}/outlinks/p1`;
  const rows = links.map((link) =>
    link.to_url === 'http://a.test/x'
      ? {...link, to_host_key: known.host_key, to_url_key: known.url_key}
      : link,
  );
  await commitRows(crawl, [{slot, table: 'outlinks', rows}]);
  const report = await crawl.run(updatedb, updateOptions);
  assert.deepEqual(report.reasons, {key_clash: 1});
  assert.deepEqual(Object.keys(await byUrl(crawl)).sort(), [
    'http://a.test/',
    'http://a.test/known',
    'http://a.test/new',
  ]);
});

test('a segment applied again from another parse: its links are replaced, what was fetched is left alone', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/', 'http://b.test/']});
  const first = web({
    'http://a.test/': page('one', [
      'http://a.test/junk',
      'http://a.test/shared',
      'http://b.test/',
      'http://a.test/kept',
    ]),
    'http://b.test/': page('other', ['http://a.test/shared']),
  });
  const segment = await fetched(crawl, first);
  await crawl.run(updatedb, updateOptions);
  // Fetched since: it stays what it is, whoever links to it.
  const second = await fetched(crawl, web({'http://a.test/kept': page('kept', ['http://a.test/junk2'])}));
  await crawl.run(updatedb, updateOptions);
  const before = await byUrl(crawl);
  assert.equal(before['http://a.test/junk']?.status, 'gone', 'asked for in the second round');

  // junk2 is known by the second segment alone; its parse is replaced by one without that link.
  await parseSegment(crawl, second, web({'http://a.test/kept': page('kept', [])}), 'p2');
  await crawl.run(updatedb, updateOptions);
  const after = await byUrl(crawl);
  const lost = after['http://a.test/junk2']!;
  assert.deepEqual([lost.status, lost.reason], ['orphan', 'orphan']);
  for (const url of ['http://a.test/', 'http://b.test/', 'http://a.test/shared', 'http://a.test/kept'])
    assert.deepEqual({...after[url], revision: 0}, {...before[url], revision: 0}, url);
  assert.equal((await crawl.head()).manifest.summary.unfetched, 0);
  assert.equal((await crawl.run(generate, listOptions)).outcome, 'nothing', 'an orphan is not asked for');

  // A parse that has the link again brings it back; so does a seed line.
  await parseSegment(crawl, second, web({'http://a.test/kept': page('kept', ['http://a.test/junk2'])}), 'p3');
  await crawl.run(updatedb, updateOptions);
  const {status, reason, revision: _, ...rest} = (await byUrl(crawl))['http://a.test/junk2']!;
  const {status: _s, reason: _r, revision: _v, ...former} = before['http://a.test/junk2']!;
  assert.deepEqual([status, reason], ['unfetched', null]);
  assert.deepEqual(rest, former);
  await parseSegment(crawl, second, web({'http://a.test/kept': page('kept', [])}), 'p4');
  await crawl.run(updatedb, updateOptions);
  await crawl.run(inject, {...seedOptions, urls: ['http://a.test/junk2']});
  assert.equal((await byUrl(crawl))['http://a.test/junk2']?.status, 'unfetched');

  // What another segment links to, or a seed line names, stays when this one drops it.
  await parseSegment(
    crawl,
    segment,
    web({'http://a.test/': page('one', []), 'http://b.test/': page('other', [])}),
    'p2',
  );
  await crawl.run(updatedb, updateOptions);
  const end = await byUrl(crawl);
  assert.equal(end['http://b.test/']?.status, 'fetched');
  assert.equal(end['http://a.test/junk2']?.status, 'unfetched');
});

test('a late segment whose earlier visits are kept no more is left out of the history, and explain says so', async (t) => {
  const crawl = await jobHarness(t);
  const url = 'http://a.test/';
  await crawl.run(inject, {...seedOptions, urls: [url]});
  const pages = (text: string) => web({[url]: page(text)});
  const first = await fetched(crawl, pages('one'));
  await crawl.run(updatedb, updateOptions);
  crawl.effects.pass(31 * day);
  const late = await fetched(crawl, pages('two'));
  crawl.effects.pass(31 * day);
  const third = await fetched(crawl, pages('three'));
  await crawl.run(updatedb, {...updateOptions, segments: [third]});
  const before = (await byUrl(crawl))[url]!;
  await crawl.run(drop, {segment: [first], force: true});
  await crawl.run(updatedb, {...updateOptions, segments: [late]});
  const row = (await byUrl(crawl))[url]!;
  assert.deepEqual({...row, revision: 0}, {...before, revision: 0, history_frozen: true});
  const {stdout} = await cli(crawl.dir, ['explain', url]);
  assert.match(stdout, /its history leaves out a visit/);
});
