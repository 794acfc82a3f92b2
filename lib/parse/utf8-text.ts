import {isAscii} from 'node:buffer';
import type {DocumentText, TextBlock, TextSink} from './html-text.ts';

/**
 * Gathers the text that a reader sees from a page in UTF-8, without a limit: its bytes are copied once, white space
 * folded on the way, and decoded once, all together. Most pieces have no white space to fold, which searches for
 * single characters tell; they are copied whole, since what looks at each byte costs most here.
 */
export class Utf8Text implements TextSink {
  readonly #page: Uint8Array;
  readonly #spaces: readonly NextPlace[];
  readonly #blocks: Omit<TextBlock, 'start' | 'end'>[] = [];
  #out: Uint8Array;
  /** Bytes written, and where the open block begins in them. */
  #length = 0;
  #from = 0;
  #linked = 0;
  #ascii: boolean;

  /**
   * @param page well-formed UTF-8
   * @param view its latin1 view
   */
  constructor(page: Uint8Array, view: string) {
    // Buffers too, as what they are made of: loops over one kind of array are twice as fast.
    this.#page = new Uint8Array(page.buffer, page.byteOffset, page.length);
    this.#spaces = folded.map((text) => new NextPlace(view, text));
    this.#ascii = isAscii(page);
    this.#out = spare ?? new Uint8Array(2 ** 16);
    spare = undefined;
  }

  add(start: number, end: number, linked: boolean): boolean {
    if (linked) this.#linked += this.#units(start, end);
    let from = start;
    // All spaces in front: what looks for two in a row begins at `from`, and sees one that is left over as single.
    if (this.#endsInSpace()) while (from < end && this.#page[from] === 32) from++;
    if (end - from < shortPiece || this.#hasSpaces(from, end)) {
      this.#fold(this.#page, from, end);
      // White space alone, and an empty CDATA section, part words like one space.
      if (end <= from) this.addSpace();
      return true;
    }
    this.#room(end - from);
    this.#out.set(this.#page.subarray(from, end), this.#length);
    this.#length += end - from;
    return true;
  }

  addCodePoint(codepoint: number, linked: boolean): boolean {
    const character = String.fromCodePoint(codepoint);
    const {written} = encoder.encodeInto(character, entity);
    if (codepoint >= 0x80) this.#ascii = false;
    if (linked) this.#linked += character.length;
    this.#fold(entity, 0, written);
    return true;
  }

  addSpace(): void {
    if (this.#endsInSpace()) return;
    this.#room(1);
    this.#out[this.#length++] = 32;
  }

  #endsInSpace(): boolean {
    return this.#length === this.#from || this.#out[this.#length - 1] === 32;
  }

  #hasSpaces(start: number, end: number): boolean {
    for (const place of this.#spaces) if (place.from(start) < end) return true;
    return false;
  }

  /** Characters as strings count them; white space alone is one. */
  #units(start: number, end: number): number {
    let units = 0;
    let blank = true;
    for (let at = start; at < end; at++) {
      const byte = this.#page[at]!;
      if (byte < 0x80 || byte >= 0xc0) units += byte >= 0xf0 ? 2 : 1;
      if (byte !== 32 && (byte > 13 || byte < 9)) blank = false;
    }
    return blank ? 1 : units;
  }

  #fold(source: Uint8Array, start: number, end: number): void {
    this.#room(end - start);
    const out = this.#out;
    let length = this.#length;
    for (let at = start; at < end; at++) {
      const byte = source[at]!;
      if (byte > 32 && byte !== 0xc2) {
        out[length++] = byte;
        continue;
      }
      const noBreak = byte === 0xc2 && source[at + 1] === 0xa0;
      if (noBreak) at++;
      if (!noBreak && byte !== 32 && (byte > 13 || byte < 9)) out[length++] = byte;
      else if (length > this.#from && out[length - 1] !== 32) out[length++] = 32;
    }
    this.#length = length;
  }

  /** Makes sure of room for so many bytes and a line feed. */
  #room(bytes: number): void {
    const needed = this.#length + bytes + 1;
    if (needed <= this.#out.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#out.length * 2));
    larger.set(this.#out.subarray(0, this.#length));
    this.#out = larger;
  }

  mark(): number {
    return this.#length;
  }

  since(mark: number): string {
    return this.#decode(mark, this.#length);
  }

  #decode(start: number, end: number): string {
    const {buffer} = this.#out;
    return Buffer.from(buffer, start, Math.max(0, end - start)).toString(this.#ascii ? 'latin1' : 'utf8');
  }

  endBlock(boilerplate: boolean, heading: number): void {
    this.#trim();
    if (this.#length > this.#from) {
      this.#blocks.push({linked: this.#linked, boilerplate, heading});
      this.#room(0);
      this.#out[this.#length++] = 10;
      this.#from = this.#length;
    }
    this.#linked = 0;
  }

  /** Takes white space from both ends of the block, that of all scripts, as String.trim does. */
  #trim(): void {
    const out = this.#out;
    let end = this.#length;
    for (let bytes = 1; end > this.#from && bytes > 0; end -= bytes)
      bytes = out[end - 1] === 32 ? 1 : isWideSpace(out, end - 3, this.#from) ? 3 : 0;
    let start = this.#from;
    for (let bytes = 1; start < end && bytes > 0; start += bytes)
      bytes = out[start] === 32 ? 1 : isWideSpace(out, start, start) ? 3 : 0;
    if (start > this.#from) out.copyWithin(this.#from, start, end);
    this.#length = this.#from + end - start;
  }

  finish(): DocumentText {
    const length = Math.max(0, this.#length - 1);
    const text = this.#decode(0, length);
    spare = this.#out;
    let start = 0;
    const blocks = this.#blocks.map((block) => {
      const feed = text.indexOf('\n', start);
      const end = feed === -1 ? text.length : feed;
      const placed = {start, end, ...block};
      start = end + 1;
      return placed;
    });
    return {text, blocks, cut: false};
  }
}

/** Memory of the text that was gathered last, for the next one. */
let spare: Uint8Array | undefined;
const encoder = new TextEncoder();
const entity = new Uint8Array(8);

/** Bytes of a piece from which on it is copied whole: to ask for that takes as long as so many bytes. */
const shortPiece = 40;

/** What makes that white space must be folded, in the latin1 view of UTF-8; the last is the no-break space. */
const folded = ['\n', '  ', '\t', '\r', '\f', '\v', '\u00c2\u00a0'];

/** Where a text stands next in a view. A place that was found is kept until it is passed, so that time stays linear. */
class NextPlace {
  readonly #view: string;
  readonly #text: string;
  #at = -1;

  constructor(view: string, text: string) {
    this.#view = view;
    this.#text = text;
  }

  from(start: number): number {
    if (this.#at < start) {
      const found = this.#view.indexOf(this.#text, start);
      this.#at = found === -1 ? this.#view.length : found;
    }
    return this.#at;
  }
}

/** Whether white space that takes three bytes begins at `at`, which is not before `from`. */
function isWideSpace(bytes: Uint8Array, at: number, from: number): boolean {
  if (at < from || bytes[at]! < 0xe1 || bytes[at]! > 0xef) return false;
  const unit = ((bytes[at]! & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
  return unit >= 0x1680 && String.fromCharCode(unit).trim() === '';
}
