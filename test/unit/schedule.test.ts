import assert from 'node:assert/strict';
import {test} from 'node:test';
import {type AdaptiveFactors, adaptiveSchedule} from '../../lib/schedule/adaptive.ts';
import {goneSchedule, hostRetryTime, retryTime} from '../../lib/schedule/failure.ts';
import {fixedSchedule} from '../../lib/schedule/fixed.ts';
import type {Bounds, Schedule, Visit} from '../../lib/schedule/schedule.ts';

const day = 86_400;
const ms = (days: number) => Math.round(days * day * 1000);
const bounds: Bounds = {firstS: 30 * day, minS: 3600, maxS: 90 * day};
const nutch: AdaptiveFactors = {changed: 0.8, unchanged: 1.4, syncDelta: 0.3};

const visit = (changes: Partial<Visit>): Visit => ({
  fetchTime: 0,
  intervalS: 30 * day,
  fixed: false,
  change: 'unknown',
  modifiedTime: null,
  history: null,
  weight: 1,
  ...changes,
});

/** What holds for each schedule, with any factors. */
const schedules: Readonly<Record<string, Schedule>> = {
  fixed: fixedSchedule(bounds),
  adaptive: adaptiveSchedule(bounds, {changed: 0.5, unchanged: 2}),
  "adaptive, Nutch's factors": adaptiveSchedule(bounds, nutch),
};
for (const [name, schedule] of Object.entries(schedules)) {
  test(`${name}: bounds hold, the due time is after the visit, a fixed interval stays`, () => {
    for (const change of ['modified', 'unmodified', 'unknown'] as const)
      for (const intervalS of [0, 1, 3600, 30 * day, 90 * day, 1e9])
        for (const modifiedTime of [null, 0, ms(-1000), ms(1)]) {
          const next = schedule.visited(visit({intervalS, change, modifiedTime}));
          assert.ok(next.intervalS >= bounds.minS && next.intervalS <= bounds.maxS);
          assert.ok(Number.isInteger(next.intervalS));
          assert.ok(next.nextFetchTime >= bounds.minS * 1000, `${next.nextFetchTime}`);
          const fixed = schedule.visited(visit({intervalS: 77, change, modifiedTime, fixed: true}));
          assert.deepEqual(fixed, {intervalS: 77, nextFetchTime: 77_000});
        }
  });
  test(`${name}: without an interval the first one counts, unchanged where nothing could be compared`, () => {
    assert.deepEqual(schedule.visited(visit({intervalS: 0})), {intervalS: 30 * day, nextFetchTime: ms(30)});
  });
}

test('fixed: due after the interval whatever was found (Nutch DefaultFetchSchedule)', () => {
  for (const change of ['modified', 'unmodified', 'unknown'] as const)
    assert.deepEqual(schedules.fixed!.visited(visit({fetchTime: ms(5), change})), {
      intervalS: 30 * day,
      nextFetchTime: ms(35),
    });
});

test("adaptive: Nutch's numbers, with its factors and sync_delta", () => {
  const schedule = adaptiveSchedule({...bounds, maxS: 365 * day}, nutch);
  assert.deepEqual(schedule.visited(visit({fetchTime: ms(30), change: 'modified', modifiedTime: 0})), {
    intervalS: 24 * day,
    nextFetchTime: ms(54),
  });
  // A page that changed on day 0 and never again: visits on days 30, 63, 107.1
  const expected = [
    {at: 30, interval: 42, due: 63},
    {at: 63, interval: 63, due: 107.1},
    {at: 107.1, interval: 107.1, due: 182.07},
  ];
  let intervalS = 30 * day;
  for (const {at, interval, due} of expected) {
    const next = schedule.visited(
      visit({fetchTime: ms(at), intervalS, change: 'unmodified', modifiedTime: 0}),
    );
    assert.deepEqual(next, {intervalS: interval * day, nextFetchTime: ms(due)});
    intervalS = next.intervalS;
  }
});

test('adaptive: our factors halve and double', () => {
  const schedule = schedules.adaptive!;
  assert.equal(schedule.visited(visit({change: 'modified'})).intervalS, 15 * day);
  assert.equal(schedule.visited(visit({change: 'unmodified'})).intervalS, 60 * day);
  assert.equal(schedule.visited(visit({change: 'unmodified', intervalS: 60 * day})).intervalS, 90 * day);
});

test('a page unchanged for years keeps a due time after its visit', () => {
  const schedule = adaptiveSchedule(bounds, {...nutch, syncDelta: 0.9});
  const next = schedule.visited(
    visit({fetchTime: ms(3650), change: 'unmodified', intervalS: 90 * day, modifiedTime: 0}),
  );
  assert.deepEqual(next, {intervalS: 90 * day, nextFetchTime: ms(3650) + bounds.minS * 1000});
});

test("gone: 30, 45, 67.5, 81, 81 days (Nutch's numbers); a fixed interval stays", () => {
  let intervalS = 30 * day;
  for (const expected of [45, 67.5, 81, 81]) {
    const next = goneSchedule({fetchTime: ms(1), intervalS, fixed: false}, bounds, 1.5);
    assert.deepEqual(next, {intervalS: expected * day, nextFetchTime: ms(1 + expected)});
    intervalS = next.intervalS;
  }
  assert.equal(goneSchedule({fetchTime: 0, intervalS: 60, fixed: true}, bounds, 1.5).intervalS, 60);
});

test('retry: a day, doubling, at most the longest interval; no count of failures overflows it', () => {
  const days = [1, 2, 3, 4, 10, 200, 1e9].map((retries) => retryTime(0, retries, ms(1), 90 * day) / ms(1));
  assert.deepEqual(days, [1, 2, 4, 8, 90, 90, 90]);
});

test('a failure of the host: due when the host may be asked, never before its back-off, doubling to a day', () => {
  const waits = {backoff: 300_000, error_backoff: 30_000};
  const facts = {fetchTime: 1000, overloaded: false, hostAllowed: null, lastWait: null, waits};
  assert.equal(hostRetryTime(facts), 31_000);
  assert.equal(hostRetryTime({...facts, overloaded: true}), 301_000);
  assert.equal(hostRetryTime({...facts, hostAllowed: 9_000_000}), 9_000_000);
  assert.equal(hostRetryTime({...facts, hostAllowed: 2000}), 31_000);
  assert.equal(hostRetryTime({...facts, lastWait: 300_000}), 601_000);
  assert.equal(hostRetryTime({...facts, lastWait: 1e12}), 1000 + 86_400_000);
});
