import assert from 'node:assert/strict';
import {test} from 'node:test';
import {isDue, type RobotsFacts, rulesOfRow, sitemapsOf, verdictOf} from '../../lib/robots/from-response.ts';
import {isAllowed} from '../../lib/robots/match.ts';
import {parseRobots} from '../../lib/robots/parse.ts';
import type {RobotsRow} from '../../lib/schema/hostdb.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const config = {max_age: day, last_good: 30 * day, max_size: 500 * 1024, typos: false};
const start = Date.UTC(2026, 0, 1);

function answer(facts: Partial<RobotsFacts>, now = start, previous?: RobotsRow): RobotsRow {
  return verdictOf(
    {
      origin: 'https://example.org',
      host_key: 1n,
      status: null,
      reason: null,
      body: null,
      now,
      previous,
      productToken: 'kestrel',
      ...facts,
    },
    config,
  );
}
const good = (text: string, now = start) => answer({status: 200, body: Buffer.from(text)}, now);
const denies = (row: RobotsRow, path: string) => !isAllowed(rulesOfRow(row, 'kestrel', config), path).allowed;

test('200: the rules in the body, for max_age', () => {
  const row = good('User-agent: *\nDisallow: /a\nCrawl-delay: 3\nSitemap: /s.xml\n');
  assert.equal(row.verdict, 'rules');
  assert.equal(row.expires_time.getTime(), start + day);
  assert.equal(row.last_good_time?.getTime(), start);
  assert.equal(row.crawl_delay_s, 3);
  assert.equal(row.sitemaps, '["https://example.org/s.xml"]');
  assert.equal(row.unreachable_since, null);
  assert.equal(denies(row, '/a'), true);
  assert.equal(denies(row, '/b'), false);
});

for (const status of [400, 401, 403, 404, 410, 418, 451]) {
  test(`${status}: nothing is forbidden, and the old copy is dropped`, () => {
    const row = answer({status}, start + day, good('User-agent: *\nDisallow: /'));
    assert.equal(row.verdict, 'allow_all');
    assert.equal(row.body, null);
    assert.equal(row.last_good_time, null);
    assert.equal(row.expires_time.getTime(), start + 2 * day);
    assert.equal(denies(row, '/'), false);
  });
}

for (const reason of ['redirect_limit', 'redirect_loop', 'redirect_malformed'] as const) {
  test(`${reason}: nothing is forbidden`, () => {
    assert.equal(answer({status: 301, reason}).verdict, 'allow_all');
  });
}

for (const facts of [
  {status: 429},
  {status: 500},
  {status: 503},
  {status: 599},
  {status: 999},
  {status: 100},
  {status: 304},
  {reason: 'dns'},
  {reason: 'connect_timeout'},
  {reason: 'timeout'},
  {reason: 'reset', status: 200, body: Buffer.from('User-agent: *\nDisallow: /a')},
  {reason: 'challenge', status: 403},
  {reason: 'address_refused'},
  {reason: 'redirect_out_of_scope', status: 302},
] as const) {
  test(`${JSON.stringify({status: null, reason: null, ...facts, body: undefined})}: all is forbidden, asked again soon`, () => {
    const row = answer(facts);
    assert.equal(row.verdict, 'deny_all');
    assert.equal(row.unreachable_since?.getTime(), start);
    assert.equal(row.expires_time.getTime(), start + 5 * minute);
    assert.equal(denies(row, '/'), true);
    assert.equal(denies(row, '/robots.txt'), false);
  });
}

test('304 to our question: the last copy, as read anew', () => {
  const row = answer({status: 304}, start + day, good('User-agent: *\nDisallow: /a\n'));
  assert.equal(row.verdict, 'rules');
  assert.equal(row.last_good_time?.getTime(), start + day);
  assert.equal(denies(row, '/a'), true);
});

test('unreachable for 30 days: the last copy holds for 30 more, then nothing is forbidden', () => {
  let row = good('User-agent: *\nDisallow: /a\n');
  const seen: string[] = [];
  let now = start + day;
  const since = now;
  let asked = 0;
  while (now < since + 70 * day) {
    row = answer({status: 503}, now, row);
    asked++;
    assert.equal(row.unreachable_since?.getTime(), since);
    const allowed = [denies(row, '/a'), denies(row, '/b')].join();
    if (seen.at(-1) !== `${row.verdict} ${allowed}`) seen.push(`${row.verdict} ${allowed}`);
    assert.ok(row.expires_time.getTime() > now, 'never due at once');
    assert.ok(row.expires_time.getTime() <= now + day, 'asked again within max_age');
    now = row.expires_time.getTime();
  }
  assert.deepEqual(seen, ['deny_all true,true', 'rules true,false', 'allow_all false,false']);
  assert.ok(asked < 90, `${asked} questions: waits double up to a day`);
});

test('unreachable for 30 days without a copy: nothing is forbidden', () => {
  const first = answer({reason: 'dns'});
  assert.equal(answer({reason: 'dns'}, start + 29 * day, first).verdict, 'deny_all');
  assert.equal(answer({reason: 'dns'}, start + 31 * day, first).verdict, 'allow_all');
});

test('a good answer ends a series of failures', () => {
  const failed = answer({status: 503}, start, good('User-agent: *\nDisallow: /a', start - day));
  const row = answer({status: 200, body: Buffer.from('')}, start + hour, failed);
  assert.equal(row.unreachable_since, null);
  assert.equal(row.verdict, 'rules');
});

test('Retry-After is waited for, within max_age', () => {
  assert.equal(answer({status: 503, retryAfterMs: 2 * hour}).expires_time.getTime(), start + 2 * hour);
  assert.equal(answer({status: 503, retryAfterMs: 9 * day}).expires_time.getTime(), start + day);
});

test('a clock that was set back does not lengthen a series', () => {
  const first = answer({status: 503});
  assert.equal(answer({status: 503}, start - 40 * day, first).verdict, 'deny_all');
});

test('a body over the limit, or cut by the client, ends at its last whole line', () => {
  const rule = 'Disallow: /private\n';
  const text = 'User-agent: *\n' + rule.repeat(Math.ceil((600 * 1024) / rule.length));
  const row = good(text);
  assert.ok(row.body!.length <= config.max_size);
  assert.equal(row.body!.at(-1), 10);
  assert.equal(denies(row, '/b'), false);
  const cut = answer({status: 200, body: Buffer.from('User-agent: *\nDisallow: /'), truncated: true});
  assert.equal(denies(cut, '/b'), false);
});

test('due: never read, expired, or from a clock that was ahead', () => {
  const row = good('');
  assert.equal(isDue(undefined, start, config), true);
  assert.equal(isDue(row, start + day - 1, config), false);
  assert.equal(isDue(row, start + day, config), true);
  assert.equal(isDue(row, start - 2 * day, config), true);
});

test('sitemaps are absolute http URLs, each once', () => {
  const text = ['https://a.example/s.xml', '/b.xml', '/b.xml', 'ftp://a.example/x', 'http://', ' ', 'c.xml'];
  const file = parseRobots(Buffer.from(text.map((url) => `Sitemap: ${url}`).join('\n')), {
    maxBytes: 1e6,
    typos: false,
  });
  assert.deepEqual(sitemapsOf(file, 'https://example.org'), [
    'https://a.example/s.xml',
    'https://example.org/b.xml',
    'https://example.org/c.xml',
  ]);
});

test('of Sitemap lines the first 10,000 are looked at, however many name one URL', () => {
  const lines = [
    ...Array.from({length: 9_999}, () => 'Sitemap: /a.xml'),
    'Sitemap: /b.xml',
    'Sitemap: /c.xml',
  ];
  const file = parseRobots(Buffer.from(lines.join('\n')), {maxBytes: 500 * 1024, typos: false});
  assert.deepEqual(sitemapsOf(file, 'http://example.org'), [
    'http://example.org/a.xml',
    'http://example.org/b.xml',
  ]);
});
