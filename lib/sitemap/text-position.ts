import type {Position} from './xml.ts';

/** Lines and columns of places in a text. To be asked in ascending order;
 * all answers together are then linear in the text. */
export class TextPosition {
  readonly #text: string;
  #line = 1;
  #lineStart = 0;
  /** The next line end, or the end of the text. */
  #lineEnd: number;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = this.#endAfter(0);
  }

  at(offset: number): Position {
    while (offset > this.#lineEnd) {
      this.#line++;
      this.#lineStart = this.#lineEnd + 1;
      this.#lineEnd = this.#endAfter(this.#lineStart);
    }
    return {line: this.#line, column: Math.max(0, offset - this.#lineStart) + 1};
  }

  #endAfter(from: number): number {
    const end = this.#text.indexOf('\n', from);
    return end < 0 ? this.#text.length : end;
  }
}
