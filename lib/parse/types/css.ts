import {cssUrls} from '../css.ts';
import {decoderOf} from '../decode.ts';
import type {Document, DocumentInput, DocumentType} from '../document.ts';
import {leadsNowhere, type RawLink} from '../links.ts';

/** Style sheets: what they load. */
export const css: DocumentType = {
  types: ['text/css'],
  parse(input: DocumentInput): Document {
    // URLs in style sheets are ASCII or percent-encoded nearly always; UTF-8 is the default of CSS.
    const encoding = input.transport ?? 'utf-8';
    const content = decoderOf(encoding).decode(input.bytes);
    const links: RawLink[] = [];
    let linksCut = 0;
    for (const href of cssUrls(content)) {
      if (leadsNowhere(href)) continue;
      if (links.length >= input.limits.maxLinks) linksCut++;
      else links.push({href, kind: 'css', rel: null, anchor: null});
    }
    return {
      charset: {encoding, source: input.transport === undefined ? 'default' : 'transport', bom: 0},
      links,
      linksCut,
    };
  },
};
