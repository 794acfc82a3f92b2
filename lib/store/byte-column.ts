import {
  type ColumnBuffer,
  type ColumnChunk,
  type ColumnName,
  misfit,
  Presence,
  type Rows,
} from './column-buffer.ts';
import {PlainBytes} from './plain-bytes.ts';

/** Bytes of a page, about: what a reader undoes at once. Chosen: hyparquet-writer's own. */
const pageBytes = 2 ** 20;

/** A column of texts or bytes, few of which are equal: PLAIN, in pages. */
export class ByteColumn implements ColumnBuffer {
  readonly #column: ColumnName;
  readonly #presence: Presence;
  #pages: PlainBytes[] = [];
  /** First row of each page. */
  #firstRows: number[] = [];
  /** Memory of pages that were written. */
  #spare: PlainBytes[] = [];

  constructor(column: ColumnName) {
    this.#column = column;
    this.#presence = new Presence(column);
  }

  add(rows: Rows): number {
    const {name} = this.#column;
    let bytes = 0;
    for (const row of rows) bytes += this.addValue(row[name]);
    return bytes;
  }

  addValue(value: unknown): number {
    if (typeof value === 'string') {
      const page = this.#pageFor(value.length);
      this.#presence.add(value);
      page.addText(value);
      return value.length + 4;
    }
    if (value instanceof Uint8Array) {
      const page = this.#pageFor(value.length);
      this.#presence.add(value);
      page.addBytes(value);
      return value.length + 4;
    }
    if (this.#presence.add(value)) throw misfit(this.#column, value);
    return 8;
  }

  /** Adds the value that stands in another list, its length before it. */
  addPlain(list: PlainBytes, from: number, to: number): void {
    const page = this.#pageFor(to - from);
    this.#presence.add(list);
    page.addPlain(list, from, to);
  }

  chunk(): ColumnChunk {
    if (this.#pages.length === 0) this.#begin();
    return {
      pages: this.#pages.map((page, at) => ({
        ...this.#presence.page(this.#firstRows[at], this.#firstRows[at + 1] ?? this.#presence.rows),
        values: page.bytes,
      })),
    };
  }

  clear(): void {
    // Memory that was made for a single long value is given back.
    for (const page of this.#pages) if (page.capacity <= 2 * pageBytes) this.#spare.push(page);
    this.#pages = [];
    this.#firstRows = [];
    this.#presence.clear();
  }

  #pageFor(length: number): PlainBytes {
    const page = this.#pages.at(-1);
    return page === undefined || (page.used > 0 && page.used + length > pageBytes) ? this.#begin() : page;
  }

  #begin(): PlainBytes {
    const page = this.#spare.pop() ?? new PlainBytes();
    page.clear();
    // Nulls at the beginning belong to the first page.
    this.#firstRows.push(this.#pages.length === 0 ? 0 : this.#presence.rows);
    this.#pages.push(page);
    return page;
  }
}
