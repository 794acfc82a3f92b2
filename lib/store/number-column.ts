import type {ColumnType} from '../schema/table.ts';
import {
  type ColumnBuffer,
  type ColumnChunk,
  type ColumnName,
  dictionaryPays,
  misfit,
  Presence,
  type Rows,
} from './column-buffer.ts';

export type NumberType = Exclude<ColumnType, 'text' | 'json' | 'bytes' | 'boolean'>;

/** After so many values a dictionary is given up if it holds nine tenths of them. Chosen: hyparquet-writer's sample. */
const trial = 1000;

/**
 * A column of numbers, keys or times, each as one or two words of 32 bit, little endian, as Parquet's PLAIN encoding has
 * them; or a dictionary and places in it, where that is at most half as long.
 */
export class NumberColumn implements ColumnBuffer {
  readonly #column: ColumnName;
  readonly #presence: Presence;
  readonly #type: NumberType;
  /** Words of a value. */
  readonly #width: 1 | 2;
  #buffer = new ArrayBuffer(8 * 1024);
  #words = new Uint32Array(this.#buffer);
  #keys = new BigUint64Array(this.#buffer);
  #doubles = new Float64Array(this.#buffer);
  #values = 0;
  readonly #entries = new WordDictionary();

  constructor(column: ColumnName, type: NumberType) {
    this.#column = column;
    this.#presence = new Presence(column);
    this.#type = type;
    this.#width = type === 'int16' || type === 'int32' ? 1 : 2;
  }

  add(rows: Rows): number {
    const {name} = this.#column;
    this.#makeRoom(rows.length);
    for (const row of rows) {
      const value = row[name];
      if (this.#presence.add(value)) this.#set(this.#values++, value);
    }
    return rows.length * 8;
  }

  chunk(): ColumnChunk {
    const page = this.#presence.page();
    const words = this.#words.subarray(0, this.#values * this.#width);
    const found = this.#entries.build(words, this.#width);
    if (found !== undefined)
      return {
        dictionary: {bytes: bytesOf(found.entries), values: found.entries.length / this.#width},
        pages: [{...page, values: {places: found.places}}],
      };
    return {pages: [{...page, values: bytesOf(words)}]};
  }

  clear(): void {
    this.#values = 0;
    this.#presence.clear();
  }

  #set(at: number, value: unknown): void {
    switch (this.#type) {
      case 'key':
        if (typeof value !== 'bigint' || BigInt.asUintN(64, value) !== value)
          throw misfit(this.#column, value);
        this.#keys[at] = value;
        return;
      case 'double':
        if (typeof value !== 'number') throw misfit(this.#column, value);
        this.#doubles[at] = value;
        return;
      case 'timestamp':
        this.#setInteger(at, value instanceof Date ? value.getTime() : value);
        return;
      case 'count':
        this.#setInteger(at, value);
        return;
      case 'int16':
      case 'int32':
        if (typeof value !== 'number' || (value | 0) !== value) throw misfit(this.#column, value);
        this.#words[at] = value;
        return;
    }
  }

  /** 64 bits, two's complement. */
  #setInteger(at: number, value: unknown): void {
    if (!Number.isSafeInteger(value)) throw misfit(this.#column, value);
    const integer = value as number; // it is safe
    this.#words[2 * at] = integer;
    this.#words[2 * at + 1] = Math.floor(integer / 2 ** 32);
  }

  #makeRoom(values: number): void {
    const needed = 8 * (this.#values + values);
    if (needed <= this.#buffer.byteLength) return;
    const before = this.#words;
    this.#buffer = new ArrayBuffer(Math.max(needed, 2 * this.#buffer.byteLength));
    this.#words = new Uint32Array(this.#buffer);
    this.#keys = new BigUint64Array(this.#buffer);
    this.#doubles = new Float64Array(this.#buffer);
    this.#words.set(before);
  }
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/** Different values and where each value stands among them, by open addressing. The memory is used again. */
class WordDictionary {
  #slots = new Int32Array(0);
  #entries = new Uint32Array(2 * 256);
  #places = new Int32Array(0);

  /** Undefined where it does not pay. Valid until the next call. */
  build(
    words: Uint32Array,
    width: 1 | 2,
  ): {readonly entries: Uint32Array; readonly places: Int32Array} | undefined {
    const values = words.length / width;
    if (values === 0) return undefined;
    const slots = this.#emptySlots(values);
    const mask = slots.length - 1;
    if (this.#places.length < values) this.#places = new Int32Array(2 * values);
    const places = this.#places;
    let count = 0;
    let last = -1;
    for (let at = 0; at < values; at++) {
      const low = words[width * at]!;
      const high = width === 2 ? words[2 * at + 1]! : 0;
      if (last < 0 || !this.#equals(last, low, high)) {
        let slot = slotOf(low, high) & mask;
        for (;;) {
          last = slots[slot]! - 1;
          if (last < 0 || this.#equals(last, low, high)) break;
          slot = (slot + 1) & mask;
        }
        if (last < 0) {
          last = count++;
          slots[slot] = count;
          this.#setEntry(last, low, high);
        }
      }
      places[at] = last;
      if (at === trial && count > 0.9 * trial) return undefined;
    }
    const sizes = {plain: 4 * words.length, dictionary: 4 * width * count, entries: count, values};
    if (!dictionaryPays(sizes)) return undefined;
    return {entries: this.#packed(count, width), places: places.subarray(0, values)};
  }

  /** At most half of them will be used. */
  #emptySlots(values: number): Int32Array {
    let size = 64;
    while (size < 2 * values) size *= 2;
    if (this.#slots.length < size) this.#slots = new Int32Array(size);
    const slots = this.#slots.subarray(0, size);
    slots.fill(0);
    return slots;
  }

  #equals(entry: number, low: number, high: number): boolean {
    return this.#entries[2 * entry] === low && this.#entries[2 * entry + 1] === high;
  }

  #setEntry(entry: number, low: number, high: number): void {
    if (2 * entry === this.#entries.length) {
      const more = new Uint32Array(2 * this.#entries.length);
      more.set(this.#entries);
      this.#entries = more;
    }
    this.#entries[2 * entry] = low;
    this.#entries[2 * entry + 1] = high;
  }

  #packed(count: number, width: 1 | 2): Uint32Array {
    if (width === 2) return this.#entries.slice(0, 2 * count);
    return Uint32Array.from({length: count}, (_, entry) => this.#entries[2 * entry]!);
  }
}

/** MurmurHash3's finalizer over both words. */
function slotOf(low: number, high: number): number {
  let h = low ^ Math.imul(high, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
