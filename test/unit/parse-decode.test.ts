import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decoderOf} from '../../lib/parse/decode.ts';
import type {Encoding} from '../../lib/parse/encoding-labels.ts';

/** Those in which a byte below 0x80 that is no part of a longer character is that ASCII character. */
const ascii: readonly Encoding[] = [
  ...(['utf-8', 'gbk', 'gb18030', 'big5', 'euc-jp', 'shift_jis', 'euc-kr'] as const),
  ...(['windows-1252', 'windows-874', 'windows-1255', 'ibm866', 'koi8-u', 'x-user-defined'] as const),
];

test('each byte of ASCII is itself, alone and beside others', () => {
  for (const encoding of ascii) {
    const {decode, toUtf8} = decoderOf(encoding);
    for (let byte = 0; byte < 0x80; byte++)
      for (const bytes of [[byte], [byte, 0x41], [0x41, byte, 0xff]]) {
        const given = Uint8Array.from(bytes);
        const text = decode(given);
        const place = bytes.indexOf(byte);
        assert.equal(text.charCodeAt(place), byte, `${encoding} 0x${byte.toString(16)}`);
        assert.equal(Buffer.from(toUtf8(given)).toString(), text, `${encoding} 0x${byte.toString(16)}`);
      }
  }
});

test('pairs of bytes in Shift_JIS give a control only where one stands', () => {
  const {decode, toUtf8} = decoderOf('shift_jis');
  for (let pair = 0x8000; pair <= 0xffff; pair++) {
    const bytes = Uint8Array.of(pair >> 8, pair & 0xff);
    const text = decode(bytes);
    for (const control of [0x1a, 0x1c, 0x7f])
      assert.equal(text.includes(String.fromCharCode(control)), bytes[1] === control, pair.toString(16));
    assert.equal(Buffer.from(toUtf8(bytes)).toString(), text);
  }
});
