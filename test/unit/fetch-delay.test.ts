import assert from 'node:assert/strict';
import test from 'node:test';
import {loadConfig} from '../../lib/config/load.ts';
import {
  type Answer,
  afterAnswer,
  delayOf,
  fromHostState,
  minDelay,
  type Politeness,
  rested,
  restsBeyondFetch,
  toHostState,
  unasked,
  withCrawlDelay,
  withMinDelay,
} from '../../lib/fetcher/delay.ts';
import type {Reason} from '../../lib/schema/reason.ts';

const config = loadConfig({env: {}}).config.politeness;
const minute = 60_000;
const answer = (reason: Reason | null, over: Partial<Answer> = {}): Answer => ({
  endedAt: 1000,
  tookMs: 100,
  reason,
  retryAfterMs: null,
  ...over,
});
const series = (reasons: (Reason | null)[], chance = 0): Politeness =>
  reasons.reduce((host, reason) => afterAnswer(host, answer(reason), config, chance), unasked(1000));

test('the largest term sets the delay, and is named', () => {
  const cases: [Partial<Politeness>, string, number][] = [
    [{}, 'min_delay', 1000],
    [{latencyMs: 1500}, 'latency', 1500],
    [{latencyMs: 1500, crawlDelayMs: 10_000}, 'crawl_delay', 10_000],
    [{crawlDelayMs: 10_000, retryAfterMs: 20_000}, 'retry_after', 20_000],
    [{retryAfterMs: 20_000, backoffMs: 30_000}, 'backoff', 30_000],
    [{latencyMs: 1000}, 'min_delay', 1000],
  ];
  for (const [over, term, delayMs] of cases)
    assert.deepEqual(delayOf({...unasked(1000), ...over}), {term, delayMs});
});

test('the clock starts at the end of the answer', () => {
  const host = afterAnswer(unasked(1000), answer(null, {endedAt: 5000, tookMs: 3000}), config, 0.5);
  assert.equal(host.latencyMs, 15_000);
  assert.equal(host.nextAllowed, 20_000);
  assert.equal(host.lastEnd, 5000);
  assert.equal(host.requests, 1);
});

test('every term is bounded', () => {
  assert.equal(afterAnswer(unasked(1000), answer(null, {tookMs: 1e9}), config, 0).latencyMs, 30_000);
  const later = afterAnswer(unasked(1000), answer('http_429', {retryAfterMs: 1e12}), config, 0);
  assert.equal(later.retryAfterMs, config.max_backoff);
  assert.equal(withCrawlDelay(unasked(1000), 1e12, config).crawlDelayMs, config.max_backoff);
  assert.equal(series(Array(100).fill('http_503')).backoffMs, config.max_backoff);
  assert.equal(series(Array(100).fill('dns')).backoffMs, config.max_error_backoff);
});

test('back-off by reason and number of failures in a row', () => {
  const cases: [(Reason | null)[], number][] = [
    [[null], 0],
    [['http_404'], 0],
    [['redirect'], 0],
    [['http_429'], 5 * minute],
    [['http_503', 'http_503'], 10 * minute],
    [['challenge', 'http_429', 'http_503'], 20 * minute],
    [['http_429', null], 0],
    [['http_429', null, 'http_429'], 5 * minute],
    [['dns'], minute / 2],
    [['connect', 'connect_timeout', 'tls'], 2 * minute],
    [['timeout'], 0],
    [['timeout', 'reset'], minute / 2],
    [['http_5xx', 'http_5xx', 'http_malformed'], minute],
    [['http_5xx', 'http_404', 'http_5xx'], 0],
  ];
  for (const [reasons, expected] of cases)
    assert.equal(series(reasons).backoffMs, expected, reasons.join(' '));
});

test('chance lengthens a rest by at most the jitter, and never shortens it', () => {
  assert.equal(series(['http_429'], 0).backoffMs, 5 * minute);
  assert.equal(series(['http_429'], 0.5).backoffMs, 5 * minute * 1.05);
});

test('a failure before anything was sent counts as failure but not as request; interrupted is nobody’s', () => {
  const failed = afterAnswer(unasked(1000), answer('dns', {tookMs: null}), config, 0);
  assert.deepEqual([failed.requests, failed.failures, failed.dnsFailures], [0, 1, 1]);
  const before = series(['http_429']);
  assert.equal(afterAnswer(before, answer('interrupted'), config, 0), before);
});

test('Crawl-delay moves the next turn; above the limit it spares the one URL of this fetch and holds after it', () => {
  const asked = series([null]);
  assert.equal(withCrawlDelay(asked, 10_000, config).nextAllowed, 11_000);
  const long = withCrawlDelay(asked, 2 * config.max_crawl_delay, config);
  assert.equal(long.nextAllowed, asked.nextAllowed);
  const after = afterAnswer(long, answer(null, {endedAt: 9000}), config, 0);
  assert.equal(after.nextAllowed, 9000 + 2 * config.max_crawl_delay);
  assert.match(restsBeyondFetch(after, 0, 9000, config) ?? '', /7200 s, set by crawl_delay/);
});

test('which rests a fetch waits for', () => {
  const at = (host: Politeness, failures = host.failures) => restsBeyondFetch(host, failures, 1000, config);
  assert.equal(at(series([null])), null);
  assert.equal(at(series(['http_429'])), null);
  assert.equal(at(series(['http_429', 'http_429', 'http_429'])), null);
  assert.match(at(series(Array(4).fill('http_429'))) ?? '', /set by backoff/);
  assert.match(at(series(Array(5).fill('dns'))) ?? '', /5 failures in a row, the last: dns/);
  assert.equal(at(series(Array(5).fill('dns')), 1), null, 'failures of an earlier fetch do not count');
  assert.match(
    at(afterAnswer(unasked(1000), answer('http_503', {retryAfterMs: 3_600_000}), config, 0)) ?? '',
    /3600 s, set by retry_after/,
  );
  assert.equal(at(withCrawlDelay(series([null]), config.max_crawl_delay, config)), null);
});

test('below one second only on loopback or by a rule', () => {
  const quick = {...config, min_delay: 200};
  assert.equal(minDelay(quick, null, false), 1000);
  assert.equal(minDelay(quick, null, true), 200);
  assert.equal(minDelay(quick, 50, false), 50);
  assert.equal(minDelay({...config, min_delay: 3000}, null, false), 3000);
});

test('another least delay takes effect from the last answer on', () => {
  const asked = series([null]);
  assert.equal(withMinDelay(asked, 5000).nextAllowed, 6000);
  assert.equal(withMinDelay(asked, 1000), asked);
  assert.equal(withMinDelay(unasked(1000), 5000).nextAllowed, 0);
});

test('state is stored and read back; a next turn beyond every delay is brought down', () => {
  const host = withCrawlDelay(series(['http_429', 'dns'], 0.3), 2000, config);
  const row = toHostState(host, {hostKey: 7n, hostName: 'a.test', segment: '20260101000000', soft404: null});
  assert.equal(row.delay_term, 'backoff');
  const read = fromHostState(row, 1000, config);
  assert.deepEqual({...read, nextAllowed: 0}, {...host, nextAllowed: 0});
  assert.ok(read.nextAllowed >= host.nextAllowed && read.nextAllowed < host.nextAllowed + 1);
  const wild = fromHostState({...row, next_allowed_time: new Date(1e15)}, 1000, config);
  assert.ok(wild.nextAllowed <= 1000 + config.max_backoff * 1.1);
});

test('after a crash a host rests one full delay', () => {
  assert.equal(rested(series([null]), 50_000).nextAllowed, 51_000);
  // While a back-off holds nothing was asked: it ends when it would have, but for what the delay leaves of it.
  assert.equal(rested(series(['http_429']), 2000).nextAllowed, 1000 + 5 * minute);
  assert.equal(rested(series(['http_429']), 1000 + 5 * minute - 10).nextAllowed, 2000 + 5 * minute - 10);
  // A back-off that is over is not begun again.
  assert.equal(rested(series(['http_429']), 60 * minute).nextAllowed, 60 * minute + 1000);
});
