/**
 * A set of 64-bit keys that are hashes already, at two bytes a key (Bloom filter): `has` is right for every key that
 * was added, and wrong for one in a thousand that was not. For sets that a fetch could not hold otherwise.
 */
export class KeyFilter {
  readonly #bits: Uint32Array;

  /** @param size keys that it will hold */
  constructor(size: number) {
    this.#bits = new Uint32Array(Math.max(2, Math.ceil((size * bitsOfKey) / 32)));
  }

  add(key: bigint): void {
    for (const bit of this.#places(key)) this.#bits[bit >>> 5]! |= 1 << (bit & 31);
  }

  has(key: bigint): boolean {
    for (const bit of this.#places(key)) if ((this.#bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
    return true;
  }

  /** Double hashing with the two halves of the key (Kirsch and Mitzenmacher, 2006). */
  *#places(key: bigint): Generator<number> {
    const bits = this.#bits.length * 32;
    const first = Number(key & 0xffff_ffffn);
    const step = Number(key >> 32n) | 1;
    for (let i = 0; i < probes; i++) yield (first + i * (step >>> 0)) % bits;
  }
}

/** With six probes at sixteen bits a key 0.1 % of other keys are taken for members. */
const bitsOfKey = 16;
const probes = 6;
