import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {segmentTime} from '../../lib/crawldb/segment-id.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import type {HostRuleRow, HostStateRow, HostStatsRow} from '../../lib/schema/hostdb.ts';
import {identify} from '../../lib/url/keys.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';

const options = {
  topN: undefined,
  maxPerHost: undefined,
  partitions: undefined,
  maxSegments: 1,
  addDays: 0,
  where: undefined,
  window: undefined,
  concurrent: false,
};
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

/** The same selection, told in plain TypeScript. */
function plainTop(rows: readonly CrawlDatum[], topN: number, perHost: number): string[] {
  const taken = new Map<string, number>();
  const result: string[] = [];
  for (const {url, url_host_name: host} of rows.toSorted(
    (a, b) => b.score - a.score || (a.url_key < b.url_key ? -1 : 1),
  )) {
    const n = taken.get(host) ?? 0;
    if (n >= perHost || result.length >= topN) continue;
    taken.set(host, n + 1);
    result.push(url);
  }
  return result;
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
  assert.deepEqual(urls, plainTop(rows.slice(0, -1), 60, 25));
  assert.equal(report.counters.urls_due_total, 400);
  assert.equal(report.counters.urls_selected_total, 60);
  assert.equal(report.reasons.host_limit, 275);
  const manifest = (await crawl.head()).manifest;
  const [id] = Object.keys(manifest.segments);
  assert.equal(id, '20260101000000');
  assert.equal(manifest.segments[id!]?.urls, 60);
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
    'slow.test': 3,
    'left.test': 3,
    'new.test': 7,
  });
  assert.deepEqual(report.reasons, {
    host_blocked: 10,
    host_resting: 10,
    budget: 10 + 3 + 7 + 3,
    host_limit: 4,
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
      ['refetch', '"x"', '20250101000000'],
      ['retry', null, null],
      ['retry', null, null],
    ],
  );
});

test('a condition and days ahead change what is due; a bad condition is a clear error', async (t) => {
  const crawl = await jobHarness(t);
  await put(crawl, [
    row('http://a.test/x'),
    row('http://a.test/y'),
    row('http://a.test/later', 1, {next_fetch_time: new Date(start + 86_400_000)}),
  ]);
  await assert.rejects(crawl.run(generate, {...options, where: 'no_such_column = 1'}), {
    code: 'QUERY_FAILED',
  });
  await assert.rejects(crawl.run(generate, {...options, where: '1=1; DROP TABLE x'}), {code: 'USAGE'});
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
