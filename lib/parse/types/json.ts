import {findCharset} from '../charset.ts';
import {decoderOf} from '../decode.ts';
import type {Document, DocumentInput, DocumentType} from '../document.ts';
import type {RawLink} from '../links.ts';

/** JSON: strings that are absolute http URLs, recorded and by default not followed. It has no text to read. */
export const json: DocumentType = {
  types: ['application/json', 'text/json', 'application/ld+json', '+json'],
  parse(input: DocumentInput): Document {
    const charset = findCharset(input.bytes, {
      transport: input.transport,
      syntax: 'json',
      fallback: 'utf-8',
    });
    const content = decoderOf(charset.encoding).decode(input.bytes.subarray(charset.bom));
    const links: RawLink[] = [];
    let linksCut = 0;
    // Strings are found without parsing, so that broken and cut JSON, and lines of JSON, are read as well.
    for (const [literal] of content.matchAll(/"https?:[^"\s]{1,4096}"/gi)) {
      const href = unquote(literal);
      if (href === undefined) continue;
      if (links.length >= input.limits.maxLinks) linksCut++;
      else links.push({href, kind: 'json', rel: null, anchor: null});
    }
    return {charset, links, linksCut, ...(isJson(content) ? {} : {errors: ['json: not well-formed']})};
  },
};

function unquote(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

function isJson(content: string): boolean {
  try {
    JSON.parse(content);
    return true;
  } catch {
    return false;
  }
}
