import assert from 'node:assert/strict';
import {test} from 'node:test';
import {afterCompaction, bucketsFor, compactionPlan, compactSome} from '../../lib/crawldb/compaction.ts';
import {applyDelta, bucketsOf, liveCondition, seqTable} from '../../lib/crawldb/layout.ts';
import {balanceDomains} from '../../lib/crawldb/partition.ts';
import {boundFor, gridRanks, gridText, takenFacts} from '../../lib/crawldb/score-grid.ts';
import {newSegmentIds, segmentTime} from '../../lib/crawldb/segment-id.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';

const file = (key: string, rows: number, facts: NonNullable<FileRef['facts']>): FileRef => ({
  table: 'crawldb',
  key,
  rows,
  bytes: 1,
  sha256: '',
  facts,
});
const base = (bucket: number, buckets: number, seq: number, rows = 100) =>
  file(`b${bucket}-${buckets}`, rows, {kind: 'base', list: 'frontier', bucket, buckets, seq, links: 0});
const delta = (revision: number, rows: number, slots?: readonly number[]) =>
  file(`d${revision}`, rows, {kind: 'delta', revision, ...(slots && {slots: slots.join(' ')})});
const rule = {
  maxShare: 0.5,
  minRows: 10,
  maxRevisions: 3,
  smallRows: 20,
  bucketRows: 100,
  maxBuckets: 0.5,
};
const chosen = (files: readonly FileRef[]) => compactionPlan(files, rule)?.buckets.map(({bucket}) => bucket);

test('compaction is due by share of rows, and takes the buckets where deltas weigh most', () => {
  const files = [base(0, 2, 1), base(1, 2, 1)];
  assert.equal(compactionPlan([...files, delta(2, 100)], rule), undefined);
  assert.deepEqual(chosen([...files, delta(2, 101)]), [0]);
  const slots = (low: number, high: number) =>
    Array.from({length: 64}, (_, slot) => (slot === 0 ? low : slot === 63 ? high : 0));
  assert.deepEqual(chosen([...files, delta(2, 120, slots(20, 100))]), [1]);
  assert.deepEqual(chosen([...files, delta(2, 400, slots(200, 200))]), [0, 1]);
  assert.equal(compactionPlan([delta(1, 9)], rule), undefined, 'a few rows need no base');
  assert.deepEqual(chosen([delta(1, 11)]), [0], 'many rows without a base become one');
  assert.deepEqual(applyDelta(files, [delta(3, 0)]), files);
});

test('a commit writes a bounded share of the buckets', () => {
  const files = Array.from({length: 8}, (_, bucket) => base(bucket, 8, 1));
  assert.equal(chosen([...files, delta(2, 4000)])?.length, 4);
});

test('a bucket that was compacted counts only what came later', () => {
  assert.deepEqual(chosen([base(0, 2, 5), base(1, 2, 1), delta(5, 300)]), [1]);
});

test('a small crawldb is written anew when its deltas are many; of a large one the smaller deltas become one', () => {
  const many = [1, 2, 3, 4].map((n) => delta(n, 1));
  assert.deepEqual(chosen(many), [0]);
  assert.equal(compactionPlan(many.slice(1), rule), undefined);
  const large = [base(0, 1, 0, 1000), delta(1, 2), delta(2, 1), delta(3, 5), delta(4, 1)];
  assert.deepEqual(
    compactionPlan(large, rule)?.merge.map(({key}) => key),
    ['d2', 'd4'],
  );
});

test('a bucket that has grown too large is split, but not for one great host', () => {
  const files = [base(0, 2, 1, 100), base(1, 2, 1, 100), delta(2, 150)];
  assert.deepEqual(
    compactionPlan(files, rule)?.buckets.map(({parts}) => parts),
    [2],
  );
  const great = [
    ...Array.from({length: 15}, (_, n) => base(n, 16, 1, 1)),
    base(15, 16, 1, 400),
    delta(2, 320),
  ];
  for (const {parts} of compactionPlan(great, rule)?.buckets ?? []) assert.equal(parts, 1);
  assert.equal(bucketsFor(101, rule), 2);
  assert.equal(bucketsFor(0, rule), 1);
});

test('compacting by hand takes the heaviest buckets, as long as there is something to take up', () => {
  assert.equal(compactSome([base(0, 1, 2), delta(2, 5)], rule), undefined);
  assert.equal(compactSome([base(0, 1, 1), delta(2, 5)], rule)?.buckets.length, 1);
});

test('after a compaction a delta stays as long as a bucket needs it', () => {
  const [low, high] = [base(0, 2, 1), base(1, 2, 1)];
  const files = [low!, high!, delta(2, 10), delta(3, 10)];
  const newLow = {...base(0, 2, 3), key: 'new-low'};
  assert.deepEqual(
    afterCompaction(files, [low!], [newLow]).map(({key}) => key),
    ['new-low', 'b1-2', 'd2', 'd3'],
  );
  const newHigh = {...base(1, 2, 2), key: 'new-high'};
  assert.deepEqual(
    afterCompaction(files, [low!, high!], [newLow, newHigh]).map(({key}) => key),
    ['new-low', 'new-high', 'd3'],
  );
});

test('buckets cover all keys without a gap, whatever their sizes', () => {
  const buckets = bucketsOf([base(3, 4, 7), base(0, 2, 5)]);
  assert.deepEqual(
    buckets.map(({bucket, buckets: of, seq}) => [bucket, of, seq]),
    [
      [0, 2, 5],
      [2, 4, 0],
      [3, 4, 7],
    ],
  );
  assert.equal(buckets[0]?.first, 0n);
  assert.equal(buckets.at(-1)?.last, 2n ** 64n - 1n);
  for (const [at, bucket] of buckets.slice(1).entries()) assert.equal(bucket.first, buckets[at]!.last + 1n);
  assert.deepEqual(seqTable(buckets), {bits: 2, seqs: [5, 5, 0, 7]});
  assert.equal(
    liveCondition(seqTable(buckets)),
    'revision > list_extract([5, 5, 0, 7], ((host_key >> 62) + 1)::INTEGER)',
  );
  assert.equal(liveCondition(seqTable(bucketsOf([]))), 'revision > 0');
  assert.equal(bucketsOf([base(0, 1, 4), base(1, 2, 6)]).length, 1, 'overlapping files are one bucket');
});

const scored = (key: string, scores: readonly number[]): FileRef => {
  const facts = {kind: 'base', scores: gridText(gridRanks(scores.length).map((rank) => scores[rank - 1]!))};
  return file(key, scores.length, facts);
};

test('a score has at least as many rows above it as are wanted, and not many times more', () => {
  const lists = [0, 1, 2].map((n) => Array.from({length: 5000}, (_, i) => (5000 - i) * 3 + n));
  const files = lists.map((scores, n) => scored(`f${n}`, scores));
  for (const want of [1, 100, 1000, 7000]) {
    const {score: least} = boundFor(files, want)!;
    const rows = lists.flat().filter((score) => score >= least).length;
    assert.ok(rows >= want && rows <= Math.max(300, 2.1 * want), `${want}: ${rows}`);
  }
  assert.equal(boundFor(files, 15_000), undefined, 'all of them');
  assert.equal(boundFor([], 10), undefined);
});

test('of many equal scores a share is enough, by key; of few all are taken', () => {
  const files = [0, 1].map((n) =>
    scored(
      `f${n}`,
      Array.from({length: 5000}, (_, i) => (i < 100 ? 2 : 1)),
    ),
  );
  assert.deepEqual(boundFor(files, 150), {score: 2, key: null}, 'most of a small tie');
  const {score, key} = boundFor(files, 1000)!;
  assert.equal(score, 1);
  const share = Number(key) / 2 ** 64;
  assert.ok(share * 9800 >= 800 && share * 9800 <= 4000, `${share} of the tie`);
  assert.deepEqual(boundFor(files, 6000), {score: 1, key: null});
  assert.equal(boundFor(files, 10_000), undefined, 'all of them');
});

test('what was visited since, or stands in a list, is read past', () => {
  const scores = Array.from({length: 10_000}, (_, i) => 10_000 - i);
  const frontier = scored('f', scores);
  const visited = (revision: number, rows: number): FileRef => {
    const best = gridRanks(rows).map((rank) => scores[rank - 1]!);
    return file(`v${revision}`, rows, {kind: 'delta', list: 'visited', revision, ...takenFacts(rows, best)});
  };
  const reads = (files: readonly FileRef[], held?: number): number =>
    scores.filter((score) => score >= boundFor(files, 1000, held)!.score).length;
  const plain = reads([frontier]);
  assert.ok(plain >= 1000 && plain < 2100, `${plain}`);
  for (const least of [reads([frontier, visited(1, 2000)]), reads([frontier], 2000)])
    assert.ok(least >= 3000 && least < 6100, `${least}`);
  const {facts} = frontier;
  assert.equal(
    reads([{...frontier, facts: {...facts, seq: 1}}, visited(1, 2000)]),
    plain,
    'the base has taken it up',
  );
  assert.equal(boundFor([frontier, visited(1, 5000)], 6000), undefined, 'too few are left');
});

test('domains are spread by size, the same way each time', () => {
  const domains = [5, 9, 4, 3, 3, 6].map((urls, index) => ({domain: `d${index}`, urls}));
  const placed = balanceDomains(domains, 3);
  const load = [0, 0, 0];
  for (const {domain, urls} of domains) load[placed.get(domain)!]! += urls;
  assert.deepEqual(
    load.toSorted((a, b) => a - b),
    [9, 9, 12],
  );
  assert.deepEqual([...balanceDomains(domains.toReversed(), 3)].sort(), [...placed].sort());
});

test('segment ids rise, whatever the clock does, up to a day', () => {
  const now = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
  assert.deepEqual(newSegmentIds([], now, 2), ['20260102030405', '20260102030406']);
  assert.deepEqual(newSegmentIds(['20260102030405'], now, 1), ['20260102030406']);
  assert.deepEqual(newSegmentIds(['20260102235959', '20260101000000'], now, 1), ['20260103000000']);
  assert.equal(segmentTime('20260102030405'), Date.UTC(2026, 0, 2, 3, 4, 5));
  assert.throws(() => newSegmentIds(['20270101000000'], now, 1), {code: 'SEGMENT_STATE'});
});
