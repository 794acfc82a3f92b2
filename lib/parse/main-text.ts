import type {DocumentText, TextBlock} from './html-text.ts';

/**
 * The text of a page without navigation and other boilerplate, or null where nothing is left.
 *
 * Blocks in nav, aside, footer and form are left out; of the others those stay that the decision tree of the paper
 * keeps: by the share of text in links and the number of words of a block and of its neighbours. Headings before
 * what stays, stay.
 *
 * @see Kohlschütter, Fankhauser, Nejdl, Boilerplate detection using shallow text features, WSDM 2010, figure 2
 */
export function mainText({text, blocks}: DocumentText): string | null {
  const measured = blocks.map((block) => ({
    words: countWords(text, block),
    links: block.linked / (block.end - block.start),
  }));
  const kept = new Stretches(text);
  let heading: TextBlock | undefined;
  for (const [index, block] of blocks.entries()) {
    if (block.boilerplate) continue;
    const own = measured[index]!;
    if (block.heading !== 0 && own.links <= maxLinks) {
      heading = block;
      continue;
    }
    if (!isContent(own, measured[index - 1] ?? none, measured[index + 1] ?? none)) continue;
    if (heading !== undefined) kept.add(heading);
    heading = undefined;
    kept.add(block);
  }
  return kept.finish();
}

/** The numbers are those of the paper. */
const maxLinks = 0.333333;
const none = {words: 0, links: 0};

interface Measures {
  readonly words: number;
  readonly links: number;
}

function isContent(own: Measures, previous: Measures, next: Measures): boolean {
  if (own.links > maxLinks) return false;
  if (previous.links > 0.555556) return own.words > 40 || next.words > 17;
  return own.words > 16 || next.words > 15 || previous.words > 4;
}

/** Longer blocks have more words than the tree asks for, in any language, and are not counted. */
const longBlock = 300;

/** Words of a block; in scripts without spaces two characters count as one. */
function countWords(text: string, {start, end}: TextBlock): number {
  if (end - start > longBlock) return longBlock;
  let words = 1;
  let wide = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === 32) words++;
    else if (code >= 0x0e00 && (code < 0x0f00 || (code >= 0x3040 && code < 0xa000))) wide++;
  }
  return words + (wide >> 1);
}

/** Blocks of a text, put together: those that follow each other are one piece of it. */
class Stretches {
  readonly #text: string;
  readonly #pieces: string[] = [];
  #start = 0;
  #end = -1;

  constructor(text: string) {
    this.#text = text;
  }

  add({start, end}: TextBlock): void {
    if (start !== this.#end + 1) {
      if (this.#end > 0) this.#pieces.push(this.#text.slice(this.#start, this.#end));
      this.#start = start;
    }
    this.#end = end;
  }

  finish(): string | null {
    if (this.#end < 0) return null;
    const last = this.#text.slice(this.#start, this.#end);
    return this.#pieces.length === 0 ? last : `${this.#pieces.join('\n')}\n${last}`;
  }
}
