import {findCharset} from '../charset.ts';
import {decoderOf} from '../decode.ts';
import type {Document, DocumentInput, DocumentType} from '../document.ts';
import {TextBlocks} from '../html-text.ts';
import type {RawLink} from '../links.ts';

/** Plain text: its lines, and the absolute URLs in it, which are recorded and by default not followed. */
export const text: DocumentType = {
  types: ['text/plain', 'text/markdown', 'text/csv'],
  parse(input: DocumentInput): Document {
    const charset = findCharset(input.bytes, {
      transport: input.transport,
      syntax: 'text',
      fallback: input.fallback,
    });
    const content = decoderOf(charset.encoding).decode(input.bytes.subarray(charset.bom));
    const blocks = new TextBlocks(input.limits.maxText);
    for (const line of content.split(/\r\n?|\n/)) {
      blocks.addText(line, false);
      blocks.endBlock(false, 0);
    }
    const text = blocks.finish();
    const {links, linksCut} = urlsInText(content, input.limits.maxLinks);
    return {
      charset,
      links,
      linksCut,
      text,
      ...(text.cut ? {errors: [`text: cut to ${input.limits.maxText} characters`]} : {}),
    };
  },
};

/** Absolute http URLs in running text; punctuation at the end belongs to the sentence. */
function urlsInText(content: string, maxLinks: number): {links: RawLink[]; linksCut: number} {
  const links: RawLink[] = [];
  let linksCut = 0;
  for (const [match] of content.matchAll(/\bhttps?:\/\/[^\s<>"'`{}|\\^]{1,4096}/gi)) {
    if (links.length >= maxLinks) linksCut++;
    else links.push({href: match.replace(/[.,;:!?)\]]{1,16}$/, ''), kind: 'text', rel: null, anchor: null});
  }
  return {links, linksCut};
}
