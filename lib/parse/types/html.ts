import {findCharset} from '../charset.ts';
import {decoderOf} from '../decode.ts';
import type {Document, DocumentInput, DocumentType} from '../document.ts';
import {readHtml} from '../html.ts';
import {markupOfBytes, markupOfText} from '../html-events.ts';

/** HTML and XHTML, and XML of no known kind, whose text and XHTML links are read. */
export const html: DocumentType = {
  types: ['text/html', 'application/xhtml+xml', 'application/xml', 'text/xml', '+xml'],
  parse: (input) => parseHtml(input),
};

/** @param plain decode the whole page first and look at every character, as the tests do to check the fast way */
export function parseHtml(input: DocumentInput, plain = false): Document {
  const xml = input.type !== 'text/html';
  const charset = findCharset(input.bytes, {
    transport: input.transport,
    syntax: xml ? 'xml' : 'html',
    fallback: xml ? 'utf-8' : input.fallback,
  });
  const decoder = decoderOf(charset.encoding);
  const body = charset.bom === 0 ? input.bytes : input.bytes.subarray(charset.bom);
  const source = plain
    ? {...markupOfText(decoder.decode(body), xml), plain}
    : markupOfBytes(decoder.toUtf8(body), xml);
  const facts = readHtml(source, input.limits);
  const description = facts.metas.find((meta) => meta.key === 'description')?.content ?? null;
  return {
    ...facts,
    charset,
    description,
    ...(facts.text.cut ? {errors: [`text: cut to ${input.limits.maxText} characters`]} : {}),
  };
}
