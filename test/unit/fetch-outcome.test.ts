import assert from 'node:assert/strict';
import test from 'node:test';
import {captureId} from '../../lib/fetcher/capture-id.ts';
import {isChallenge, locationOf, outcomeOf, outcomeOfStatus} from '../../lib/fetcher/outcome.ts';
import type {Exchange, ResponseHead} from '../../lib/http/exchange.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import {captureKinds} from '../../lib/schema/status.ts';

const head = (status: number, headers: [string, string][] = []): ResponseHead => ({
  status,
  statusText: '',
  headers,
});
const exchange = (reason: Reason | null, of: ResponseHead | null): Exchange => ({
  reason,
  detail: null,
  head: of,
  requestHeader: null,
  responseHeader: null,
  body: null,
  truncated: null,
  sha1: null,
  sha256: null,
  connection: null,
  timings: {dns: null, connect: null, firstByte: null, total: 0},
});

test('status codes', () => {
  const cases: [number[], string, string | null][] = [
    [[200, 201, 203, 204, 206, 299], 'success', null],
    [[301, 308], 'redir_perm', 'redirect'],
    [[302, 303, 307], 'redir_temp', 'redirect'],
    [[404], 'gone', 'http_404'],
    [[410], 'gone', 'http_410'],
    [[400, 401, 403, 405, 418, 451, 499], 'gone', 'http_4xx'],
    [[408, 425], 'retry', 'http_4xx'],
    [[429], 'retry', 'http_429'],
    [[503], 'retry', 'http_503'],
    [[500, 501, 502, 504, 520, 599], 'retry', 'http_5xx'],
    [[100, 199, 300, 304, 305, 306, 600, 999], 'gone', 'http_other'],
  ];
  for (const [codes, status, reason] of cases)
    for (const code of codes) assert.deepEqual(outcomeOfStatus(code, false), {status, reason}, `${code}`);
  assert.deepEqual(outcomeOfStatus(304, true), {status: 'notmodified', reason: null});
});

test('every status code of three digits has an outcome', () => {
  for (let code = 100; code < 1000; code++) assert.ok(outcomeOfStatus(code, true).status);
});

test('failures', () => {
  const cases: [Reason, string][] = [
    ['dns', 'retry'],
    ['connect', 'retry'],
    ['connect_timeout', 'retry'],
    ['tls', 'retry'],
    ['timeout', 'retry'],
    ['reset', 'retry'],
    ['http_malformed', 'retry'],
    ['header_limit', 'retry'],
    ['address_refused', 'gone'],
    ['content_type', 'gone'],
    ['interrupted', 'skipped'],
  ];
  for (const [reason, status] of cases)
    assert.deepEqual(outcomeOf(exchange(reason, head(200)), true), {status, reason}, reason);
  assert.deepEqual(outcomeOf(exchange(null, null), true), {status: 'retry', reason: 'reset'});
});

test('bot challenges are known by the headers that announce them', () => {
  const challenge = head(403, [['CF-Mitigated', 'challenge']]);
  assert.deepEqual(outcomeOf(exchange(null, challenge), false), {status: 'retry', reason: 'challenge'});
  assert.ok(isChallenge(head(202, [['x-amzn-waf-action', 'captcha']])));
  assert.ok(!isChallenge(head(403, [['server', 'cloudflare']])));
});

test('Location is read as UTF-8 where it is UTF-8, else as latin1', () => {
  assert.equal(locationOf(head(301, [['Location', ' /a ']])), '/a');
  assert.equal(locationOf(head(301, [['location', Buffer.from('/ä').toString('latin1')]])), '/ä');
  assert.equal(locationOf(head(301, [['LOCATION', '/\u00e4']])), '/ä');
  assert.equal(locationOf(head(301, [['location', '']])), null);
  assert.equal(locationOf(head(301)), null);
});

test('capture ids differ where the capture differs, and only there', () => {
  const ids = new Set<string>();
  for (const kind of captureKinds)
    for (const segment of ['20260101000000', '20260101000001'])
      for (const key of [1n, 2n ** 63n + 1n])
        for (const hop of [0, 1])
          for (const time of [1_764_501_360_000, 1_764_501_360_001])
            ids.add(captureId(segment, kind, key, time, hop));
  assert.equal(ids.size, captureKinds.length * 16);
  assert.equal(
    captureId('20260101000000', 'page', 10n, 1_764_501_360_000, 0),
    captureId('20260101000000', 'page', 10n, 1_764_501_360_000, 0),
  );
  for (const id of ids) assert.match(id, /^[a-z0-9-]+$/);
});
