import {analyse} from 'chardet';
import {type Encoding, encodingOf} from './encoding-labels.ts';

/** Bytes that the detector looks at. Chosen: its n-gram counts settle long before, and its time is linear. */
const sample = 64 * 1024;

/** Names of the detector that are no WHATWG labels. */
const names: Readonly<Record<string, Encoding>> = {
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-9': 'windows-1254',
  'EUC-KR': 'euc-kr',
  Big5: 'big5',
  GB18030: 'gb18030',
};

/**
 * Most likely encoding of bytes that are neither declared nor UTF-8, or undefined. Statistics alone: right for
 * most East Asian and Cyrillic texts of some length, a guess for short ones.
 */
export function guessEncoding(bytes: Uint8Array): Encoding | undefined {
  for (const match of analyse(informative(bytes))) {
    if (match.confidence < 10) return undefined;
    const encoding = names[match.name] ?? encodingOf(match.name);
    // Valid UTF-8 and UTF-16 with a mark were found before; UTF-16 without one is a misreading of text with NULs.
    if (encoding === undefined || encoding === 'utf-8' || encoding === 'replacement') continue;
    if (encoding === 'utf-16le' || encoding === 'utf-16be') continue;
    return encoding;
  }
  return undefined;
}

/** The bytes around non-ASCII ones: markup says nothing about the encoding, and pages begin with much of it. */
function informative(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= sample) return bytes;
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const from = Math.max(0, first - 1024);
  return bytes.subarray(from, from + sample);
}
