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
  const tokens = tokenHashes(text);
  const count = tokens.length / 2;
  if (count === 0) return null;
  let features = 0;
  const low = new BitCounts();
  const high = new BitCounts();
  for (let from = 0; from < count; from++) {
    const end = Math.min(from + shingleSize, count);
    let x = 0;
    let y = 0;
    for (let at = from; at < end; at++) {
      x = Math.imul(((x << 5) | (x >>> 27)) ^ tokens[2 * at]!, 0xcc9e2d51);
      y = Math.imul(((y << 7) | (y >>> 25)) ^ tokens[2 * at + 1]!, 0x1b873593);
      const lowHalf = fmix32((x + y) | 0);
      low.add(lowHalf);
      high.add(fmix32((y + lowHalf) | 0));
      features++;
    }
  }
  const half = features / 2;
  return (BigInt(high.majority(half)) << 32n) | BigInt(low.majority(half));
}

/**
 * How often each of 32 bits was set. Counted in bit planes: eight words are added at a time by full adders on whole
 * words (Harley and Seal's way), so that a word costs some six operations and not 32 additions.
 */
class BitCounts {
  readonly #waiting = new Int32Array(8);
  #held = 0;
  /** Planes of weight 1, 2, 4, 8 and so on: enough for 2^30 words. */
  readonly #planes = new Int32Array(31);

  add(word: number): void {
    this.#waiting[this.#held++] = word;
    if (this.#held === 8) this.#addEight();
  }

  /** Unsigned word of the bits that were set more than `half` times. */
  majority(half: number): number {
    if (this.#held > 0) {
      this.#waiting.fill(0, this.#held);
      this.#addEight();
    }
    let used = 31;
    while (used > 0 && this.#planes[used - 1] === 0) used--;
    let word = 0;
    for (let bit = 0; bit < 32; bit++) {
      let count = 0;
      for (let plane = 0; plane < used; plane++) count += ((this.#planes[plane]! >>> bit) & 1) << plane;
      if (count > half) word |= 1 << bit;
    }
    return word >>> 0;
  }

  #addEight(): void {
    const w = this.#waiting;
    const planes = this.#planes;
    let ones = planes[0]!;
    let twos = planes[1]!;
    let fours = planes[2]!;
    const twosA = majority(ones, w[0]!, w[1]!);
    ones ^= w[0]! ^ w[1]!;
    const twosB = majority(ones, w[2]!, w[3]!);
    ones ^= w[2]! ^ w[3]!;
    const foursA = majority(twos, twosA, twosB);
    twos ^= twosA ^ twosB;
    const twosC = majority(ones, w[4]!, w[5]!);
    ones ^= w[4]! ^ w[5]!;
    const twosD = majority(ones, w[6]!, w[7]!);
    ones ^= w[6]! ^ w[7]!;
    const foursB = majority(twos, twosC, twosD);
    twos ^= twosC ^ twosD;
    let carry = majority(fours, foursA, foursB);
    fours ^= foursA ^ foursB;
    planes[0] = ones;
    planes[1] = twos;
    planes[2] = fours;
    for (let plane = 3; carry !== 0; plane++) {
      const before = planes[plane]!;
      planes[plane] = before ^ carry;
      carry &= before;
    }
    this.#held = 0;
  }
}

/** Bits that at least two of the three have. */
function majority(a: number, b: number, c: number): number {
  return (a & b) | (c & (a ^ b));
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

/** Two 32-bit hashes for each token, one after the other. */
function tokenHashes(text: string): Int32Array {
  let hashes = new Int32Array(Math.max(64, text.length >> 1));
  let used = 0;
  let a = 0x811c9dc5 | 0;
  let b = 0x9747b28c | 0;
  let open = false;
  const length = text.length;
  for (let at = 0; at <= length; at++) {
    const unit = at < length ? text.charCodeAt(at) : 32;
    const kind = unit < 128 ? asciiKind[unit]! : kindOf(unit);
    if (kind !== 0) {
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x5bd1e995) ^ (b >>> 15);
      open = true;
      if (kind === 1) continue;
    }
    if (open) {
      if (used + 2 > hashes.length) {
        const larger = new Int32Array(hashes.length * 2);
        larger.set(hashes);
        hashes = larger;
      }
      hashes[used++] = a;
      hashes[used++] = b;
      a = 0x811c9dc5 | 0;
      b = 0x9747b28c | 0;
      open = false;
    }
  }
  return hashes.subarray(0, used);
}

const asciiKind = new Uint8Array(128);
for (let unit = 0; unit < 128; unit++) if (/[a-z0-9]/.test(String.fromCharCode(unit))) asciiKind[unit] = 1;

/** 0: between tokens; 1: part of a token; 2: ends a token, in scripts without spaces. */
function kindOf(unit: number): 0 | 1 | 2 {
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
