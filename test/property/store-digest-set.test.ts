import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import test from 'node:test';
import {DigestSet} from '../../lib/store/digest-set.ts';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

test('a set of digests is a Set, through several growths, neighbours in a slot and the empty digest included', () => {
  const set = new DigestSet();
  const model = new Set<string>();
  const close = (last: string) => `00000000${'ab'.repeat(27)}${last}`;
  const all = [
    ...Array.from({length: 5000}, (_, index) => digest(`${index % 4000}`)),
    close('01'),
    close('02'),
    '0'.repeat(64),
  ];
  for (const one of all) {
    assert.equal(set.has(one), model.has(one), one);
    set.add(one);
    model.add(one);
    assert.equal(set.size, model.size);
  }
  for (const one of model) assert.ok(set.has(one));
  for (let index = 4000; index < 9000; index++) assert.ok(!set.has(digest(`${index}`)));
  assert.ok(!set.has(close('03')));
});
