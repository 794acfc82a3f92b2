import {type QuoteType, Tokenizer, type TokenizerCallbacks} from 'htmlparser2';
import type {Slicer} from './decode.ts';
import {type AttributeName, attributeNames, attributes, attributeTable, tagTable} from './html-names.ts';

/**
 * Markup as events: htmlparser2's tokenizer with callbacks by position, which cost a third of its parser's.
 *
 * The view is the text of the page, or (the fast way) a latin1 view of its bytes: all markup is ASCII, so with an
 * ASCII-compatible encoding tags are found in the bytes, and only pieces that matter are decoded.
 */
export interface MarkupHandler {
  /** A start tag with the attributes that are known here; `tag` is a number of html-names, 0 for others. */
  open(tag: number, attributes: Attributes): void;
  close(tag: number): void;
  /** Whether the text at this place matters: if not, it is not even decoded. */
  wantsText(): boolean;
  text(piece: string): void;
  /** Names of HTML within svg and math are not those of HTML. */
  inForeignContent(): boolean;
}

export interface MarkupSource {
  readonly view: string;
  /** Text of a piece of the view. */
  readonly slice: Slicer;
  /** `<script/>` is closed where it is opened. */
  readonly xhtml: boolean;
}

/** Values of a start tag's attributes: of a repeated one, the first. Valid until the next tag. */
export class Attributes {
  readonly #values = new Array<string | undefined>(attributeNames.length + 1).fill(undefined);
  readonly #set = new Uint8Array(attributeNames.length + 1);
  #count = 0;

  get(name: AttributeName): string | undefined {
    return this.#count === 0 ? undefined : this.#values[attributes[name]];
  }
  get empty(): boolean {
    return this.#count === 0;
  }
  put(id: number, value: string): void {
    if (this.#values[id] !== undefined) return;
    this.#values[id] = value;
    this.#set[this.#count++] = id;
  }
  clear(): void {
    for (let at = 0; at < this.#count; at++) this.#values[this.#set[at]!] = undefined;
    this.#count = 0;
  }
}

export function readMarkup(source: MarkupSource, handler: MarkupHandler): void {
  const tokenizer = new Tokenizer({recognizeSelfClosing: source.xhtml}, new Events(source, handler));
  tokenizer.write(source.view);
  tokenizer.end();
}

class Events implements TokenizerCallbacks {
  readonly #view: string;
  readonly #slice: Slicer;
  readonly #handler: MarkupHandler;
  readonly #attributes = new Attributes();
  #tag = 0;
  #attribute = 0;
  /** Value so far: text before the last entity, and the slice that is still open. */
  #value = '';
  #start = -1;
  #end = -1;

  constructor(source: MarkupSource, handler: MarkupHandler) {
    this.#view = source.view;
    this.#slice = source.slice;
    this.#handler = handler;
  }

  onopentagname(start: number, end: number): void {
    this.#tag = tagTable.find(this.#view, start, end);
    this.#attributes.clear();
  }
  onattribname(start: number, end: number): void {
    this.#attribute = attributeTable.find(this.#view, start, end);
    this.#value = '';
    this.#start = -1;
  }
  onattribdata(start: number, end: number): void {
    if (this.#attribute === 0) return;
    if (this.#start === -1) this.#start = start;
    else if (start !== this.#end) {
      this.#value += this.#slice(this.#start, this.#end);
      this.#start = start;
    }
    this.#end = end;
  }
  onattribentity(codepoint: number): void {
    if (this.#attribute === 0) return;
    if (this.#start !== -1) this.#value += this.#slice(this.#start, this.#end);
    this.#start = -1;
    this.#value += String.fromCodePoint(codepoint);
  }
  onattribend(_quote: QuoteType, _end: number): void {
    if (this.#attribute === 0) return;
    if (this.#start !== -1) {
      const last = this.#slice(this.#start, this.#end);
      this.#value = this.#value === '' ? last : this.#value + last;
    }
    this.#attributes.put(this.#attribute, this.#value);
  }
  onopentagend(): void {
    this.#handler.open(this.#tag, this.#attributes);
  }
  onselfclosingtag(): void {
    this.#handler.open(this.#tag, this.#attributes);
    this.#handler.close(this.#tag);
  }
  onclosetag(start: number, end: number): void {
    this.#handler.close(tagTable.find(this.#view, start, end));
  }
  ontext(start: number, end: number): void {
    if (this.#handler.wantsText()) this.#handler.text(this.#slice(start, end));
  }
  ontextentity(codepoint: number): void {
    if (this.#handler.wantsText()) this.#handler.text(String.fromCodePoint(codepoint));
  }
  oncdata(start: number, end: number, endOffset: number): void {
    this.ontext(start, end - endOffset);
  }
  isInForeignContext(): boolean {
    return this.#handler.inForeignContent();
  }
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}
}
