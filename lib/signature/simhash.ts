/**
 * Similarity fingerprint of a text: texts that share most of their runs of words differ in few of its 64 bits.
 *
 * Tokens are runs of letters and digits in lower case; in scripts written without spaces each character is one.
 * Features are all runs of 1 to {@link shingleSize} tokens, each occurrence weighing 1, so what is said often weighs
 * more. Each feature is hashed to 64 bits, and a bit of the fingerprint is set where more than half of the weight has
 * it set.
 *
 * The hash is defined here, over UTF-16 code units, in 32-bit arithmetic, so that any language can compute it:
 * a token starts at (0x811c9dc5, 0x9747b28c); each unit u makes it (imul(a ^ u, 0x01000193), imul(b ^ u,
 * 0x5bd1e995) ^ (b >>> 15)); a run of tokens starts at (0, 0) and each token makes it (imul(rotl(x, 5) ^ a,
 * 0xcc9e2d51), imul(rotl(y, 7) ^ b, 0x1b873593)); at its end both halves pass MurmurHash3's fmix32, the high half
 * first added to the low one. XXH64 of each run gives the same quality and took five times as long.
 *
 * @see Charikar, Similarity estimation techniques from rounding algorithms, 2002
 * @see Manku, Jain, Das Sarma, Detecting near-duplicates for web crawling, 2007
 */
export const shingleSize = 3;

/** The fingerprint, or null for a text without tokens. */
export function simhash(text: string): bigint | null {
  return simhashOfLower(text.toLowerCase());
}

/** As {@link simhash}, of a text that is in lower case already. */
export function simhashOfLower(text: string): bigint | null {
  const tokens = readTokens(text);
  if (tokens === 0) return null;
  const hashes = tokenHashes;
  const low = lowWords;
  const high = highWords;
  const lowPlanes = new Int32Array(planes);
  const highPlanes = new Int32Array(planes);
  // States of the runs of one and two tokens that end with the token before.
  let x1 = 0;
  let y1 = 0;
  let x2 = 0;
  let y2 = 0;
  let held = 0;
  for (let at = 0; at < tokens; at++) {
    const a = hashes[2 * at]!;
    const b = hashes[2 * at + 1]!;
    const x3 = nextX(x2, a);
    const y3 = nextY(y2, b);
    x2 = nextX(x1, a);
    y2 = nextY(y1, b);
    x1 = nextX(0, a);
    y1 = nextY(0, b);
    const one = fmix32((x1 + y1) | 0);
    low[held] = one;
    high[held++] = fmix32((y1 + one) | 0);
    if (at > 0) {
      const two = fmix32((x2 + y2) | 0);
      low[held] = two;
      high[held++] = fmix32((y2 + two) | 0);
    }
    if (at > 1) {
      const three = fmix32((x3 + y3) | 0);
      low[held] = three;
      high[held++] = fmix32((y3 + three) | 0);
    }
    if (held > heldFeatures - shingleSize || at === tokens - 1) {
      // Words of zeros up to a multiple of eight add nothing.
      const end = (held + 7) & ~7;
      low.fill(0, held, end);
      high.fill(0, held, end);
      addWords(lowPlanes, low, end);
      addWords(highPlanes, high, end);
      held = 0;
    }
  }
  const features = tokens * shingleSize - (tokens > 1 ? 3 : 2);
  return (BigInt(moreThan(features / 2, highPlanes)) << 32n) | BigInt(moreThan(features / 2, lowPlanes));
}

/** Features held until their bits are counted: of 128 tokens, so that they stay in the processor's cache. */
const heldFeatures = 128 * shingleSize;
const lowWords = new Int32Array(heldFeatures + 8);
const highWords = new Int32Array(heldFeatures + 8);
/** Bit planes of weight 1, 2, 4, 8 and so on: enough for 2^30 words. */
const planes = 31;

/** Two 32-bit hashes for each token, one after the other. Made larger as texts need it, and used again. */
let tokenHashes = new Int32Array(2 ** 14);
let textUnits = new Uint16Array(2 ** 16);

/** Puts the hashes of the tokens of a text into tokenHashes; their number. */
function readTokens(text: string): number {
  const {length} = text;
  // Reading units from memory costs some less than asking the string for each (measured: 56 for 72 µs a page).
  if (textUnits.length <= length) textUnits = new Uint16Array(length + (length >> 1));
  const units = textUnits;
  Buffer.from(units.buffer).write(text, 0, 'utf16le');
  units[length] = 32;
  let hashes = tokenHashes;
  let used = 0;
  for (let at = 0; ; ) {
    let unit = units[at]!;
    let kind = kinds[unit]!;
    while (kind === 0 && at < length) {
      unit = units[++at]!;
      kind = kinds[unit]!;
    }
    if (at >= length) break;
    let a = 0x811c9dc5 | 0;
    let b = 0x9747b28c | 0;
    while (kind === 1) {
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x5bd1e995) ^ (b >>> 15);
      unit = units[++at]!;
      kind = kinds[unit]!;
    }
    if (kind === 2) {
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x5bd1e995) ^ (b >>> 15);
      at++;
    }
    if (used === hashes.length) {
      hashes = new Int32Array(used * 2);
      hashes.set(tokenHashes);
      tokenHashes = hashes;
    }
    hashes[used++] = a;
    hashes[used++] = b;
  }
  return used >> 1;
}

/** A run of tokens with one more. */
function nextX(x: number, a: number): number {
  return Math.imul(((x << 5) | (x >>> 27)) ^ a, 0xcc9e2d51);
}
function nextY(y: number, b: number): number {
  return Math.imul(((y << 7) | (y >>> 25)) ^ b, 0x1b873593);
}

/**
 * Adds words to the counts of their bits, which stand in bit planes: eight words at a time by full adders on whole
 * words (Harley and Seal's way), so that a word costs some six operations and not 32 additions.
 */
function addWords(counts: Int32Array, words: Int32Array, end: number): void {
  let ones = counts[0]!;
  let twos = counts[1]!;
  let fours = counts[2]!;
  for (let at = 0; at < end; at += 8) {
    const a = words[at]!;
    const b = words[at + 1]!;
    const c = words[at + 2]!;
    const d = words[at + 3]!;
    const e = words[at + 4]!;
    const f = words[at + 5]!;
    const g = words[at + 6]!;
    const h = words[at + 7]!;
    const twosA = majority(ones, a, b);
    ones ^= a ^ b;
    const twosB = majority(ones, c, d);
    ones ^= c ^ d;
    const foursA = majority(twos, twosA, twosB);
    twos ^= twosA ^ twosB;
    const twosC = majority(ones, e, f);
    ones ^= e ^ f;
    const twosD = majority(ones, g, h);
    ones ^= g ^ h;
    const foursB = majority(twos, twosC, twosD);
    twos ^= twosC ^ twosD;
    let carry = majority(fours, foursA, foursB);
    fours ^= foursA ^ foursB;
    for (let plane = 3; carry !== 0; plane++) {
      const before = counts[plane]!;
      counts[plane] = before ^ carry;
      carry &= before;
    }
  }
  counts[0] = ones;
  counts[1] = twos;
  counts[2] = fours;
}

/** Bits that at least two of the three have. */
function majority(a: number, b: number, c: number): number {
  return (a & b) | (c & (a ^ b));
}

/** Unsigned word of the bits that were set more than `half` times. */
function moreThan(half: number, counts: Int32Array): number {
  let used = planes;
  while (used > 0 && counts[used - 1] === 0) used--;
  let word = 0;
  for (let bit = 0; bit < 32; bit++) {
    let count = 0;
    for (let plane = 0; plane < used; plane++) count += ((counts[plane]! >>> bit) & 1) << plane;
    if (count > half) word |= 1 << bit;
  }
  return word >>> 0;
}

/** Bits in which two fingerprints differ. */
export function hammingDistance(a: bigint, b: bigint): number {
  let bits = 0;
  for (let rest = a ^ b; rest !== 0n; rest &= rest - 1n) bits++;
  return bits;
}

/** MurmurHash3's finalizer. */
function fmix32(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** 0: between tokens; 1: part of a token; 2: ends a token, in scripts without spaces. */
function kindOf(unit: number): 0 | 1 | 2 {
  if (unit < 0x80) return (unit >= 0x30 && unit < 0x3a) || (unit >= 0x61 && unit < 0x7b) ? 1 : 0;
  if (unit < 0xc0) return unit === 0xaa || unit === 0xb5 || unit === 0xba ? 1 : 0;
  if (unit < 0x0e00) return unit === 0xd7 || unit === 0xf7 ? 0 : 1;
  if (unit < 0x0f00) return 2; // Thai and Lao
  if (unit < 0x2000) return 1;
  if (unit < 0x2070 || (unit >= 0x2190 && unit < 0x2c00)) return 0; // punctuation, arrows, symbols
  if (unit < 0x2e80) return 1;
  if (unit >= 0x3000 && unit < 0x3040) return 0; // CJK punctuation
  if (unit < 0xa000) return 2; // kana, Han
  if (unit >= 0xfe30 && unit < 0xff10) return 0;
  return 1;
}

/** {@link kindOf} of each unit, looked up: with it and plain loops tokens took 143 µs a page for 248. */
const kinds = Uint8Array.from({length: 0x10000}, (_, unit) => kindOf(unit));
