import assert from 'node:assert/strict';
import {test} from 'node:test';
import {TextArena} from '../../lib/store/text-arena.ts';

const samples = [
  '',
  'a',
  'Straße 日本語 😀',
  '\ud800 alone',
  '\ufeffmark',
  'x'.repeat(3_000_000),
  'ü'.repeat(400_000),
];

test('texts stay what they are until the arena is cleared, long ones and broken pairs too', () => {
  const arena = new TextArena();
  for (let round = 0; round < 3; round++) {
    const texts = Array.from({length: 60}, (_, at) => samples[(at + round) % samples.length]!);
    const encoded = texts.map((text) => arena.encode(text));
    for (const [at, bytes] of encoded.entries())
      assert.ok(Buffer.from(texts[at]!).equals(bytes), `round ${round}, text ${at}`);
    arena.clear();
  }
});
