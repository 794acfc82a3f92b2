import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {segmentTime} from '../../lib/crawldb/segment-id.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import type {HostRuleRow, HostStateRow, HostStatsRow} from '../../lib/schema/hostdb.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {plainSelection} from '../support/selection-model.ts';

const options = defaultOptions(generate);
const start = Date.UTC(2026, 0, 1);

function row(url: string, score = 1, changes: Partial<CrawlDatum> = {}): CrawlDatum {
  const found = {score, depth: 0, seed: null, tag: null, hopType: 'I', from: null, intervalS: 3600} as const;
  return {...newRow(identify(url), {...found, time: new Date(start)}, 1), ...changes};
}

async function put(crawl: JobHarness, rows: readonly CrawlDatum[]): Promise<void> {
  const ordered = rows.toSorted((a, b) =>
    a.host_key < b.host_key || (a.host_key === b.host_key && a.url_key < b.url_key) ? -1 : 1,
  );
  await commitRows(crawl, [{slot: 'crawldb', table: 'crawldb', rows: ordered, facts: {kind: 'base'}}]);
}

const list = (crawl: JobHarness) => crawl.sql<FetchlistRow>('SELECT * FROM fetchlist ORDER BY segment, rank');

function groupBy<V, K>(values: readonly V[], key: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return groups;
}

test('the list is exactly the best, a host capped, under skew and among equal scores', async (t) => {
  const crawl = await jobHarness(t);
  const rows = [
    ...Array.from({length: 300}, (_, i) => row(`http://big.test/${i}`, 2 + (i % 3))),
    ...Array.from({length: 100}, (_, i) => row(`http://h${i % 20}.test/${i}`, 1 + (i % 4))),
    row('http://later.test/', 99, {next_fetch_time: new Date(start + 1)}),
  ];
  await put(crawl, rows);
  const report = await crawl.run(generate, {...options, topN: 60, maxPerHost: 25});
  const urls = (await list(crawl)).map(({url}) => url);
  const {order, refetch_share: refetchShare} = crawl.config.generate;
  const rules = {
    topN: 60,
    maxPerHost: 25,
    maxPerDomain: null,
    maxPerSeed: null,
    order,
    refetchShare,
    shares: {},
  };
  assert.deepEqual(urls, plainSelection(rows.slice(0, -1), rules));
  assert.equal(report.counters.urls_due_total, 400);
  assert.equal(report.counters.urls_selected_total, 60);
  assert.equal(report.reasons.host_limit, 275);
  const manifest = (await crawl.head()).manifest;
  const [id] = Object.keys(manifest.segments);
  assert.equal(id, '20260101000000');
  assert.equal(manifest.segments[id!]?.urls, 60);
});

test('caps and budgets are shared by new and known pages, whatever either kind stands at', async (t) => {
  const rows = Array.from({length: 200}, (_, i) =>
    row(`http://a.test/${i}`, 0.85, {
      depth: 1,
      seed: 'http://a.test/',
      ...(i % 2 === 0 && {
        status: 'fetched',
        fetch_time: new Date(start - 7_200_000),
        last_success_time: new Date(start - 7_200_000),
        next_fetch_time: new Date(start - 3_600_000),
      }),
    }),
  );
  const cases = [
    ['change_rate', '', {maxPerSeed: 20}],
    ['change_rate', '', {maxPerDomain: 20}],
    ['change_rate', 'budget: {max_pages_per_host: 20}', {}],
    ['change_rate', 'budget: {max_pages_per_domain: 20}', {}],
    ['change_rate', 'budget: {max_pages_per_seed: 20}', {}],
    ['adaptive', 'budget: {max_pages_per_domain: 20}', {order: 'depth'}],
  ] as const;
  for (const [kind, yaml, changes] of cases) {
    const crawl = await jobHarness(t, `schedule: {kind: ${kind}}\n${yaml}\n`);
    await put(crawl, rows);
    await crawl.run(generate, {...options, ...changes});
    const found = groupBy(await list(crawl), ({selected_as}) => selected_as);
    assert.deepEqual(
      [found.get('new')?.length, found.get('refetch')?.length],
      [15, 5],
      `${kind} ${yaml} ${JSON.stringify(changes)}`,
    );
  }
});

test('what an open segment holds is locked until it is applied, dropped or lapsed', async (t) => {
  const crawl = await jobHarness(t);
  await put(
    crawl,
    Array.from({length: 10}, (_, i) => row(`http://a.test/${i}`)),
  );
  await crawl.run(generate, {...options, topN: 6});
  await crawl.run(generate, {...options, topN: 6});
  const rows = await list(crawl);
  assert.equal(rows.length, 10);
  assert.equal(new Set(rows.map(({url}) => url)).size, 10);

  const nothing = await crawl.run(generate, options);
  assert.equal(nothing.outcome, 'nothing');
  assert.equal(crawl.effects.events.at(-1)?.event, 'nothing_due');

  await commitRows(crawl, [], {'20260101000000': {applied: 'p'}});
  const released = await crawl.run(generate, options);
  assert.equal(released.counters.urls_selected_total, 6);

  crawl.effects.pass(crawl.config.generate.lapse);
  const lapsed = await crawl.run(generate, options);
  assert.equal(lapsed.counters.urls_selected_total, 10);
});

test('several segments at once are disjoint, the better URLs first', async (t) => {
  const crawl = await jobHarness(t);
  const rows = Array.from({length: 20}, (_, i) => row(`http://h${i % 2}.test/${i}`, i));
  await put(crawl, rows);
  await crawl.run(generate, {...options, topN: 8, maxPerHost: 3, maxSegments: 5});
  const segments = groupBy(await list(crawl), ({segment}) => segment);
  assert.deepEqual(
    [...segments.values()].map((list) => list.length),
    [6, 6, 6, 2],
  );
  const scores = [...segments.values()].flat().map(({score}) => score);
  assert.deepEqual(
    scores,
    scores.toSorted((a, b) => b - a),
  );
});

test('a domain is in one partition, and partitions are balanced', async (t) => {
  const crawl = await jobHarness(t);
  const rows = Array.from({length: 100}, (_, i) => row(`http://w${i % 3}.d${i % 10}.com/${i}`));
  await put(crawl, rows);
  await crawl.run(generate, {...options, partitions: 4});
  const fetchlist = await list(crawl);
  const byDomain = groupBy(fetchlist, (entry) => entry.url_host_registered_domain);
  for (const entries of byDomain.values())
    assert.equal(new Set(entries.map(({partition}) => partition)).size, 1);
  const sizes = [...groupBy(fetchlist, ({partition}) => partition).values()].map(({length}) => length);
  assert.deepEqual(sizes.toSorted(), [20, 20, 30, 30]);
  assert.deepEqual(
    fetchlist.map(({rank}) => rank),
    Array.from({length: 100}, (_, i) => i + 1),
  );
});

test('blocked, resting and spent hosts are left out, with the count; a window caps what fits', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  max_pages_per_host: 7\n');
  const hosts = ['blocked', 'resting', 'spent', 'slow', 'left', 'new'];
  await put(
    crawl,
    hosts.flatMap((host) => Array.from({length: 10}, (_, i) => row(`http://${host}.test/${i}`))),
  );
  const id = (host: string) => identify(`http://${host}.test/`);
  const rule: HostRuleRow = {
    url_host_name: 'blocked.test',
    host_key: id('blocked').host_key,
    min_delay_ms: null,
    blocked: true,
    max_connections: null,
    note: null,
    changed_time: new Date(start),
    hours: null,
    max_rate: null,
    max_bandwidth: null,
    applies_to: null,
    unblocked: null,
  };
  const state = (host: string, changes: Partial<HostStateRow>): HostStateRow => ({
    host_key: id(host).host_key,
    url_host_name: `${host}.test`,
    next_allowed_time: new Date(start),
    last_response_time: null,
    delay_ms: 1000,
    delay_term: 'min_delay',
    min_delay_ms: 1000,
    latency_ms: 0,
    crawl_delay_ms: 0,
    retry_after_ms: 0,
    backoff_ms: 0,
    failures: 0,
    last_reason: null,
    requests: 1,
    dns_failures: 0,
    updated_segment: '',
    soft_404_time: null,
    soft_404_signature: null,
    ...changes,
  });
  const stats = (host: string, pages_fetched: number): HostStatsRow => ({
    host_key: id(host).host_key,
    url_host_name: `${host}.test`,
    url_host_registered_domain: `${host}.test`,
    urls: 10,
    unfetched: 10,
    fetched: 0,
    duplicates: 0,
    gone: 0,
    redirects: 0,
    pages_fetched,
    body_bytes: 0,
    over_budget: 0,
    novel_bytes: 0,
    recent_pages: 0,
    recent_new: 0,
  });
  await commitRows(crawl, [
    {slot: 'hostrules', table: 'hostrules', rows: [rule]},
    {
      slot: 'hoststate',
      table: 'hoststate',
      rows: [
        state('resting', {failures: 2, next_allowed_time: new Date(start + 3_600_000)}),
        state('slow', {delay_ms: 20_000}),
      ],
    },
    {slot: 'hoststats', table: 'hoststats', rows: [stats('spent', 7), stats('left', 4)]},
  ]);
  const report = await crawl.run(generate, {...options, window: 60_000});
  const taken = groupBy(await list(crawl), (entry) => entry.url_host_name);
  assert.deepEqual(Object.fromEntries([...taken].map(([host, entries]) => [host, entries.length])), {
    'slow.test': 2, // robots.txt comes first
    'left.test': 3,
    'new.test': 7,
  });
  assert.deepEqual(report.reasons, {
    host_blocked: 10,
    host_resting: 10,
    budget: 10 + 3 + 7 + 3,
    host_limit: 5,
  });
});

test('validators go along only where the payload is held; why a URL was selected is told', async (t) => {
  const crawl = await jobHarness(t);
  const visited = {
    status: 'fetched',
    fetch_time: new Date(start - 10),
    last_success_time: new Date(start - 10),
    etag: '"x"',
    content_digest: 'D',
    next_fetch_time: new Date(start - 1),
  } as const;
  await put(crawl, [
    row('http://a.test/', 4),
    row('http://b.test/', 3, {...visited, last_success_segment: '20250101000000'}),
    row('http://c.test/', 2, {...visited, last_success_segment: '20240101000000', retries: 1}),
    row('http://d.test/', 1, {fetch_time: new Date(start - 5), reason: 'dns'}),
  ]);
  await commitRows(crawl, [{slot: 'segments/20250101000000/content', table: 'content', rows: []}], {
    '20250101000000': {
      state: 'fetched',
      urls: 1,
      hosts: 1,
      partitions: 1,
      generated_time: '2025-01-01T00:00:00Z',
      applied: 'p',
    },
  });
  await crawl.run(generate, options);
  assert.deepEqual(
    (await list(crawl)).map((entry) => [entry.selected_as, entry.etag, entry.content_segment]),
    [
      ['new', null, null],
      ['retry', null, null],
      ['refetch', '"x"', '20250101000000'],
      ['retry', null, null],
    ],
  );
});

test('a condition and days ahead change what is due', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [
    row('http://a.test/x'),
    row('http://a.test/y'),
    row('http://a.test/later', 1, {next_fetch_time: new Date(start + 86_400_000)}),
  ]);
  await crawl.run(generate, {...options, where: "url LIKE '%/x' -- mine"});
  assert.deepEqual(
    (await list(crawl)).map(({url}) => url),
    ['http://a.test/x'],
  );
  await crawl.run(generate, {...options, addDays: 1});
  assert.equal((await list(crawl)).length, 3);
  const ids = (await crawl.head()).segments;
  assert.equal(segmentTime(ids[1]!) - segmentTime(ids[0]!), 1000);
});

test('a condition is one expression over one row, or a clear error that names what is wrong', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [row('http://a.test/x', 2), row('http://a.test/y', 1)]);
  const before = (await crawl.head()).manifest.number;
  for (const [where, why] of [
    ['no_such_column = 1', /no_such_column/],
    ['1=1; DROP TABLE x', /syntax|more than one|parse/i],
    ['true) FROM x WHERE (true', /more than one/],
    ['true) AS a, (true', /more than one/],
    ['score', /DOUBLE/],
    ['url = (SELECT min(url) FROM crawldb)', /subquery/],
    ['row_number() OVER () = 1', /window/],
    ['count(*) > 1', /count/],
    ['random() < 0.5', /random/],
    ["current_setting('threads') = 1", /current_setting/],
    ['score > $x', /parameter/],
    ["regexp_matches(url, '(')", /missing \)|regex/i],
  ] as const)
    await assert.rejects(
      crawl.run(generate, {...options, where}),
      (error: CrawlError) => {
        assert.ok(error instanceof CrawlError, where);
        assert.equal(error.code, 'USAGE', `${where}: ${error.message}`);
        assert.match(error.message, why);
        return true;
      },
      where,
    );
  assert.equal((await crawl.head()).manifest.number, before, 'nothing was touched');
  crawl.effects.pass(1000);
  const where =
    "next_fetch_time < now() AND score > 1.5 AND regexp_matches(url, '^http://a[.]') AND host.urls IS NULL";
  await crawl.run(generate, {...options, where});
  assert.deepEqual(
    (await list(crawl)).map(({url}) => url),
    ['http://a.test/x'],
  );
});

test('the time in a condition is that of the round', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [row('http://a.test/', 1, {discovered_time: new Date(start - 86_400_000)})]);
  const where =
    "discovered_time < now() - INTERVAL 12 HOURS AND current_timestamp < TIMESTAMPTZ '2026-01-02'";
  await crawl.run(generate, {...options, where});
  assert.equal((await list(crawl)).length, 1);
});

test('--force takes what is not due, and says so in the row', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [row('http://a.test/'), row('http://b.test/', 1, {next_fetch_time: new Date(start + 1)})]);
  await crawl.run(generate, {...options, force: true});
  assert.deepEqual((await list(crawl)).map(({url, selected_as}) => [url, selected_as]).sort(), [
    ['http://a.test/', 'new'],
    ['http://b.test/', 'forced'],
  ]);
});

test('known pages keep their share, and what one side does not use the other gets', async (t) => {
  const crawl = await jobHarness(t);
  const seen = {
    status: 'fetched',
    fetch_time: new Date(start - 9),
    last_success_time: new Date(start - 9),
  } as const;
  const known = Array.from({length: 30}, (_, i) => row(`http://k${i}.test/`, 0.1, seen));
  const fresh = Array.from({length: 30}, (_, i) => row(`http://f${i}.test/`, 9));
  await put(crawl, [...known, ...fresh]);
  const kinds = async () => {
    const rows = await list(crawl);
    return rows.filter(({selected_as}) => selected_as === 'refetch').length;
  };
  await crawl.run(generate, {...options, topN: 20, refetchShare: 0.3});
  assert.equal(await kinds(), 6);
  await crawl.run(generate, {...options, topN: 39, refetchShare: 0.3, concurrent: true});
  assert.equal(await kinds(), 6 + 39 - (30 - 14), 'new ones are used up, so known ones fill the list');
});

test('the segment keeps what it was selected by, with the cut-off of a full list and a forecast', async (t) => {
  const crawl = await jobHarness(t);
  await put(
    crawl,
    [...Array(9).keys()].map((i) => row(`http://h${i % 3}.test/${i}`, 9 - i)),
  );
  await crawl.run(generate, {...options, topN: 5, maxPerHost: 2});
  const [id] = (await crawl.head()).segments;
  const {selection} = (await crawl.head()).segment(id!);
  assert.equal(selection?.topN, 5);
  assert.equal(selection?.base, (await crawl.head()).manifest.number - 1);
  assert.deepEqual(selection?.cuts, [{group: '*', refetch: false, standing: 5, nth: 2}]);
  const {forecast} = selection!;
  assert.equal(forecast?.requests, 5 + 3, 'a robots.txt of each host');
  // robots.txt, page, page: two pauses, three answers of 200 ms
  assert.equal(forecast?.duration_ms, 2 * 1000 + 3 * 200);
  assert.deepEqual(
    forecast?.slowest.map(({host, urls}) => [host, urls]),
    [
      ['h0.test', 2],
      ['h1.test', 2],
      ['h2.test', 1],
    ],
  );
});

test('the forecast counts what bounds a fetch over all hosts', async (t) => {
  const forecastWith = async (text: string) => {
    const crawl = await jobHarness(t, text);
    await put(
      crawl,
      [...Array(12).keys()].map((i) => row(`http://h${i}.test/`)),
    );
    await crawl.run(generate, {...options, topN: 12});
    const head = await crawl.head();
    return head.segment(head.segments[0]!).selection!.forecast!;
  };
  const free = await forecastWith('');
  assert.equal(free.requests, 24);
  assert.equal(free.duration_ms, 1000 + 2 * 200, 'the longest host: a pause and two answers');
  const answers = 24 * 200;
  assert.equal((await forecastWith('fetch: {max_active: 2}')).duration_ms, answers / 2);
  assert.equal((await forecastWith('fetch: {max_rate: 4/s}')).duration_ms, 6000);
  const slow = await forecastWith('fetch: {max_bandwidth: 10KB/s}');
  assert.equal(slow.duration_ms, (slow.bytes / 10_000) * 1000);
});

test('caps that contradict each other are refused before anything is read', async (t) => {
  const crawl = await jobHarness(t);
  for (const bad of [
    {maxPerHost: 10, maxPerDomain: 5},
    {topN: 5, maxPerHost: 10},
    {share: {news: '0'}},
    {share: {news: 'much'}},
  ])
    await assert.rejects(crawl.run(generate, {...options, ...bad}), {code: 'USAGE'}, JSON.stringify(bad));
});
