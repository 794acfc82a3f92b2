import {foldInside, type TextSink} from './html-text.ts';

/**
 * Text of an element that is also text of the page, an anchor or a heading: what it has of a block is taken from the
 * page's text when the block ends, and not gathered a second time.
 */
export class Excerpt {
  readonly #page: TextSink;
  readonly #most: number;
  #taken = '';
  #endsInSpace = false;
  #mark = 0;

  /** @param most characters after which no more is taken */
  constructor(page: TextSink, most: number) {
    this.#page = page;
    this.#most = most;
  }

  /** White space folded. */
  get text(): string {
    return this.#taken.trimEnd();
  }

  /** Begins anew, at the present end of the page's text. */
  begin(): void {
    this.#taken = '';
    this.#endsInSpace = false;
    this.#mark = this.#page.mark();
  }

  /** Goes on after the end of a block. */
  goOn(): void {
    this.#mark = this.#page.mark();
  }

  /** Takes what the page's text has got since then. */
  take(): void {
    if (!this.#isFull()) this.#put(this.#page.since(this.#mark));
    this.#mark = this.#page.mark();
  }

  /** What is there, and then text that is not the page's. */
  insert(text: string): void {
    this.take();
    if (!this.#isFull()) this.#put(text);
  }

  #isFull(): boolean {
    return this.#taken.length >= this.#most;
  }

  /** Looks at the new text alone: a hostile page makes a million pieces of what is taken. */
  #put(text: string): void {
    let piece = foldInside(text);
    if (this.#taken === '') piece = piece.trimStart();
    else if (this.#endsInSpace && piece.startsWith(' ')) piece = piece.slice(1);
    if (piece === '') return;
    this.#taken += piece;
    this.#endsInSpace = piece.endsWith(' ');
  }
}
