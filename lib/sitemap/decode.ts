/**
 * Bytes of a sitemap or feed as text. Encoding: byte order mark, else what the bytes show to be UTF-16, else
 * the XML declaration, else the charset of the answer, else UTF-8. Wrong bytes become U+FFFD.
 */
export interface DecodedText {
  readonly text: string;
  readonly encoding: string;
  /** An encoding was named that nobody knows; UTF-8 was used. */
  readonly unknownEncoding: string | null;
}

export function decodeText(bytes: Uint8Array, charset: string | null): DecodedText {
  const label = encodingOf(bytes, charset);
  const decoder = decoderFor(label);
  if (decoder === undefined) {
    return {text: new TextDecoder().decode(bytes), encoding: 'utf-8', unknownEncoding: label};
  }
  const {encoding} = decoder;
  const text = encoding === 'windows-1252' ? windows1252(bytes) : decoder.decode(bytes);
  return {text, encoding, unknownEncoding: null};
}

/** It drops the byte order mark. */
function decoderFor(label: string) {
  try {
    return new TextDecoder(label);
  } catch {
    return undefined; // a label that nobody knows
  }
}

function encodingOf(bytes: Uint8Array, charset: string | null): string {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a !== 0 && b === 0 && c !== 0 && d === 0) return 'utf-16le';
  if (a === 0 && b !== undefined && b !== 0 && c === 0 && d !== 0) return 'utf-16be';
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString('latin1');
  const declared = /^\s{0,100}<\?xml[^>]{0,500}?\sencoding\s{0,20}=\s{0,20}["']([\w.:-]{1,40})["']/i.exec(
    head,
  );
  const name = declared?.[1]?.toLowerCase() ?? charset?.trim().toLowerCase() ?? 'utf-8';
  // The bytes are not UTF-16, whatever is said.
  return name.startsWith('utf-16') || name === 'unicode' ? 'utf-8' : name;
}

/** Code points of bytes 0x80 to 0x9F; Node 20's own decoder gives the controls instead. @see WHATWG Encoding, index windows-1252 */
const high =
  '\u20AC\x81\u201A\u0192\u201E\u2026\u2020\u2021\u02C6\u2030\u0160\u2039\u0152\x8D\u017D\x8F' +
  '\x90\u2018\u2019\u201C\u201D\u2022\u2013\u2014\u02DC\u2122\u0161\u203A\u0153\x9D\u017E\u0178';

function windows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  return text.replace(/[\x80-\x9F]/g, (c) => high[c.charCodeAt(0) - 0x80]!);
}
