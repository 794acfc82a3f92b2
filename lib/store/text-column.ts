import {ownCopy} from '../url/own-copy.ts';
import {ByteColumn} from './byte-column.ts';
import {
  type ColumnBuffer,
  type ColumnChunk,
  type ColumnName,
  dictionaryPays,
  misfit,
  Presence,
  type Rows,
} from './column-buffer.ts';
import {PlainBytes} from './plain-bytes.ts';

/** After so many values a dictionary is given up if it holds nine tenths of them. Chosen: hyparquet-writer's sample. */
const trial = 1000;

/**
 * A column of texts, many of which are equal: a dictionary and places in it, or PLAIN where that is not half as long.
 * Held as objects: each different text once, in memory of its own, so that a URL keeps no page alive.
 */
export class TextColumn implements ColumnBuffer {
  readonly #column: ColumnName;
  readonly #presence: Presence;
  readonly #known = new Map<string, number>();
  readonly #dictionary = new PlainBytes();
  /** Where the entries of the dictionary end in its list of bytes. */
  #ends = new Int32Array(256);
  #places = new Int32Array(1024);
  #values = 0;
  /** Of the values in PLAIN encoding, and of the dictionary: bytes. */
  #plainBytes = 0;
  #last: string | undefined;
  #lastPlace = 0;
  /** The whole column, once the dictionary is given up. */
  readonly #plain: ByteColumn;
  #isPlain = false;

  constructor(column: ColumnName) {
    this.#column = column;
    this.#presence = new Presence(column);
    this.#plain = new ByteColumn(column);
  }

  add(rows: Rows): number {
    if (this.#isPlain) return this.#plain.add(rows);
    const {name} = this.#column;
    let bytes = 0;
    for (const row of rows) {
      const value = row[name];
      if (typeof value === 'string') {
        this.#presence.add(value);
        this.#addPlace(this.#placeOf(value));
        bytes += value.length + 4;
      } else if (this.#presence.add(value)) throw misfit(this.#column, value);
      else bytes += 8;
    }
    if (
      this.#values >= trial &&
      this.#values - rows.length < trial &&
      this.#dictionary.used > 0.9 * this.#plainBytes
    )
      this.#giveUp();
    return bytes;
  }

  chunk(): ColumnChunk {
    if (!this.#isPlain) {
      const sizes = {
        plain: this.#plainBytes,
        dictionary: this.#dictionary.used,
        entries: this.#known.size,
        values: this.#values,
      };
      if (this.#values > 0 && dictionaryPays(sizes))
        return {
          dictionary: {bytes: this.#dictionary.bytes, values: this.#known.size},
          pages: [{...this.#presence.page(), values: {places: this.#places.subarray(0, this.#values)}}],
        };
      this.#giveUp();
    }
    return this.#plain.chunk();
  }

  clear(): void {
    this.#plain.clear();
    this.#isPlain = false;
    this.#clearDictionary();
  }

  #placeOf(text: string): number {
    if (text === this.#last) return this.#lastPlace;
    let place = this.#known.get(text);
    if (place === undefined) {
      place = this.#known.size;
      const own = ownCopy(text);
      this.#known.set(own === text ? own : text, place); // a lone surrogate has no copy
      this.#dictionary.addText(text);
      if (place === this.#ends.length) this.#ends = longer(this.#ends);
      this.#ends[place] = this.#dictionary.used;
    }
    this.#last = text;
    this.#lastPlace = place;
    return place;
  }

  #addPlace(place: number): void {
    if (this.#values === this.#places.length) this.#places = longer(this.#places);
    this.#places[this.#values++] = place;
    this.#plainBytes += this.#ends[place]! - this.#start(place);
  }

  #start(place: number): number {
    return place === 0 ? 0 : this.#ends[place - 1]!;
  }

  #giveUp(): void {
    for (let row = 0, value = 0; row < this.#presence.rows; row++) {
      if (!this.#presence.has(row)) this.#plain.addValue(null);
      else {
        const place = this.#places[value++]!;
        this.#plain.addPlain(this.#dictionary, this.#start(place), this.#ends[place]!);
      }
    }
    this.#isPlain = true;
    this.#clearDictionary();
  }

  #clearDictionary(): void {
    this.#known.clear();
    this.#dictionary.clear();
    this.#presence.clear();
    this.#values = 0;
    this.#plainBytes = 0;
    this.#last = undefined;
  }
}

function longer(list: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const more = new Int32Array(list.length * 2);
  more.set(list);
  return more;
}
