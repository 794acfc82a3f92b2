/**
 * Map from 64-bit keys to small integers, 12 bytes a slot and at most two thirds full: a tenth of what a Map
 * of bigints takes, which counts where a fetchlist has a million URLs. Keys are hashes already.
 */
export class KeyMap {
  #keys = new BigUint64Array(1024);
  /** Value + 1; 0 is an empty slot. */
  #values = new Int32Array(1024);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: bigint): number | undefined {
    const value = this.#values[this.#slot(key)]!;
    return value === 0 ? undefined : value - 1;
  }

  set(key: bigint, value: number): void {
    if (this.#size * 3 >= this.#keys.length * 2) this.#grow();
    const slot = this.#slot(key);
    if (this.#values[slot] === 0) this.#size++;
    this.#keys[slot] = key;
    this.#values[slot] = value + 1;
  }

  #slot(key: bigint): number {
    const mask = this.#keys.length - 1;
    let slot = Number(key & 0x3fff_ffffn) & mask;
    while (this.#values[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new BigUint64Array(keys.length * 2);
    this.#values = new Int32Array(keys.length * 2);
    for (let i = 0; i < keys.length; i++) {
      if (values[i] === 0) continue;
      const slot = this.#slot(keys[i]!);
      this.#keys[slot] = keys[i]!;
      this.#values[slot] = values[i]!;
    }
  }
}
