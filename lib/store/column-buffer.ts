import {CrawlError} from '../errors.ts';

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Values of a column of a row group while it is being filled, near the form in which a file has them. */
export interface ColumnBuffer {
  /**
   * Takes over the column's value of each row; bytes that they take, about: 8 for a number, a time, a null or a truth
   * value, and for others their length and 4.
   *
   * @throws CrawlError INTERNAL where a row has no value of the column's type
   */
  add(rows: Rows): number;
  /** What was added, for the file; valid until more is added or `clear`. */
  chunk(): ColumnChunk;
  clear(): void;
}

/** A column of a row group. With a dictionary (values in PLAIN encoding) its pages hold places in that. */
export interface ColumnChunk {
  readonly dictionary?: {readonly bytes: Uint8Array; readonly values: number};
  readonly pages: readonly ColumnPage[];
}

export interface ColumnPage {
  readonly rows: number;
  /** Which rows have a value, 1 or 0; absent in a column without nulls. */
  readonly present?: Uint8Array;
  readonly nulls: number;
  /** Values that are no null: in PLAIN encoding, or places in the dictionary. */
  readonly values: Uint8Array | {readonly places: Int32Array};
}

/** What a column is called in messages, and whether it may lack values. */
export interface ColumnName {
  readonly table: string;
  readonly name: string;
  readonly nullable: boolean;
}

/** A value that the column cannot hold: a defect of the job. */
export function misfit({table, name}: ColumnName, value: unknown): CrawlError {
  return new CrawlError('INTERNAL', `a row of ${table} has ${value} at the column ${name}`);
}

/** Which rows have a value. */
export class Presence {
  readonly #column: ColumnName;
  #flags = new Uint8Array(1024);
  #rows = 0;
  #nulls = 0;

  constructor(column: ColumnName) {
    this.#column = column;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Notes whether a row has a value. */
  add(value: unknown): boolean {
    const present = value !== null && value !== undefined;
    if (!present && (value === undefined || !this.#column.nullable)) throw misfit(this.#column, value);
    if (this.#rows === this.#flags.length) {
      const more = new Uint8Array(this.#rows * 2);
      more.set(this.#flags);
      this.#flags = more;
    }
    this.#flags[this.#rows++] = present ? 1 : 0;
    if (!present) this.#nulls++;
    return present;
  }

  has(row: number): boolean {
    return this.#flags[row] === 1;
  }

  /** What a page of all rows, or of some, says of them. */
  page(from = 0, to = this.#rows): Omit<ColumnPage, 'values'> {
    const present = this.#flags.subarray(from, to);
    let nulls = 0;
    if (this.#nulls > 0) for (const one of present) nulls += 1 - one;
    return {rows: to - from, nulls, ...(this.#column.nullable && {present})};
  }

  clear(): void {
    this.#rows = 0;
    this.#nulls = 0;
  }
}

/** Whether a dictionary and places in it take at most half of the bytes of the values themselves. */
export function dictionaryPays(sizes: {
  readonly plain: number;
  readonly dictionary: number;
  readonly entries: number;
  readonly values: number;
}): boolean {
  const bits = Math.ceil(Math.log2(sizes.entries));
  return 2 * (sizes.dictionary + Math.ceil((sizes.values * bits) / 8)) <= sizes.plain;
}
