import type {TextBlock} from './html-text.ts';

/**
 * The text of a page without navigation and other boilerplate, or null where nothing is left.
 *
 * Blocks in nav, aside, footer and form are left out; of the others those stay that the decision tree of the paper
 * keeps: by the share of text in links and the number of words of a block and of its neighbours. Headings before
 * what stays, stay.
 *
 * @see Kohlschütter, Fankhauser, Nejdl, Boilerplate detection using shallow text features, WSDM 2010, figure 2
 */
export function mainText(blocks: readonly TextBlock[]): string | null {
  const measured = blocks.map((block) => ({
    block,
    words: countWords(block.text),
    links: block.linked / block.text.length,
  }));
  const kept: string[] = [];
  let heading: string | undefined;
  for (const [index, {block, words, links}] of measured.entries()) {
    if (block.boilerplate) continue;
    if (block.heading !== 0 && links <= maxLinks) {
      heading = block.text;
      continue;
    }
    if (!isContent(words, links, measured[index - 1] ?? none, measured[index + 1] ?? none)) continue;
    if (heading !== undefined) kept.push(heading);
    heading = undefined;
    kept.push(block.text);
  }
  return kept.length === 0 ? null : kept.join('\n');
}

/** The numbers are those of the paper. */
const maxLinks = 0.333333;
const none = {words: 0, links: 0};

interface Measures {
  readonly words: number;
  readonly links: number;
}

function isContent(words: number, links: number, previous: Measures, next: Measures): boolean {
  if (links > maxLinks) return false;
  if (previous.links > 0.555556) return words > 40 || next.words > 17;
  return words > 16 || next.words > 15 || previous.words > 4;
}

/** Longer blocks have more words than the tree asks for, in any language, and are not counted. */
const longBlock = 300;

/** Words; in scripts without spaces two characters count as one. */
function countWords(text: string): number {
  if (text.length > longBlock) return longBlock / 6;
  let words = 1;
  let wide = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 32) words++;
    else if (code >= 0x0e00 && (code < 0x0f00 || (code >= 0x3040 && code < 0xa000))) wide++;
  }
  return words + (wide >> 1);
}
