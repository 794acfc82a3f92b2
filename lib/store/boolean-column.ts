import {
  type ColumnBuffer,
  type ColumnChunk,
  type ColumnName,
  misfit,
  Presence,
  type Rows,
} from './column-buffer.ts';

/** A column of truth values: PLAIN, a bit each, since parquetjs reads RLE as garbage (measured 2026-11). */
export class BooleanColumn implements ColumnBuffer {
  readonly #column: ColumnName;
  readonly #presence: Presence;
  #bits = new Uint8Array(128);
  #values = 0;

  constructor(column: ColumnName) {
    this.#column = column;
    this.#presence = new Presence(column);
  }

  add(rows: Rows): number {
    const {name} = this.#column;
    for (const row of rows) {
      const value = row[name];
      if (!this.#presence.add(value)) continue;
      if (typeof value !== 'boolean') throw misfit(this.#column, value);
      const at = this.#values >> 3;
      if (at === this.#bits.length) {
        const more = new Uint8Array(at * 2);
        more.set(this.#bits);
        this.#bits = more;
      }
      const bit = 1 << (this.#values++ & 7);
      if (value) this.#bits[at]! |= bit;
      else this.#bits[at]! &= ~bit;
    }
    return rows.length * 8;
  }

  chunk(): ColumnChunk {
    const used = (this.#values + 7) >> 3;
    // Bits behind the last are of values before.
    if ((this.#values & 7) !== 0) this.#bits[used - 1]! &= (1 << (this.#values & 7)) - 1;
    return {pages: [{...this.#presence.page(), values: this.#bits.subarray(0, used)}]};
  }

  clear(): void {
    this.#values = 0;
    this.#presence.clear();
  }
}
