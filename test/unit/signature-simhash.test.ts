import assert from 'node:assert/strict';
import {test} from 'node:test';
import {bodySignature, textSignature} from '../../lib/signature/exact.ts';
import {hammingDistance, shingleSize, simhash} from '../../lib/signature/simhash.ts';

/** The definition in the documents of simhash.ts, written a second time without any of its shortcuts. */
function plainSimhash(text: string): bigint | null {
  const tokens = text
    .toLowerCase()
    .match(/[a-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff]+|[\u3040-\u9fff]/g);
  if (tokens === null) return null;
  const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by));
  const finish = (x: number): number => {
    let h = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    return h ^ (h >>> 16);
  };
  const hashes = tokens.map((token) => {
    let [a, b] = [0x811c9dc5 | 0, 0x9747b28c | 0];
    for (let at = 0; at < token.length; at++) {
      a = Math.imul(a ^ token.charCodeAt(at), 0x01000193);
      b = Math.imul(b ^ token.charCodeAt(at), 0x5bd1e995) ^ (b >>> 15);
    }
    return [a, b] as const;
  });
  const weights = new Array<number>(64).fill(0);
  let features = 0;
  const runs = hashes.flatMap((_, from) =>
    Array.from({length: shingleSize}, (_, more) => hashes.slice(from, from + more + 1)).filter(
      (run, more) => run.length === more + 1,
    ),
  );
  for (const run of runs) {
    let [x, y] = [0, 0];
    for (const [a, b] of run) {
      x = Math.imul(rotate(x, 5) ^ a, 0xcc9e2d51);
      y = Math.imul(rotate(y, 7) ^ b, 0x1b873593);
    }
    x = finish((x + y) | 0);
    y = finish((y + x) | 0);
    for (let bit = 0; bit < 32; bit++) {
      weights[bit]! += (x >>> bit) & 1;
      weights[bit + 32]! += (y >>> bit) & 1;
    }
    features++;
  }
  return weights.reduce(
    (hash, weight, bit) => (weight > features / 2 ? hash | (1n << BigInt(bit)) : hash),
    0n,
  );
}

const story = Array.from({length: 700}, (_, at) => `word${(at * 7919) % 613}`).join(' ');

test('the fingerprint is the one that is documented', () => {
  for (const text of [
    'a',
    'A b',
    'one two three',
    'Über, die: Straße!',
    '日本語の文章',
    story,
    `${story}\n${story}`,
  ])
    assert.equal(simhash(text), plainSimhash(text), text.slice(0, 40));
  assert.equal(simhash(' … '), null);
});

test('a small change moves few bits, another text moves half of them', () => {
  const base = simhash(story)!;
  assert.ok(hammingDistance(base, simhash(story.replace('word7 ', 'changed '))!) <= 3);
  assert.ok(hammingDistance(base, simhash(story.replaceAll('word', 'other'))!) > 16);
  assert.equal(hammingDistance(0n, (1n << 64n) - 1n), 64);
});

test('signatures are 16 bytes of SHA-256; line breaks do not count in texts', () => {
  assert.equal(
    Buffer.from(bodySignature(Buffer.from('abc'))).toString('hex'),
    'ba7816bf8f01cfea414140de5dae2223',
  );
  assert.deepEqual(textSignature('a\nb'), textSignature('a b'));
  assert.notDeepEqual(textSignature('a b'), textSignature('ab'));
  assert.equal(textSignature(''), null);
});
