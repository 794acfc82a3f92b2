import {type QuoteType, Tokenizer, type TokenizerCallbacks} from 'htmlparser2';
import {latin1View, type Slicer, utf8Slicer} from './decode.ts';
import {type AttributeName, attributeNames, attributes, attributeTable, tagTable} from './html-names.ts';

/**
 * Markup as events: htmlparser2's tokenizer with callbacks by position, which cost a third of its parser's.
 *
 * The view is the text of the page, or (the fast way) a latin1 view of it in UTF-8: all markup is ASCII, so tags are
 * found in the bytes, and only pieces that matter are decoded.
 */
export interface MarkupHandler {
  /** A start tag with the attributes that are known here; `tag` is a number of html-names, 0 for others. */
  open(tag: number, attributes: Attributes): void;
  close(tag: number): void;
  /** Whether the text at this place matters: if not, it is not even decoded. */
  wantsText(): boolean;
  /** Text of the page at [start, end) of the view. */
  text(start: number, end: number): void;
  /** A character that the page writes as an entity. */
  entity(codepoint: number): void;
  /** Names of HTML within svg and math are not those of HTML. */
  inForeignContent(): boolean;
}

export interface MarkupSource {
  readonly view: string;
  /** Text of a piece of the view. */
  readonly slice: Slicer;
  /** What the view is of, in UTF-8; absent: of the text itself. */
  readonly bytes?: Uint8Array;
  /** `<script/>` is closed where it is opened. */
  readonly xhtml: boolean;
  /** Take the tokenizer as it is: what the faster one is compared with. */
  readonly plain?: boolean;
}

/** A page in well-formed UTF-8. */
export function markupOfBytes(bytes: Uint8Array, xhtml: boolean): MarkupSource {
  const view = latin1View(bytes);
  return {view, slice: utf8Slicer(bytes, view), bytes, xhtml};
}

/** A page as text. */
export function markupOfText(view: string, xhtml: boolean): MarkupSource {
  return {view, slice: (start, end) => view.slice(start, end), xhtml};
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
  const events = new Events(source, handler);
  const tokenizer =
    source.plain === true
      ? new Tokenizer({recognizeSelfClosing: source.xhtml}, events)
      : new SkippingTokenizer(source, events);
  tokenizer.write(source.view);
  tokenizer.end();
}

/** What the tokenizer declares as private, of the version that package.json names. */
interface TokenizerInside {
  index: number;
  write(view: string): void;
  end(): void;
  stateText(code: number): void;
  handleInAttributeValue(code: number, quote: number): void;
}
const TokenizerOpen = Tokenizer as unknown as new (
  ...parameters: ConstructorParameters<typeof Tokenizer>
) => TokenizerInside;

/**
 * The tokenizer looks at every character of texts and of values in quotes; this one goes to the next that means
 * something by searches for single characters, which are many times faster. A place that was found is kept until it
 * is passed, so that time stays linear. Without these internals this would be slower, not wrong.
 */
class SkippingTokenizer extends TokenizerOpen {
  readonly #view: string;
  #tag = -1;
  #entity = -1;
  #double = -1;
  #single = -1;

  constructor({view, xhtml}: MarkupSource, callbacks: TokenizerCallbacks) {
    super({recognizeSelfClosing: xhtml}, callbacks);
    this.#view = view;
  }

  override stateText(code: number): void {
    if (code === 60 || code === 38) {
      super.stateText(code);
      return;
    }
    if (this.#tag < this.index) this.#tag = this.#next('<');
    this.#goTo(this.#tag);
  }

  override handleInAttributeValue(code: number, quote: number): void {
    if (code === quote || code === 38) {
      super.handleInAttributeValue(code, quote);
      return;
    }
    if (quote === 34) {
      if (this.#double < this.index) this.#double = this.#next('"');
      this.#goTo(this.#double);
    } else {
      if (this.#single < this.index) this.#single = this.#next("'");
      this.#goTo(this.#single);
    }
  }

  /** To the next `&` or to `end`, whichever comes first: the tokenizer goes on behind the place that is set here. */
  #goTo(end: number): void {
    if (this.#entity < this.index) this.#entity = this.#next('&');
    this.index = Math.min(end, this.#entity) - 1;
  }

  #next(character: string): number {
    const at = this.#view.indexOf(character, this.index);
    return at === -1 ? this.#view.length : at;
  }
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
    // What there is of a tag that the end of the page cuts off may come as [-1, end): it is no text.
    if (start >= 0 && this.#handler.wantsText()) this.#handler.text(start, end);
  }
  ontextentity(codepoint: number): void {
    if (this.#handler.wantsText()) this.#handler.entity(codepoint);
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
