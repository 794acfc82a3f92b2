import assert from 'node:assert/strict';
import {test} from 'node:test';
import {type Belief, beliefAfter, bestInterval, choicesBetween} from '../../lib/schedule/belief.ts';
import {changeRateSchedule} from '../../lib/schedule/by-change-rate.ts';
import {changeRate, regularChangeRate} from '../../lib/schedule/change-rate.ts';
import {duplicateSchedule} from '../../lib/schedule/duplicate.ts';
import {evidenceOf} from '../../lib/schedule/evidence.ts';
import {age, freshness, intervalAt, priceFor, visitsPerSecond} from '../../lib/schedule/freshness.ts';
import {importanceOf} from '../../lib/schedule/importance.ts';
import {nextPrice} from '../../lib/schedule/price.ts';
import {redirectSchedule} from '../../lib/schedule/redirect.ts';
import {scheduleRules} from '../../lib/schedule/rules.ts';
import type {Bounds} from '../../lib/schedule/schedule.ts';
import {seededRandom} from '../../lib/schedule/synthetic-web.ts';
import {addVisit, maxPastVisits, type PastVisit, readHistory} from '../../lib/schedule/visit-history.ts';

const day = 86_400;
const bounds: Bounds = {firstS: 10 * day, minS: 3600, maxS: 90 * day};
const near = (a: number, b: number, part = 1e-4) =>
  assert.ok(Math.abs(a - b) <= part * Math.abs(b), `${a} is not near ${b}`);

test('equal distances: the estimator for any distances is Cho and Garcia-Molina’s for regular ones', () => {
  for (const n of [1, 5, 24])
    for (let changes = 1; changes <= n; changes++) {
      const visits = Array.from({length: n}, (_, i) => ({intervalS: day, changed: i < changes}));
      near(changeRate(visits)!, regularChangeRate(n, changes, day));
    }
});

test('the regular estimator is nearer to the truth than counting changes (their table: 1.2 changes a visit)', () => {
  const random = seededRandom(1);
  const estimates = Array.from({length: 4000}, () => {
    let changes = 0;
    for (let i = 0; i < 10; i++) if (random() > Math.exp(-1.2)) changes++;
    return {better: regularChangeRate(10, changes, 1), counted: changes / 10};
  });
  const mean = (of: (one: (typeof estimates)[number]) => number) =>
    estimates.reduce((sum, one) => sum + of(one), 0) / estimates.length;
  assert.ok(Math.abs(mean(({better}) => better) - 1.2) < 0.06);
  assert.ok(mean(({counted}) => counted) < 0.75);
});

test('distances of any length: the estimate has the greatest likelihood', () => {
  const visits = [
    {intervalS: day, changed: true},
    {intervalS: 3 * day, changed: true},
    {intervalS: 0.5 * day, changed: false},
    {intervalS: 2 * day, changed: false},
  ];
  const likelihood = (rate: number) =>
    visits.reduce(
      (sum, {intervalS, changed}) =>
        sum + (changed ? Math.log(-Math.expm1(-rate * intervalS)) : -rate * intervalS),
      -rate * 0.5 * day, // the estimator's half an interval without change
    );
  const best = changeRate(visits)!;
  assert.ok(likelihood(best) > likelihood(best * 1.01));
  assert.ok(likelihood(best) > likelihood(best * 0.99));
});

test('no visits, no estimate; always or never changed: a rate that is neither endless nor 0', () => {
  assert.equal(changeRate([]), null);
  near(changeRate([{intervalS: day, changed: false}])!, 0.12 / day);
  near(changeRate([{intervalS: day, changed: true}])!, Math.log(3) / day);
});

test('freshness and age against a simulation', () => {
  const random = seededRandom(7);
  for (const [rate, interval] of [
    [0.1, 10],
    [1, 3],
    [3, 0.2],
  ] as const) {
    let fresh = 0;
    let old = 0;
    const visits = 40_000;
    for (let i = 0; i < visits; i++) {
      const change = Math.min(-Math.log(1 - random()) / rate, interval);
      fresh += change / visits;
      old += (interval - change) ** 2 / 2 / visits;
    }
    near(freshness(rate, interval), fresh / interval, 0.02);
    near(age(rate, interval), old / interval, 0.03);
  }
  assert.equal(freshness(0, day), 1);
  near(age(1e-9, 1000), (1000 * 1e-6) / 6, 0.01);
});

test('the price spends the budget, and no other intervals of the same cost are fresher', () => {
  const groups = [0.01, 0.1, 0.5, 2, 50].map((rate) => ({rate, weight: 1, pages: 10, minS: 0.01, maxS: 1e9}));
  const price = priceFor(groups, 5);
  near(visitsPerSecond(groups, price), 5);
  const intervals = groups.map(({rate, weight}) => Math.min(intervalAt(price, rate, weight), 1e9));
  const total = (list: readonly number[]) =>
    list.reduce((sum, interval, i) => sum + freshness(groups[i]!.rate, interval), 0);
  const best = total(intervals);
  for (let from = 0; from < groups.length; from++)
    for (let to = 0; to < groups.length; to++) {
      if (from === to || intervals[from]! >= 1e9) continue;
      const moved = 0.01 / intervals[from]!; // a hundredth of the visits of one page, given to another
      const other = intervals.map((interval, i) =>
        i === from ? 1 / (1 / interval - moved) : i === to ? 1 / (1 / interval + moved) : interval,
      );
      assert.ok(total(other) <= best + 1e-9);
    }
  assert.equal(intervalAt(price, 50, 1), Number.POSITIVE_INFINITY, 'what changes too fast is given up');
  assert.ok(intervalAt(price, 50, 1000) < 10, 'unless it weighs enough');
  assert.equal(priceFor([], 1), 0);
});

test('a price steers to the budget: less used than there is makes visits cheaper, too much dearer', () => {
  const groups = [{rate: 1 / day, weight: 1, pages: 100, minS: 3600, maxS: 90 * day}];
  const budget = 10 / day;
  const first = nextPrice(groups, 0, budget, null, 0, 0)!;
  const idle = nextPrice(groups, 0, budget, first, 2, day * 1000)!;
  const busy = nextPrice(groups, 0, budget, first, 40, day * 1000)!;
  assert.ok(idle.price < first.price && first.price < busy.price);
  assert.equal(nextPrice(groups, 0, budget, first, 40, -1)!.boost, 1, 'a clock set back says nothing');
  assert.equal(nextPrice([], 0, budget, null, 0, 0), null);
});

const visitsOf = (intervals: readonly number[], changed: (at: number) => boolean) =>
  intervals.reduce<Uint8Array | null>(
    (history, days, at) => addVisit(history, {intervalS: days * day, changed: changed(at)}),
    null,
  );

test('a rate that is not known yet is searched for: sooner after a change, before a page is given up; later after none', () => {
  const schedule = changeRateSchedule(bounds, day);
  const search = (change: 'modified' | 'unmodified') => {
    let intervalS = bounds.firstS;
    let history: Uint8Array | null = null;
    return Array.from({length: 4}, () => {
      history = addVisit(history, {intervalS, changed: change === 'modified'});
      const facts = {fetchTime: 0, intervalS, fixed: false, change, modifiedTime: null, history, weight: 1};
      intervalS = schedule.visited(facts).intervalS;
      return intervalS;
    });
  };
  const sooner = search('modified');
  assert.ok(sooner[0]! < bounds.firstS);
  assert.equal(sooner[3], bounds.maxS, 'changed each time, it is given up in the end');
  const later = search('unmodified');
  for (const [at, interval] of later.entries())
    assert.ok(interval >= (later[at - 1] ?? bounds.firstS) && interval <= bounds.maxS);
});

test('how sure a belief is grows with the visits, around the estimate of greatest likelihood', () => {
  const half = (at: number) => at % 2 === 0;
  const few = beliefAfter(readHistory(visitsOf([1, 1, 1, 1], half)));
  const many = beliefAfter(
    readHistory(
      visitsOf(
        Array.from({length: 32}, () => 1),
        half,
      ),
    ),
  );
  near(
    few.reduce((sum, one) => sum + one, 0),
    1,
  );
  assert.ok(Math.max(...many) > Math.max(...few));
  assert.equal(many.indexOf(Math.max(...many)), few.indexOf(Math.max(...few)));
  assert.ok(
    new Set(beliefAfter([]).map((one) => Math.round(one * 1e9))).size === 1,
    'all alike before any visit',
  );
});

test('belief: visits without or with a change only, however many and long, leave numbers', () => {
  for (const changed of [true, false])
    for (const days of [1 / 1440, 1500]) {
      const belief = beliefAfter(Array.from({length: 32}, () => ({intervalS: days * day, changed})));
      near(
        belief.reduce((sum, one) => sum + one, 0),
        1,
      );
    }
});

test('a rate that is known well has the interval that a known rate has', () => {
  const choices = choicesBetween(bounds.minS, bounds.maxS);
  // 400 visits at 2 days of which a third found a change: one change in 5 days
  const visits = Array.from({length: 400}, (_, at) => ({intervalS: 2 * day, changed: at % 3 === 0}));
  for (const price of [0.3 * day, day, 2 * day]) {
    const best = bestInterval(beliefAfter(visits), price, choices, 3 * bounds.maxS);
    near(best, intervalAt(price, changeRate(visits)!, 1), 0.35); // steps of the intervals are 30 %, of the rates 70 %
  }
});

test('the interval gains most of all that could be chosen, by a plain sum over rates and answers', () => {
  const choices = choicesBetween(bounds.minS, bounds.maxS);
  const horizonS = 270 * day;
  const meanOf = (belief: Belief, table: Float64Array, row: number) =>
    belief.reduce((sum, likely, k) => sum + likely * table[row * belief.length + k]!, 0);
  const best = (history: readonly PastVisit[], cost: number) => {
    const belief = beliefAfter(history);
    const gains = Array.from(
      choices.intervals,
      (interval, j) => meanOf(belief, choices.fresh, j) - cost / interval,
    );
    return Math.max(...gains);
  };
  for (const visits of [
    [],
    [{intervalS: 10 * day, changed: true}],
    [
      {intervalS: 10 * day, changed: true},
      {intervalS: 3 * day, changed: false},
    ],
    [{intervalS: 30 * day, changed: false}],
  ])
    for (const cost of [0.1 * day, day, 5 * day]) {
      const belief = beliefAfter(visits);
      const gains = Array.from(choices.intervals, (interval, i) => {
        const mean = meanOf(belief, choices.fresh, i);
        const same = meanOf(belief, choices.same, i);
        const later =
          same * best([...visits, {intervalS: interval, changed: false}], cost) +
          (1 - same) * best([...visits, {intervalS: interval, changed: true}], cost);
        return interval * mean - cost + (horizonS - interval) * later;
      });
      const chosen = choices.intervals.indexOf(bestInterval(belief, cost, choices, horizonS));
      near(gains[chosen]!, Math.max(...gains), 1e-9);
    }
});

test('a page that changes all the time is given up, and still looked at', () => {
  let history: Uint8Array | null = null;
  for (const intervalS of [10, 3, 1, 0.3, 0.1, 0.04, 0.04, 0.04])
    history = addVisit(history, {intervalS: intervalS * day, changed: true});
  const facts = {
    fetchTime: 0,
    intervalS: day,
    fixed: false,
    change: 'modified',
    modifiedTime: null,
    history,
    weight: 1,
  } as const;
  assert.equal(changeRateSchedule(bounds, day).visited(facts).intervalS, bounds.maxS);
});

test('history: 32 visits, intervals within 6 %, nothing from a clock that was set back', () => {
  let bytes: Uint8Array | null = null;
  for (let i = 0; i < 50; i++) bytes = addVisit(bytes, {intervalS: 1000 * (i + 1), changed: i % 3 === 0});
  const read = readHistory(bytes);
  assert.equal(read.length, maxPastVisits);
  for (const [i, {intervalS, changed}] of read.entries()) {
    near(intervalS, 1000 * (i + 19), 0.06);
    assert.equal(changed, (i + 18) % 3 === 0);
  }
  for (const intervalS of [-5, 0, Number.NaN, Number.POSITIVE_INFINITY])
    assert.equal(addVisit(bytes, {intervalS, changed: true}), bytes);
  assert.deepEqual(readHistory(null), []);
});

test('evidence: bytes, then text, then bits of the fingerprint', () => {
  const marks = (signature: number, text: number | null, simhash: bigint | null) => ({
    signature: Uint8Array.of(signature),
    text_signature: text === null ? null : Uint8Array.of(text),
    simhash,
    content_digest: `${signature}`,
  });
  const none = {signature: null, text_signature: null, simhash: null, content_digest: 'a'};
  assert.equal(evidenceOf(marks(1, 1, 0n), marks(1, 1, 0n), 3), 'unmodified');
  assert.equal(evidenceOf(marks(1, 1, 0n), marks(2, 1, 0n), 3), 'unmodified', 'other markup, same text');
  assert.equal(evidenceOf(marks(1, 1, 0n), marks(2, 2, 0b11n), 3), 'unmodified', 'two bits');
  assert.equal(evidenceOf(marks(1, 1, 0n), marks(2, 2, 0b111n), 3), 'modified');
  assert.equal(
    evidenceOf(marks(1, 1, 0n), marks(2, 2, 0n), 0),
    'modified',
    'any other text counts with 0 bits',
  );
  assert.equal(evidenceOf(marks(1, null, null), marks(2, null, null), 3), 'modified', 'no text');
  assert.equal(evidenceOf(none, marks(2, 2, 0n), 3), 'unknown');
  assert.equal(evidenceOf(none, none, 3), 'unmodified', 'equal payloads');
});

test('importance: no score, however odd, gives a weight out of bounds', () => {
  assert.equal(importanceOf(1, 1), 1);
  assert.equal(importanceOf(4, 0.5), 2);
  for (const score of [Number.NaN, -1, 0, Number.NEGATIVE_INFINITY]) {
    assert.equal(importanceOf(score, 1), 0.01);
    assert.equal(importanceOf(score, 0), 1);
  }
  assert.equal(importanceOf(Number.POSITIVE_INFINITY, 1), 100);
});

test('redirects and duplicates: longer where nothing changes', () => {
  const visit = {fetchTime: 0, intervalS: 10 * day, fixed: false};
  const same = {permanent: true, sameTarget: true};
  assert.equal(redirectSchedule(visit, same, bounds, 1.5).intervalS, 15 * day);
  assert.equal(redirectSchedule(visit, {...same, sameTarget: false}, bounds, 1.5).intervalS, 10 * day);
  assert.equal(redirectSchedule(visit, {...same, permanent: false}, bounds, 1.5).intervalS, 10 * day);
  assert.equal(redirectSchedule({...visit, fixed: true, intervalS: 60}, same, bounds, 1.5).intervalS, 60);
  assert.equal(duplicateSchedule(visit, 80 * day, bounds, 1.5).intervalS, 90 * day);
  assert.equal(duplicateSchedule({...visit, fixed: true}, 60, bounds, 1.5).intervalS, 60);
});

test('rules: the first that matches gives bounds or a fixed interval', () => {
  const limits = scheduleRules(
    [
      'url http://a.test/now every 15m',
      'host news.test min 10m max 1d',
      'domain example.co.uk first 2d',
      'regex /archive/ min 100d',
      'type image/* every 60d',
    ],
    bounds,
  );
  const of = (url: string, type: string | null = null) => limits({url, type});
  assert.equal(of('http://a.test/now').everyS, 900);
  assert.deepEqual(of('http://news.test/x').bounds, {firstS: day, minS: 600, maxS: day});
  assert.equal(of('http://www.example.co.uk/').bounds.firstS, 2 * day);
  assert.deepEqual(of('http://a.test/archive/1').bounds, {
    firstS: 100 * day,
    minS: 100 * day,
    maxS: 100 * day,
  });
  assert.equal(of('http://a.test/i', 'Image/PNG; x=1').everyS, 60 * day);
  assert.deepEqual(of('http://a.test/'), {bounds, everyS: null});
});

test('rules that cannot be read are named with their number', () => {
  for (const [rule, problem] of [
    ['host a.test', 'not a kind, a value and intervals'],
    ['host a.test min', 'not a kind, a value and intervals'],
    ['host a.test least 3d', 'unknown word least'],
    ['host a.test min soon', 'min wants a duration'],
    ['host a.test min 5d max 1d', 'min is longer than max'],
    ['page a.test min 5d', 'unknown kind page'],
    ['regex (a min 5d', 'bad regular expression'],
  ] as const)
    assert.throws(
      () => scheduleRules(['host ok.test min 1h', rule], bounds),
      (error: Error) => {
        assert.match(error.message, new RegExp(`schedule.rules:2: ${problem}`));
        return true;
      },
    );
});
