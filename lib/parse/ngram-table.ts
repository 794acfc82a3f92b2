/**
 * N-grams of one to six letters of a byte each, and a number for each, by open addressing: some 10 bytes an n-gram,
 * where a map of texts takes ten times that.
 *
 * An n-gram is two words: the first four letters, the first one lowest, and the others. No letter is zero.
 */
export class NgramTable {
  readonly #slots: Int32Array;
  readonly #lows: Int32Array;
  readonly #highs: Uint16Array;
  readonly #values: Int32Array;
  #size = 0;

  /** @param most n-grams that it will hold */
  constructor(most: number) {
    let slots = 16;
    while (slots < 2 * most) slots *= 2;
    this.#slots = new Int32Array(slots);
    this.#lows = new Int32Array(most);
    this.#highs = new Uint16Array(most);
    this.#values = new Int32Array(most);
  }

  get size(): number {
    return this.#size;
  }

  /** The number of an n-gram; -1 where it is not known. */
  get(low: number, high: number): number {
    const entry = this.#slots[this.#slotOf(low, high)]!;
    return entry === 0 ? -1 : this.#values[entry - 1]!;
  }

  /** False where it was there already: its number stays. */
  add(low: number, high: number, value: number): boolean {
    const slot = this.#slotOf(low, high);
    if (this.#slots[slot] !== 0) return false;
    this.#lows[this.#size] = low;
    this.#highs[this.#size] = high;
    this.#values[this.#size] = value;
    this.#slots[slot] = ++this.#size;
    return true;
  }

  clear(): void {
    this.#slots.fill(0);
    this.#size = 0;
  }

  /** Where an n-gram stands, or would. */
  #slotOf(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    let h = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    h ^= h >>> 15;
    for (let slot = h & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]!;
      if (entry === 0 || (this.#lows[entry - 1] === low && this.#highs[entry - 1] === high)) return slot;
    }
  }
}
