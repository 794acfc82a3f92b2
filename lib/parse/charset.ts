// biome-ignore-all lint/suspicious/noControlCharactersInRegex: patterns over bytes
import {isAscii, isUtf8} from 'node:buffer';
import {latin1View} from './decode.ts';
import {guessEncoding} from './detect-encoding.ts';
import {type Encoding, encodingOf} from './encoding-labels.ts';
import {lateMeta, prescanHtml, prescanXml} from './prescan.ts';

export type CharsetSource = 'bom' | 'transport' | 'meta' | 'utf8' | 'detected' | 'default';

export interface Charset {
  readonly encoding: Encoding;
  readonly source: CharsetSource;
  /** Bytes of the byte order mark, to be left out of the text. */
  readonly bom: 0 | 2 | 3;
}

/**
 * Encoding of a body, in the order of browsers: byte order mark, Content-Type, declaration in the first
 * bytes, then (where browsers guess) strict UTF-8, a detector, and the default.
 *
 * @param transport encoding of the Content-Type header
 * @param syntax where a declaration is looked for: `meta` in HTML, `<?xml encoding` in XML and XHTML, nothing in text
 * @see https://html.spec.whatwg.org/multipage/parsing.html#determining-the-character-encoding
 */
export function findCharset(
  bytes: Uint8Array,
  options: {transport?: Encoding | undefined; syntax: 'html' | 'xml' | 'text' | 'json'; fallback: Encoding},
): Charset {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    return {encoding: 'utf-8', source: 'bom', bom: 3};
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return {encoding: 'utf-16be', source: 'bom', bom: 2};
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return {encoding: 'utf-16le', source: 'bom', bom: 2};
  if (options.transport !== undefined) return {encoding: options.transport, source: 'transport', bom: 0};

  const declared = declaredEncoding(bytes, options.syntax);
  if (declared !== undefined) return {encoding: declared, source: 'meta', bom: 0};
  if (isAscii(bytes)) {
    // Escapes of ISO-2022-JP are ASCII bytes; otherwise every guess reads ASCII alike.
    if (bytes.includes(0x1b) && /\x1b(?:\$[@B]|\([BJI])/.test(latin1View(bytes)))
      return {encoding: 'iso-2022-jp', source: 'detected', bom: 0};
    return {
      encoding: options.syntax === 'html' || options.syntax === 'text' ? options.fallback : 'utf-8',
      source: 'default',
      bom: 0,
    };
  }
  if (isUtf8(withoutCutEnd(bytes))) return {encoding: 'utf-8', source: 'utf8', bom: 0};
  if (options.syntax === 'json') return {encoding: 'utf-8', source: 'default', bom: 0};
  const guess = guessEncoding(bytes);
  if (guess !== undefined) return {encoding: guess, source: 'detected', bom: 0};
  return {encoding: options.fallback, source: 'default', bom: 0};
}

function declaredEncoding(bytes: Uint8Array, syntax: 'html' | 'xml' | 'text' | 'json'): Encoding | undefined {
  if (syntax === 'html') return prescanHtml(bytes) ?? prescanXml(bytes) ?? lateMeta(bytes);
  if (syntax === 'xml') return prescanXml(bytes) ?? prescanHtml(bytes);
  return undefined;
}

/** A body cut in the middle of a UTF-8 character is still UTF-8: leaves out a begun character at the end. */
function withoutCutEnd(bytes: Uint8Array): Uint8Array {
  const from = Math.max(0, bytes.length - 3);
  for (let index = bytes.length - 1; index >= from; index--) {
    const byte = bytes[index]!;
    if (byte < 0x80) return bytes;
    if (byte < 0xc0) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return bytes.length - index < needs ? bytes.subarray(0, index) : bytes;
  }
  return bytes;
}

/** For a `charset` of a Content-Type header; browsers take no notice of labels they do not know. */
export function transportEncoding(label: string | undefined): Encoding | undefined {
  return label === undefined ? undefined : encodingOf(label);
}
