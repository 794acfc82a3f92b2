import assert from 'node:assert/strict';
import {test} from 'node:test';
import {effectOf, effects, reasonClass} from '../../lib/crawldb/effect.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {
  applyOutcome,
  applyOutcomes,
  applyReparse,
  type Outcome,
  replayOutcomes,
  type TransitionPolicy,
} from '../../lib/crawldb/transition.ts';
import {scheduleOf} from '../../lib/schedule/from-config.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {type Reason, reasonNames} from '../../lib/schema/reason.ts';
import {dbStatuses, type FetchStatus, fetchStatuses} from '../../lib/schema/status.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultConfig} from '../support/url-config.ts';

const policy: TransitionPolicy = {
  schedule: scheduleOf(defaultConfig.schedule),
  config: defaultConfig.schedule,
  waits: defaultConfig.politeness,
};
const day = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const at = (days: number) => new Date(start + days * day);

const fresh = newRow(
  identify('http://a.test/'),
  {score: 1, depth: 0, seed: null, tag: null, hopType: 'I', time: at(0), from: null, intervalS: 30 * 86_400},
  1,
);
const parsed = (body: number) => ({
  status: 'success' as const,
  reason: null,
  signature: Uint8Array.of(body),
  text_signature: null,
  simhash: null,
  canonical_url: null,
});

function outcome(status: FetchStatus, days: number, changes: Partial<Outcome> = {}): Outcome {
  return {
    segment: `2026${String(Math.floor(days)).padStart(10, '0')}`,
    status,
    reason: null,
    fetch_time: at(days),
    fetch_status: null,
    fetch_redirect: null,
    content_digest: null,
    content_segment: null,
    etag: null,
    last_modified: null,
    parse: null,
    host_allowed: null,
    ...changes,
  };
}
const success = (body: number, days: number, changes: Partial<Outcome> = {}) =>
  outcome('success', days, {
    fetch_status: 200,
    content_digest: `D${body}`,
    content_segment: 'held',
    etag: `"${body}"`,
    parse: parsed(body),
    ...changes,
  });
const seen = applyOutcome(fresh, success(1, 1), policy);

/** What no failure may touch. */
const history = (row: CrawlDatum) => [
  row.last_success_time,
  row.last_success_segment,
  row.modified_time,
  row.content_digest,
  row.signature,
  row.etag,
  row.visits,
  row.changes,
];

test('each fetch status and class of reason has its effect, and each reason its class', () => {
  assert.deepEqual(Object.keys(effects), [...fetchStatuses]);
  const of = (name: string) => reasonNames.filter((reason) => reasonClass(reason) === name);
  assert.deepEqual(of('host').sort(), [
    'challenge',
    'connect',
    'connect_timeout',
    'dns',
    'http_429',
    'http_503',
    'robots_unreachable',
    'tls',
  ]);
  for (const reason of [
    'robots_denied',
    'scope_rule',
    'depth',
    'content_type',
    'address_refused',
    'scheme',
  ] as const)
    assert.equal(reasonClass(reason), 'refusal', reason);
  for (const reason of ['timeout', 'reset', 'http_5xx', 'http_404', 'redirect_limit'] as const)
    assert.equal(reasonClass(reason), 'url', reason);
  for (const reason of ['window', 'closed', 'own_network', 'budget', 'host_blocked', 'redirect'] as const)
    assert.equal(reasonClass(reason), 'nobody', reason);
});

test('whatever the row and the outcome: due after the outcome or untouched, and failures keep the last success', () => {
  const reasons: readonly (Reason | null)[] = [null, ...reasonNames];
  for (const from of dbStatuses)
    for (const before of [
      {...fresh, status: from},
      {...seen, status: from},
    ])
      for (const status of fetchStatuses)
        for (const reason of reasons) {
          const one = outcome(status, 40, {reason});
          const after = applyOutcome(before, one, policy);
          const label = `${from} ${status} ${reason}`;
          if (effectOf(status, reason) === 'nothing') {
            assert.equal(after, before, label);
            continue;
          }
          assert.ok(after.next_fetch_time.getTime() >= one.fetch_time.getTime() + 30_000, label);
          assert.equal(after.updated_segment, one.segment, label);
          assert.ok(after.retries >= 0, label);
          if (status !== 'success' && status !== 'notmodified')
            assert.deepEqual(history(after), history(before), label);
          if (after.status !== 'duplicate') assert.equal(after.duplicate_of, null, label);
        }
});

test('success: fetched first, notmodified when the signature is equal, fetched when it differs', () => {
  assert.deepEqual(
    [seen.status, seen.reason, seen.visits, seen.changes, seen.modified_time, seen.last_success_segment],
    ['fetched', null, 1, 0, at(1), '20260000000001'],
  );
  assert.deepEqual(seen.next_fetch_time, at(31));
  const same = applyOutcome(seen, success(1, 31, {content_digest: 'coded otherwise'}), policy);
  assert.deepEqual(
    [same.status, same.visits, same.changes, same.modified_time, same.next_fetch_time],
    ['notmodified', 2, 0, at(1), at(91)],
  );
  const other = applyOutcome(same, success(2, 91), policy);
  assert.deepEqual(
    [other.status, other.visits, other.changes, other.modified_time, other.fetch_interval_s],
    ['fetched', 3, 1, at(91), 30 * 86_400],
  );
});

test('success without a parse: equal bytes are unchanged and keep their signature, others are unknown', () => {
  const same = applyOutcome(seen, success(1, 31, {parse: null}), policy);
  assert.deepEqual([same.status, same.signature], ['notmodified', seen.signature]);
  const other = applyOutcome(seen, success(2, 31, {parse: null}), policy);
  assert.deepEqual(
    [other.status, other.signature, other.changes, other.fetch_interval_s],
    ['fetched', null, 0, 30 * 86_400],
  );
});

test('304: unchanged, the validators kept unless new ones came', () => {
  const row = applyOutcome(seen, outcome('notmodified', 31, {fetch_status: 304}), policy);
  assert.deepEqual(
    [row.status, row.etag, row.visits, row.changes, row.last_success_segment, row.signature],
    ['notmodified', '"1"', 2, 0, seen.last_success_segment, seen.signature],
  );
  assert.equal(applyOutcome(seen, outcome('notmodified', 31, {etag: '"n"'}), policy).etag, '"n"');
});

test('redirects: scheduled as pages are, the target named, signatures not compared', () => {
  const one = outcome('redir_temp', 31, {
    fetch_status: 302,
    fetch_redirect: 'http://b.test/',
    reason: 'redirect',
  });
  const row = applyOutcome(seen, one, policy);
  assert.deepEqual(
    [row.status, row.fetch_redirect, row.next_fetch_time, row.signature],
    ['redir_temp', 'http://b.test/', at(61), seen.signature],
  );
  const back = applyOutcome(row, success(1, 61), policy);
  assert.deepEqual([back.status, back.fetch_redirect], ['notmodified', null]);
});

test('gone, and seen again', () => {
  const row = applyOutcome(seen, outcome('gone', 31, {reason: 'http_404', fetch_status: 404}), policy);
  assert.deepEqual(
    [row.status, row.reason, row.next_fetch_time, row.fetch_interval_s],
    ['gone', 'http_404', at(76), 45 * 86_400],
  );
  const back = applyOutcome(row, success(1, 76), policy);
  assert.deepEqual([back.status, back.reason], ['notmodified', null]);
});

test('failures of the URL: kept as it was, later and later, gone after the limit; no overflow after that', () => {
  let row = seen;
  const told: unknown[] = [];
  for (let day = 31; day < 34; day++) {
    row = applyOutcome(row, outcome('retry', day, {reason: 'timeout'}), policy);
    told.push([
      row.status,
      row.reason,
      row.retries,
      (row.next_fetch_time.getTime() - at(day).getTime()) / 86_400_000,
    ]);
  }
  assert.deepEqual(told, [
    ['fetched', 'timeout', 1, 1],
    ['fetched', 'timeout', 2, 2],
    ['gone', 'retry_limit', 3, 45],
  ]);
  for (let n = 0; n < 300; n++)
    row = applyOutcome(row, outcome('retry', 100 + n, {reason: 'timeout'}), policy);
  assert.deepEqual([row.status, row.retries], ['gone', 303]);
  const back = applyOutcome(row, success(1, 900), policy);
  assert.deepEqual([back.status, back.retries], ['notmodified', 0]);
});

test('failures of the host: retries untouched, due when the host may be asked', () => {
  const allowed = new Date(at(31).getTime() + 7_200_000);
  const row = applyOutcome(seen, outcome('retry', 31, {reason: 'http_503', host_allowed: allowed}), policy);
  assert.deepEqual([row.status, row.retries, row.next_fetch_time], ['fetched', 0, allowed]);
  let again = applyOutcome(fresh, outcome('retry', 31, {reason: 'http_429'}), policy);
  const waits: number[] = [];
  for (let n = 0; n < 4; n++) {
    waits.push((again.next_fetch_time.getTime() - again.fetch_time!.getTime()) / 60_000);
    again = applyOutcome(again, outcome('retry', 32 + n, {reason: 'http_429'}), policy);
  }
  assert.deepEqual(waits, [5, 10, 20, 40]);
  assert.equal(again.status, 'unfetched');
});

test('refusals: gone with the reason, looked at again after a week; no fetch is claimed that was not made', () => {
  const row = applyOutcome(seen, outcome('gone', 31, {reason: 'robots_denied'}), policy);
  assert.deepEqual(
    [row.status, row.reason, row.next_fetch_time, row.fetch_time, row.fetch_interval_s],
    ['gone', 'robots_denied', at(38), at(1), seen.fetch_interval_s],
  );
});

test('a parse that failed is a state of its own; a later parse of the capture mends it', () => {
  const failed = {...parsed(1), status: 'failed', reason: 'parse_timeout', signature: null} as const;
  const row = applyOutcome(fresh, success(1, 1, {parse: failed}), policy);
  assert.deepEqual([row.status, row.reason, row.signature], ['parse_failed', 'parse_timeout', null]);
  const mended = applyReparse(row, row.last_success_segment!, parsed(1));
  assert.deepEqual([mended.status, mended.reason, mended.signature], ['fetched', null, Uint8Array.of(1)]);
  assert.deepEqual([mended.visits, mended.next_fetch_time], [row.visits, row.next_fetch_time]);
  assert.equal(applyReparse(row, 'another segment', parsed(1)), row);
  assert.equal(applyReparse(mended, row.last_success_segment!, failed).status, 'parse_failed');
});

test('outcomes are taken in order of time, and a late one gives what it had given in time', () => {
  const list = [success(1, 1), success(2, 31), outcome('retry', 40, {reason: 'timeout'}), success(2, 50)];
  const inOrder = applyOutcomes(fresh, list, policy);
  assert.deepEqual(applyOutcomes(fresh, list.toReversed(), policy), inOrder);
  const without = applyOutcomes(fresh, list.toSpliced(1, 1), policy);
  assert.deepEqual(replayOutcomes(without, list.toSpliced(1, 1), [list[1]!], policy), inOrder);
});

test('where older outcomes are kept no more, what comes late is left out and told; what is newest counts', () => {
  const list = [success(1, 1), success(2, 31), success(3, 60)];
  const row = applyOutcomes(fresh, list, policy);
  const late = success(4, 45);
  // As many visits as the row has, with one of its own missing among them
  const frozen = replayOutcomes(row, list.slice(1), [late], policy);
  assert.deepEqual(frozen, {...row, history_frozen: true});
  assert.deepEqual(replayOutcomes(frozen, [], [success(5, 46)], policy), frozen);
  const newest = success(4, 70);
  assert.deepEqual(replayOutcomes(row, list.slice(1), [newest], policy), applyOutcome(row, newest, policy));
  const both = replayOutcomes(row, list.slice(1), [late, newest], policy);
  assert.deepEqual(both, {...applyOutcome(row, newest, policy), history_frozen: true});
});

test('a failure or an answer that is kept no more is missed, too, though it is no visit', () => {
  const timeout = (days: number) => outcome('retry', days, {reason: 'timeout'});
  const missing = outcome('gone', 5, {reason: 'http_404', fetch_status: 404});
  const late = timeout(7);
  for (const [name, list] of [
    ['a time-out', [success(1, 1), timeout(5), timeout(10)]],
    ['an answer', [success(1, 1), missing, timeout(10)]],
    ['the newest', [timeout(8), success(1, 9), missing]],
  ] as const) {
    const order = list.toSorted((a, b) => a.fetch_time.getTime() - b.fetch_time.getTime());
    const row = applyOutcomes(fresh, order, policy);
    const gone = order.at(name === 'the newest' ? 2 : 1)!;
    const kept = order.filter((one) => one !== gone);
    assert.deepEqual(replayOutcomes(row, kept, [late], policy), {...row, history_frozen: true}, name);
    const whole = applyOutcomes(fresh, [...order, late], policy);
    assert.deepEqual(replayOutcomes(row, order, [late], policy), whole, name);
  }
});
