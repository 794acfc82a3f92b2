import assert from 'node:assert/strict';
import {test} from 'node:test';
import {applyDelta, compactionPlan, needsCompaction} from '../../lib/crawldb/delta.ts';
import {balanceDomains} from '../../lib/crawldb/partition.ts';
import {newSegmentIds, segmentTime} from '../../lib/crawldb/segment-id.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';

const file = (key: string, rows: number, kind: 'base' | 'delta', range?: [string, string]): FileRef => ({
  table: 'crawldb',
  key,
  rows,
  bytes: 1,
  sha256: '',
  facts: {kind},
  ...(range && {range}),
});
const rule = {maxShare: 0.5, minRows: 10, maxFiles: 3, bucketRows: 100};

test('compaction is due by share of rows or number of files, never for a few rows', () => {
  const base = file('base', 100, 'base');
  assert.equal(needsCompaction([base, file('d', 50, 'delta')], rule), false);
  assert.equal(needsCompaction([base, file('d', 51, 'delta')], rule), true);
  assert.equal(needsCompaction([file('d', 9, 'delta')], rule), false);
  const many = [1, 2, 3, 4].map((n) => file(`d${n}`, 1, 'delta'));
  assert.equal(needsCompaction([base, ...many.slice(1)], rule), false);
  assert.equal(needsCompaction([base, ...many], rule), true);
  assert.deepEqual(applyDelta([base], [file('empty', 0, 'delta')]), [base]);
});

test('buckets cover all keys without a gap, each with the files that can hold its rows', () => {
  const low = file('low', 150, 'base', ['0', '9223372036854775807']);
  const high = file('high', 150, 'base', ['9223372036854775808', '18446744073709551615']);
  const unknown = file('unknown', 1, 'delta');
  const plan = compactionPlan([low, high, unknown], rule);
  assert.equal(plan.length, 4);
  assert.equal(plan[0]?.first, 0n);
  assert.equal(plan.at(-1)?.last, 2n ** 64n - 1n);
  for (const [index, bucket] of plan.slice(1).entries()) assert.equal(bucket.first, plan[index]!.last + 1n);
  assert.deepEqual(
    plan.map(({files}) => files.map(({key}) => key)),
    [
      ['low', 'unknown'],
      ['low', 'unknown'],
      ['high', 'unknown'],
      ['high', 'unknown'],
    ],
  );
  assert.equal(compactionPlan([unknown], rule).length, 1);
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
