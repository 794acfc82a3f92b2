/** A stretch of text between two breaks of line. */
export interface TextBlock {
  /** White space folded, not empty. */
  readonly text: string;
  /** Characters of it that stand in links. */
  readonly linked: number;
  /** In navigation, an aside, a footer, a form. */
  readonly boilerplate: boolean;
  /** 1 to 6 for headings, else 0. */
  readonly heading: number;
}

/** White space (ASCII's, and no-break spaces) folded to single spaces, none at the ends. */
export function foldSpace(text: string): string {
  const trimmed = text.trim();
  return needsFolding(trimmed) ? trimmed.replace(/[\t\n\v\f\r \u00a0]+/g, ' ') : trimmed;
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
export function isBlank(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 32 && (code > 13 || code < 9)) return false;
  }
  return true;
}

/** Gathers the text that a reader sees, block by block, up to `maxLength` characters in all. */
export class TextBlocks {
  readonly blocks: TextBlock[] = [];
  /** Characters gathered. */
  length = 0;
  /** Text was left out because of maxLength. */
  cut = false;
  readonly #maxLength: number;
  #current = '';
  #linked = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  add(piece: string, linked: boolean): void {
    if (this.length + this.#current.length >= this.#maxLength) {
      this.cut = true;
      return;
    }
    this.#current += piece;
    if (linked) this.#linked += piece.length;
  }

  /** Ends the block that is open. */
  end(boilerplate: boolean, heading: number): void {
    if (this.#current === '') return;
    let text = foldSpace(this.#current);
    if (this.length + text.length > this.#maxLength) {
      text = text.slice(0, this.#maxLength - this.length);
      this.cut = true;
    }
    if (text !== '') {
      this.blocks.push({text, linked: this.#linked, boilerplate, heading});
      this.length += text.length + 1;
    }
    this.#current = '';
    this.#linked = 0;
  }
}
