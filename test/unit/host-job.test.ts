import assert from 'node:assert/strict';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {describeHost, isHeardOf} from '../../jobs/host/describe.ts';
import {hostNameOf} from '../../jobs/host/name.ts';
import {checkHostRule, hostRules} from '../../jobs/host-rules.ts';
import type {HostRuleRow, HostStateRow, HostStatsRow, RobotsRow} from '../../lib/schema/hostdb.ts';
import {tables} from '../../lib/schema/tables.ts';
import {hostKey} from '../../lib/url/keys.ts';
import {urlPolicy} from '../../lib/url/normalize.ts';
import {crawl as command} from '../support/command.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {sampleRow} from '../support/rows.ts';
import {defaultConfig} from '../support/url-config.ts';

type Change = Partial<Parameters<typeof hostRules.plan>[0]>;
const nothing = {
  domain: undefined,
  pattern: undefined,
  delay: undefined,
  maxConnections: undefined,
  note: undefined,
  hours: undefined,
  maxRate: undefined,
  maxBandwidth: undefined,
} as const;
const flags = {block: false, unblock: false, clear: false} as const;
const setRule = (crawl: JobHarness, host: string, change: Change) =>
  crawl.run(hostRules, {...nothing, ...flags, ...change, host});
const rulesOf = (crawl: JobHarness) =>
  crawl.sql<Record<keyof HostRuleRow, unknown>>('FROM hostrules ORDER BY url_host_name');

test('a host is named in any spelling', () => {
  const policy = urlPolicy(defaultConfig.url);
  for (const [text, name] of [
    ['www.example.org', 'www.example.org'],
    [' WWW.Example.ORG. ', 'www.example.org'],
    ['https://user@Example.org:8443/a/b?c', 'example.org'],
    ['example.org:8080', 'example.org'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
    ['[2001:DB8::1]', '[2001:db8::1]'],
  ] as const)
    assert.equal(hostNameOf(text, policy), name, text);
  for (const text of ['', 'a b', 'example.org/path', 'a@b', 'http://', '1.2.3.256', 'a\\b'])
    assert.throws(() => hostNameOf(text, policy), {code: 'USAGE'}, text);
});

test('rules are set, changed in what is said, and taken back; a row a host', async (t) => {
  const crawl = await jobHarness(t);
  const facts = {
    url_host_name: 'b.test',
    host_key: hostKey('b.test'),
    min_delay_ms: null,
    blocked: false,
    max_connections: null,
    note: null,
    hours: null,
    max_rate: null,
    max_bandwidth: null,
    applies_to: 'host',
    unblocked: null,
  };
  const start = crawl.effects.now();
  assert.equal((await setRule(crawl, 'B.test', {block: true, note: 'asked us'})).outcome, 'done');
  assert.deepEqual(await rulesOf(crawl), [
    {...facts, blocked: true, note: 'asked us', changed_time: new Date(start)},
  ]);

  crawl.effects.pass(1000);
  await setRule(crawl, 'b.test', {delay: 5000, maxConnections: 2});
  await setRule(crawl, 'a.test', {delay: 0});
  const [a, b] = await rulesOf(crawl);
  assert.deepEqual([a?.url_host_name, a?.min_delay_ms, a?.blocked], ['a.test', 0, false]);
  const both = {...facts, min_delay_ms: 5000, max_connections: 2, note: 'asked us'};
  assert.deepEqual(b, {...both, blocked: true, changed_time: new Date(start + 1000)});

  const again = await setRule(crawl, 'b.test', {delay: 5000, block: true});
  assert.equal(again.outcome, 'nothing', 'what holds already is no change');
  await setRule(crawl, 'b.test', {unblock: true});
  assert.equal((await rulesOf(crawl))[1]?.blocked, false);
  await setRule(crawl, 'b.test', {clear: true, delay: 7000});
  const [, cleared] = await rulesOf(crawl);
  assert.deepEqual([cleared?.min_delay_ms, cleared?.max_connections, cleared?.note], [7000, null, null]);
  await setRule(crawl, 'b.test', {clear: true});
  assert.deepEqual(
    (await rulesOf(crawl)).map(({url_host_name}) => url_host_name),
    ['a.test'],
  );
  assert.equal((await setRule(crawl, 'b.test', {clear: true})).outcome, 'nothing');
  await setRule(crawl, 'b.test', {hours: ' 22:00-06:00', maxRate: 2, maxBandwidth: 50_000});
  const limits = {hours: '22:00-06:00', max_rate: 2, max_bandwidth: 50_000};
  assert.deepEqual((await rulesOf(crawl))[1], {...facts, ...limits, changed_time: new Date(start + 1000)});
  await setRule(crawl, 'b.test', {clear: true});
  assert.equal((await setRule(crawl, 'b.test', {unblock: true})).outcome, 'nothing');
});

test('each change raises the version of the slot, by which a running fetch sees it', async (t) => {
  const crawl = await jobHarness(t);
  const version = async () => (await crawl.head()).manifest.slots.hostrules?.version;
  const seen: unknown[] = [];
  for (const change of [{block: true}, {clear: true}, {block: true}, {block: true, unblock: false}]) {
    await setRule(crawl, 'a.test', change);
    seen.push(await version());
  }
  assert.deepEqual(seen, [1, 2, 3, 3]);
});

test('rules for two hosts at once are both kept', async (t) => {
  const crawl = await jobHarness(t);
  await Promise.all(['a.test', 'b.test', 'c.test'].map((host) => setRule(crawl, host, {block: true})));
  assert.deepEqual(
    (await rulesOf(crawl)).map(({url_host_name}) => url_host_name),
    ['a.test', 'b.test', 'c.test'],
  );
});

const segment = '20260101000000';

async function crawlWithHost(t: Parameters<typeof jobHarness>[0]) {
  const crawl = await jobHarness(t);
  const now = crawl.effects.now();
  const who = {host_key: hostKey('a.test'), url_host_name: 'a.test'};
  const state: HostStateRow = {
    ...who,
    next_allowed_time: new Date(now + 240_000),
    last_response_time: new Date(now - 60_000),
    delay_ms: 300_000,
    delay_term: 'backoff',
    min_delay_ms: 1000,
    latency_ms: 250,
    crawl_delay_ms: 2000,
    retry_after_ms: 0,
    backoff_ms: 300_000,
    failures: 3,
    last_reason: 'http_503',
    requests: 1234,
    dns_failures: 0,
    updated_segment: segment,
    soft_404_time: null,
    soft_404_signature: null,
  };
  const stats: HostStatsRow = {
    ...who,
    url_host_registered_domain: 'a.test',
    urls: 12,
    unfetched: 7,
    fetched: 4,
    duplicates: 0,
    gone: 1,
    redirects: 0,
    pages_fetched: 4,
    body_bytes: 2048,
    over_budget: 3,
    novel_bytes: 1024,
    recent_pages: 24.2,
    recent_new: 9.75,
  };
  const robots: RobotsRow = {
    origin: 'https://a.test',
    host_key: who.host_key,
    fetched_time: new Date(now - 7_200_000),
    expires_time: new Date(now + 3_600_000),
    verdict: 'rules',
    fetch_status: 200,
    reason: null,
    unreachable_since: null,
    last_good_time: new Date(now - 7_200_000),
    body: Buffer.from('User-agent: *'),
    crawl_delay_s: 2,
    sitemaps: '["https://a.test/s.xml"]',
  };
  const listed = {...sampleRow(tables.fetchlist, 0), ...who, segment};
  await commitRows(
    crawl,
    [
      {slot: 'hoststate', table: 'hoststate', rows: [state]},
      {slot: 'hoststats', table: 'hoststats', rows: [stats]},
      {slot: 'robots', table: 'robots', rows: [robots]},
      {slot: `segments/${segment}/fetchlist`, table: 'fetchlist', rows: [listed]},
    ],
    {
      [segment]: {
        state: 'generated',
        urls: 1,
        hosts: 1,
        partitions: 1,
        generated_time: new Date(now).toISOString(),
      },
    },
  );
  const settings = {dir: crawl.dir, config: crawl.config, signal: new AbortController().signal};
  return {crawl, now, describe: (host: string) => describeHost(host, now, settings)};
}

test('a host is described by every table, and by a rule made since', async (t) => {
  const {crawl, now, describe} = await crawlWithHost(t);
  const found = await describe('A.test');
  assert.equal(found.state?.requests, 1234);
  assert.equal(found.stats?.urls, 12);
  assert.deepEqual(
    found.robots.map(({origin, crawl_delay_s}) => [origin, crawl_delay_s]),
    [['https://a.test', 2]],
  );
  assert.ok(!('body' in found.robots[0]!));
  assert.deepEqual(found.open, [{segment, urls: 1}]);
  assert.deepEqual([found.rule, found.fetching], [null, null]);
  assert.deepEqual(found.delay, {
    delay_ms: 300_000,
    delay_term: 'backoff',
    min_delay_ms: 1000,
    next_allowed_time: new Date(now + 240_000),
  });
  await setRule(crawl, 'a.test', {delay: 600_000});
  assert.deepEqual((await describe('a.test')).delay, {
    delay_ms: 600_000,
    delay_term: 'min_delay',
    min_delay_ms: 600_000,
    next_allowed_time: new Date(now + 540_000),
  });
});

test('an unknown host is told with its neighbours; a rule alone makes it known', async (t) => {
  const {crawl, describe} = await crawlWithHost(t);
  await assert.rejects(describe('www.a.test'), {
    code: 'HOST_UNKNOWN',
    hint: 'Near it are: a.test',
  });
  await assert.rejects(describe('b.test'), {code: 'HOST_UNKNOWN', facts: {host: 'b.test', near: ['a.test']}});
  await setRule(crawl, 'b.test', {block: true});
  const found = await describe('b.test');
  assert.deepEqual([found.rule?.blocked, isHeardOf(found)], [true, false]);
});

test('crawl host says it in words', async (t) => {
  const {crawl} = await crawlWithHost(t);
  const host = (...argv: string[]) => command(['host', '-C', crawl.dir, ...argv]);
  const shown = await host('a.test');
  assert.equal(shown.code, 0);
  for (const line of [
    /^a\.test\nIt may be asked now after 3 failures in a row, the last http_503\.$/m, // 2026-01-01 is past
    /^politeness {2}next request 2026-01-01T00:04:00Z \(.* ago\); last answer 2025-12-31T23:59:00Z/m,
    /delay 5 min, the longest of: min_delay 1\.0 s, latency 250 ms, crawl_delay 2\.0 s, retry_after 0 ms, backoff 5 min ←/,
    /3 failures in a row, last http_503/,
    /1 234 requests ever/,
    /^robots\.txt {2}https:\/\/a\.test: rules, HTTP 200; read 2025-12-31T22:00:00Z.*; Crawl-delay 2 s; 1 sitemap$/m,
    /^urls {8}12 known URLs: 7 unfetched, 4 fetched, 1 gone; 0 due$/m,
    /4 pages fetched ever, 2\.0 KiB, 1\.0 KiB of them not stored again; 3 new URLs refused by the budget/,
    /10 of its last 24 pages had content of their own: with less than half of them generate gives it less/,
    /^open {8}segment 20260101000000: 1 URL, not applied yet$/m,
  ])
    assert.match(shown.stdout, line);
  assert.doesNotMatch(shown.stdout, /^rule/m);

  const set = await host(
    'a.test',
    '--delay',
    '5s',
    '--max-connections',
    '2',
    '--block',
    '--note',
    'be\u001b[2J kind',
  );
  assert.deepEqual([set.code, set.stdout], [0, '']);
  assert.equal(
    set.stderr,
    'a.test: blocked, delay 5.0 s, 2 connections at once: be\\u{1b}[2J kind; a running fetch keeps to it within 5 s\n',
  );
  const blocked = await host('a.test');
  assert.match(blocked.stdout, /^Blocked by hand: nothing is asked of it\.$/m);
  assert.match(
    blocked.stdout,
    /^rule {8}blocked, delay 5\.0 s, 2 connections at once: be\\u\{1b\}\[2J kind; by hand/m,
  );
  const json = JSON.parse((await host('a.test', '--json')).stdout) as Record<string, Record<string, unknown>>;
  assert.deepEqual([json.answer, json.rule?.blocked], ['Blocked by hand: nothing is asked of it.', true]);

  assert.match(
    (await host('b.test', '--new', '--delay', '100ms')).stderr,
    /^b\.test: delay 100 ms[\s\S]*less than 1 s/,
  );
  assert.match((await host('b.test', '--clear')).stderr, /^b\.test: no rule by hand any more;/);
  assert.equal((await host('b.test', '--clear')).code, 2, 'nothing is known of it any more');
  assert.match((await host('a.test', '--unblock', '--clear')).stderr, /^a\.test: no rule by hand any more/m);
  assert.match((await host('a.test', '--clear')).stderr, /^a\.test: nothing to change$/m);
});

test('wrong use is told before anything is touched', async (t) => {
  const {crawl} = await crawlWithHost(t);
  const host = (...argv: string[]) => command(['host', '-C', crawl.dir, ...argv]);
  const files = () => readdirSync(join(crawl.dir, 'runs')).sort();
  const before = files();
  for (const [argv, message] of [
    [[], /HOST is missing/],
    [['b.test'], /knows no host b\.test/],
    [
      ['b.test', '--block'],
      /knows no host b\.test[\s\S]*Near it are: a\.test\. If it is meant all the same, give --new/,
    ],
    [['--domain', 'c.test', '--block'], /knows no host of the domain c\.test/],
    [['--pattern', 'x*.test', '--block'], /knows no host of the pattern x\*\.test/],
    [['--pattern', 'a.test', '--block'], /is no pattern of host names/],
    [['a.test', '--domain', 'a.test'], /exclude each other/],
    [['a b', '--block'], /a b is no host/],
    [['a.test', '--block', '--unblock'], /exclude each other/],
    [['a.test', '--delay', '5'], /--delay: 5 has no unit/],
    [['a.test', '--delay', '2d'], /--delay: 2d is more than 1d/],
    [['a.test', '--max-connections', '0'], /--max-connections: 0 is less than 1/],
    [['a.test', '--note', ''], /--note/],
  ] as const) {
    const {code, stdout, stderr} = await host(...argv);
    assert.match(stderr, message);
    assert.deepEqual([code, stdout], [2, '']);
  }
  assert.deepEqual(files(), before);
});

test('hours that are none, and limits that let nothing through, are refused', () => {
  const none = {...nothing, ...flags, host: 'a.test'};
  for (const change of [
    {hours: '8-18'},
    {hours: ''},
    {hours: '08:00-08:00'},
    {maxRate: 0},
    {maxBandwidth: 0},
  ])
    assert.throws(() => checkHostRule({...none, ...change}), {code: 'USAGE'}, JSON.stringify(change));
});
