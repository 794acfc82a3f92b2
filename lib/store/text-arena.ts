/** Bytes of a piece of memory. Chosen: some thirty pages of text; memory beyond what is used stays below it. */
const pieceBytes = 2 ** 20;

/**
 * Texts as UTF-8 in a few large pieces of memory, used again after each row group. Three times as fast as bytes of
 * its own for each text; and a text that is part of a page no longer keeps the page in memory.
 */
export class TextArena {
  #pieces: Buffer[] = [];
  #piece = -1;
  #used = 0;

  /** Bytes of the text: valid until {@link clear}. Lone surrogates become U+FFFD, as everywhere. */
  encode(text: string): Uint8Array {
    let piece = this.#pieces[this.#piece];
    // A UTF-16 unit takes at most three bytes; they are counted only where the end is near.
    if (piece === undefined || piece.length - this.#used < text.length * 3) {
      const bytes = Buffer.byteLength(text);
      if (piece === undefined || piece.length - this.#used < bytes) piece = this.#next(bytes);
    }
    const from = this.#used;
    this.#used += piece.write(text, from, 'utf8');
    return piece.subarray(from, this.#used);
  }

  /** Makes the memory free for new texts; pieces that were made for a single long one are given back. */
  clear(): void {
    this.#pieces = this.#pieces.filter((piece) => piece.length === pieceBytes);
    this.#piece = -1;
    this.#used = 0;
  }

  #next(bytes: number): Buffer {
    this.#used = 0;
    this.#piece++;
    const next = this.#pieces[this.#piece];
    if (next !== undefined && next.length >= bytes) return next;
    const piece = Buffer.allocUnsafeSlow(Math.max(pieceBytes, bytes));
    this.#pieces.splice(this.#piece, 0, piece);
    return piece;
  }
}
