/** First memory of a list of values. Chosen: a table of 40 columns then begins with less than a megabyte. */
const firstBytes = 16 * 2 ** 10;
/** Longest text that is copied unit by unit, where it is ASCII: the call into Buffer takes longer than that. */
const shortText = 40;

/**
 * Values of bytes or text one behind the other in the form of Parquet's PLAIN encoding: four bytes of length, little
 * endian, then the value, texts in UTF-8. Kept as bytes no value is an object, and a text that is part of a page keeps no
 * page in memory. The memory is used again after {@link clear}.
 *
 * @see https://parquet.apache.org/docs/file-format/data-pages/encodings/#plain-plain--0
 */
export class PlainBytes {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  #used = 0;

  get used(): number {
    return this.#used;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** All values: valid until the next one is added. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  /** Lone surrogates become U+FFFD, as everywhere. */
  addText(text: string): void {
    if (text.length <= shortText && this.#addAscii(text)) return;
    // A UTF-16 unit takes at most three bytes; they are counted only where the end is near.
    if (this.#bytes.length - this.#used < text.length * 3 + 4) this.#makeRoom(Buffer.byteLength(text) + 4);
    const bytes = this.#bytes.write(text, this.#used + 4, 'utf8');
    this.#addLength(bytes);
    this.#used += bytes;
  }

  addBytes(value: Uint8Array): void {
    this.#makeRoom(value.length + 4);
    this.#addLength(value.length);
    this.#bytes.set(value, this.#used);
    this.#used += value.length;
  }

  /** Adds a value as it stands in such a list, its length before it. */
  addPlain(list: PlainBytes, from: number, to: number): void {
    this.#makeRoom(to - from);
    list.#bytes.copy(this.#bytes, this.#used, from, to);
    this.#used += to - from;
  }

  clear(): void {
    this.#used = 0;
  }

  #addAscii(text: string): boolean {
    const {length} = text;
    this.#makeRoom(length + 4);
    const bytes = this.#bytes;
    const from = this.#used + 4;
    for (let at = 0; at < length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0x80) return false;
      bytes[from + at] = unit;
    }
    this.#addLength(length);
    this.#used += length;
    return true;
  }

  #addLength(length: number): void {
    const bytes = this.#bytes;
    bytes[this.#used++] = length;
    bytes[this.#used++] = length >>> 8;
    bytes[this.#used++] = length >>> 16;
    bytes[this.#used++] = length >>> 24;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, needed));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}
