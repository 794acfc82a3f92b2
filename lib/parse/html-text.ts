import type {Slicer} from './decode.ts';

/** Text of a document: a line for each block. */
export interface DocumentText {
  readonly text: string;
  readonly blocks: readonly TextBlock[];
  /** Something was left out because of a limit. */
  readonly cut: boolean;
}

/** A stretch of text between two breaks of line: white space folded, not empty. */
export interface TextBlock {
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
  /** Characters of it that stand in links. */
  readonly linked: number;
  /** In navigation, an aside, a footer, a form. */
  readonly boilerplate: boolean;
  /** 1 to 6 for headings, else 0. */
  readonly heading: number;
}

/**
 * Takes the text of a page piece by piece, [start, end) of the page's view. {@link PlainText} says what comes of it;
 * Utf8Text gives the same in less time.
 */
export interface TextSink {
  /** False: not taken, since the limit is reached. */
  add(start: number, end: number, linked: boolean): boolean;
  addCodePoint(codepoint: number, linked: boolean): boolean;
  /** Parts words. */
  addSpace(): void;
  /** A place in the block that is open, for `since`; void when the block ends. */
  mark(): number;
  /** Text of the open block from a mark on, not yet trimmed. */
  since(mark: number): string;
  /** Ends the block that is open. */
  endBlock(boilerplate: boolean, heading: number): void;
  finish(): DocumentText;
}

/** White space (ASCII's, and no-break spaces) folded to single spaces, none at the ends. */
export function foldSpace(text: string): string {
  return foldInside(text.trim());
}

/** The same, with a space where there was any at the ends. */
export function foldInside(text: string): string {
  return needsFolding(text) ? text.replace(/[\t\n\v\f\r \u00a0]+/g, ' ') : text;
}

/** The first `most` units of a text, a character of two units not in half. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}

/** Searches for single characters are many times faster than a pattern, and most texts need nothing. */
function needsFolding(text: string): boolean {
  return (
    text.includes('\n') ||
    text.includes('  ') ||
    text.includes('\t') ||
    text.includes('\u00a0') ||
    text.includes('\r') ||
    text.includes('\f') ||
    text.includes('\v')
  );
}

/** True for text of white space only, by looking at its first characters; most such pieces are indentation. */
function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 32 && (code > 13 || code < 9)) return false;
  }
  return true;
}

/** Gathers text as strings, block by block, up to `maxLength` characters in all. */
export class TextBlocks {
  readonly #lines: string[] = [];
  readonly #blocks: TextBlock[] = [];
  /** Characters of the blocks that have ended, with their line feeds. */
  #length = 0;
  #cut = false;
  readonly #maxLength: number;
  /** Pieces of the open block: a mark is a place among them, so that text since a mark costs no look at the others. */
  #pieces: string[] = [];
  /** Characters of them. */
  #open = 0;
  #linked = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  addText(piece: string, linked: boolean): boolean {
    if (this.#length + this.#open >= this.#maxLength) {
      this.#cut = true;
      return false;
    }
    const text = isBlank(piece) ? ' ' : piece;
    this.#pieces.push(text);
    this.#open += text.length;
    if (linked) this.#linked += text.length;
    return true;
  }

  addSpace(): void {
    this.addText(' ', false);
  }

  mark(): number {
    return this.#pieces.length;
  }

  since(mark: number): string {
    return this.#pieces.slice(mark).join('');
  }

  endBlock(boilerplate: boolean, heading: number): void {
    if (this.#pieces.length === 0) return;
    let text = foldSpace(this.#pieces.join(''));
    if (this.#length + text.length > this.#maxLength) {
      text = cutText(text, this.#maxLength - this.#length);
      this.#cut = true;
    }
    if (text !== '') {
      const start = this.#length;
      this.#blocks.push({start, end: start + text.length, linked: this.#linked, boilerplate, heading});
      this.#lines.push(text);
      this.#length += text.length + 1;
    }
    this.#pieces = [];
    this.#open = 0;
    this.#linked = 0;
  }

  finish(): DocumentText {
    const text = this.#lines.join('\n');
    return {text, blocks: this.#blocks, cut: this.#cut};
  }
}

/** The plain way to take the text of a page: piece by piece out of its view. */
export class PlainText extends TextBlocks implements TextSink {
  readonly #slice: Slicer;

  constructor(slice: Slicer, maxLength: number) {
    super(maxLength);
    this.#slice = slice;
  }

  add(start: number, end: number, linked: boolean): boolean {
    return this.addText(this.#slice(start, end), linked);
  }

  addCodePoint(codepoint: number, linked: boolean): boolean {
    return this.addText(String.fromCodePoint(codepoint), linked);
  }
}
