import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {KeyFilter} from '../../lib/fetcher/key-filter.ts';
import {urlKey} from '../../lib/url/keys.ts';

test('every key that was added is found', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.bigInt({min: 0n, max: 2n ** 64n - 1n}), {maxLength: 300}), (keys) => {
      const filter = new KeyFilter(keys.length);
      for (const key of keys) filter.add(key);
      return keys.every((key) => filter.has(key));
    }),
  );
});

test('of keys that were not added at most one in three hundred is taken for one that was', () => {
  const filter = new KeyFilter(20_000);
  for (let i = 0; i < 20_000; i++) filter.add(urlKey(`http://a.test/${i}`));
  let wrong = 0;
  for (let i = 20_000; i < 120_000; i++) if (filter.has(urlKey(`http://a.test/${i}`))) wrong++;
  assert.ok(wrong < 333, `${wrong} of 100,000`);
  assert.equal(new KeyFilter(0).has(1n), false);
});
