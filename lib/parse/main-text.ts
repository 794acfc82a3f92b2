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
    text: block.text,
    links: block.linked / block.text.length,
  }));
  const kept: string[] = [];
  let heading: string | undefined;
  for (const [index, {block, text, links}] of measured.entries()) {
    if (block.boilerplate) continue;
    if (block.heading !== 0 && links <= maxLinks) {
      heading = block.text;
      continue;
    }
    if (!isContent(text, links, measured[index - 1] ?? none, measured[index + 1] ?? none)) continue;
    if (heading !== undefined) kept.push(heading);
    heading = undefined;
    kept.push(block.text);
  }
  return kept.length === 0 ? null : kept.join('\n');
}

/** The numbers are those of the paper. */
const maxLinks = 0.333333;
const none = {text: '', links: 0};

interface Measures {
  readonly text: string;
  readonly links: number;
}

function isContent(text: string, links: number, previous: Measures, next: Measures): boolean {
  if (links > maxLinks) return false;
  if (previous.links > 0.555556) return hasMoreWords(text, 40) || hasMoreWords(next.text, 17);
  return hasMoreWords(text, 16) || hasMoreWords(next.text, 15) || hasMoreWords(previous.text, 4);
}

/** Longer blocks have more words than the tree asks for, in any language, and are not counted. */
const longBlock = 300;

/** Whether a text has more than so many words; in scripts without spaces two characters count as one. */
function hasMoreWords(text: string, few: number): boolean {
  if (text.length > longBlock) return true;
  if (text === '') return false;
  let words = 1;
  let wide = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 32) words++;
    else if (code >= 0x0e00 && (code < 0x0f00 || (code >= 0x3040 && code < 0xa000))) wide++;
    else continue;
    if (words + (wide >> 1) > few) return true;
  }
  return false;
}
