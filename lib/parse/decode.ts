// biome-ignore-all lint/suspicious/noControlCharactersInRegex: patterns over bytes
import {isAscii, isUtf8} from 'node:buffer';
import iconv from 'iconv-lite';
import type {Encoding} from './encoding-labels.ts';

/**
 * Bytes to text as browsers do it. Node's TextDecoder decides, except where it differs from the Encoding
 * Standard (Node 20.20, ICU): `windows-1252` is read as latin1, `ibm866` and `shift_jis` swap three controls,
 * `windows-874` and `windows-1255` have other values at the end, `iso-8859-16` and `x-user-defined` are missing.
 *
 * Single-byte encodings go through a table of their 128 upper characters, made once each.
 */
export interface Decoder {
  readonly encoding: Encoding;
  /** Text of all bytes; a byte order mark is not taken away. */
  decode(bytes: Uint8Array): string;
  /** The same text in UTF-8, well-formed: the bytes themselves, if they are that. */
  toUtf8(bytes: Uint8Array): Uint8Array;
}

/** Text from one position to another. */
export type Slicer = (start: number, end: number) => string;

const multiByte: ReadonlySet<Encoding> = new Set([
  'utf-8',
  'gbk',
  'gb18030',
  'big5',
  'euc-jp',
  'iso-2022-jp',
  'shift_jis',
  'euc-kr',
  'utf-16be',
  'utf-16le',
  'replacement',
]);
const notAscii: ReadonlySet<Encoding> = new Set(['iso-2022-jp', 'utf-16be', 'utf-16le', 'replacement']);

const decoders = new Map<Encoding, Decoder>();

export function decoderOf(encoding: Encoding): Decoder {
  let decoder = decoders.get(encoding);
  if (decoder === undefined) {
    if (encoding === 'replacement') decoder = replacement;
    else if (multiByte.has(encoding)) decoder = multiByteDecoder(encoding);
    else decoder = singleByteDecoder(encoding);
    decoders.set(encoding, decoder);
  }
  return decoder;
}

/** True where the text of a latin1 view is not the view itself. */
const upperHalf = /[\x80-\xff]/;

/** Gives the text of the bytes [start, end) of well-formed UTF-8, which begin and end with a character. */
export function utf8Slicer(bytes: Uint8Array, view: string): Slicer {
  if (view.length !== bytes.length) throw new RangeError('the view is of other bytes');
  if (isAscii(bytes)) return (start, end) => view.slice(start, end);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (start, end) => {
    const piece = view.slice(start, end);
    return upperHalf.test(piece) ? buffer.toString('utf8', start, end) : piece;
  };
}

/** The standard's answer to encodings that are used to smuggle markup: one replacement character. */
const replacement: Decoder = {
  encoding: 'replacement',
  decode: (bytes) => (bytes.length === 0 ? '' : '\ufffd'),
  toUtf8: (bytes) => Buffer.from(bytes.length === 0 ? '' : '\ufffd'),
};

function multiByteDecoder(encoding: Encoding): Decoder {
  const decoder = new TextDecoder(encoding, {ignoreBOM: true});
  const decode =
    encoding === 'shift_jis'
      ? (bytes: Uint8Array) => decoder.decode(bytes).replace(/[\x1a\x1c\x7f]/g, swapped)
      : (bytes: Uint8Array) => decoder.decode(bytes);
  // In all but these a byte below 0x80 that is no part of a longer character is that ASCII character.
  const isPlain = encoding === 'utf-8' ? isUtf8 : notAscii.has(encoding) ? () => false : isAscii;
  return {
    encoding,
    decode,
    toUtf8: (bytes) => (isPlain(bytes) ? bytes : Buffer.from(decode(bytes))),
  };
}

/** The control that stands in a Shift_JIS text where ICU, as on old mainframes, gives another. */
function swapped(control: string): string {
  if (control === '\x1a') return '\x7f';
  return control === '\x1c' ? '\x1a' : '\x1c';
}

function singleByteDecoder(encoding: Encoding): Decoder {
  const upper = upperCharacters(encoding);
  const sequences = Array.from(upper, (character) => Buffer.from(character));
  return {
    encoding,
    decode: (bytes) => {
      const view = latin1View(bytes);
      return upperHalf.test(view)
        ? view.replace(/[\x80-\xff]/g, (character) => upper[character.charCodeAt(0) - 0x80]!)
        : view;
    },
    toUtf8: (bytes) => {
      if (isAscii(bytes)) return bytes;
      // The characters of these encodings take three bytes at most.
      const utf8 = Buffer.allocUnsafeSlow(bytes.length * 3);
      let length = 0;
      for (const byte of bytes) {
        if (byte < 0x80) utf8[length++] = byte;
        else for (const part of sequences[byte - 0x80]!) utf8[length++] = part;
      }
      return utf8.subarray(0, length);
    },
  };
}

/** Characters of the bytes 0x80 to 0xff. */
function upperCharacters(encoding: Encoding): string {
  const bytes = Uint8Array.from({length: 128}, (_, index) => 0x80 + index);
  switch (encoding) {
    case 'windows-1252':
      return windows1252 + latin1View(bytes.subarray(32));
    case 'x-user-defined':
      return Array.from(bytes, (byte) => String.fromCharCode(0xf700 + byte)).join('');
    case 'iso-8859-16':
      return iconv.decode(Buffer.from(bytes), encoding);
    case 'windows-874':
      // ICU gives private characters where the standard has none.
      return new TextDecoder(encoding).decode(bytes).replace(/[\uf8c1-\uf8c8]/g, '\ufffd');
    case 'windows-1255':
      return replaceAt(new TextDecoder(encoding).decode(bytes), 0xca - 0x80, '\u05ba');
    default:
      return new TextDecoder(encoding).decode(bytes);
  }
}

/** 0x80 to 0x9f of windows-1252; the five bytes without a character stay controls, as in the standard. */
const windows1252 =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function replaceAt(text: string, index: number, character: string): string {
  return text.slice(0, index) + character + text.slice(index + 1);
}

/** One character a byte: the cheap view in which markup, which is all ASCII, is found. */
export function latin1View(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
