import assert from 'node:assert/strict';
import {test} from 'node:test';
import {nearMasks} from '../../lib/signature/near-blocks.ts';
import {nearLeaders} from '../../lib/signature/near-leaders.ts';
import {testEffects} from '../support/temporary-crawl.ts';

test('each pair within the distance agrees under a mask, whatever bits differ', () => {
  const {random} = testEffects();
  for (const [distance, count] of [
    [0, 10],
    [1, 1e6],
    [3, 1000],
    [3, 1e6],
    [3, 5e7],
    [8, 1e6],
  ] as const) {
    const masks = nearMasks(distance, count);
    for (let i = 0; i < 2000; i++) {
      let flips = 0n;
      while (bits(flips) < distance) flips |= 1n << BigInt(Math.floor(random() * 64));
      assert.ok(
        masks.some((mask) => (flips & mask) === 0n),
        `distance ${distance}, ${count}: ${flips.toString(2)}`,
      );
    }
  }
});

function bits(value: bigint): number {
  return value.toString(2).replaceAll('0', '').length;
}

test('masks get wider, and more, as fingerprints get more', () => {
  assert.equal(nearMasks(3, 1000).length, 4);
  const [some, many] = [nearMasks(3, 1e6), nearMasks(3, 5e7)];
  assert.ok(bits(many[0]!) > bits(some[0]!) || many.length >= some.length);
  assert.ok(5e7 / 2 ** bits(many[0]!) < 10, `${bits(many[0]!)} bits of ${many.length} masks`);
});

test('a follower is like its leader, and leads nobody', () => {
  const leaders = nearLeaders();
  for (const [worse, better] of [
    [1, 0],
    [2, 1], // 1 follows, so 2 leads
    [3, 1],
    [3, 2],
    [4, 0],
    [4, 2],
  ] as const)
    leaders.add(worse, better);
  assert.deepEqual(
    [...leaders.followers()],
    [
      [1, 0],
      [3, 2],
      [4, 0],
    ],
  );
  assert.throws(() => leaders.add(3, 0), /out of order/);
});
