import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {readHtml} from '../../lib/parse/html.ts';
import {markupOfBytes, markupOfText} from '../../lib/parse/html-events.ts';

const long = 'a text of more than forty characters, which is copied whole';
const whiteSpace = [' ', '  ', '\n', '\t', '\u00a0', '\u0085', '\u1680', '\u2028', '\u3000', '\ufeff'];
const entities = ['&nbsp;', '&#10;', '&#32;', '&#x85;', '&amp;', '&NotEqualTilde;', '&'];
const words = [
  'x',
  'ü',
  '漢字',
  '😀',
  'word',
  '\0',
  long,
  ` ${long}`,
  `  ${long}`,
  `${long} `,
  `${long}  ${long}`,
];
const tags = [
  ...['<a href=x>', '</a>', '<b>', '</b>', '<br>', '<p>', '<h1>', '</h1>', '<td>', '<nav>', '</nav>', '</'],
  ...['<img alt="">', '<img alt=" q  r ">', '<svg>', '</svg>', '<![CDATA[]]>'],
];
const piece = fc.oneof(...[whiteSpace, entities, words, tags].map((list) => fc.constantFrom(...list)));
const page = fc.array(piece, {minLength: 2, maxLength: 12}).map((pieces) => pieces.join(''));

const limits = {maxText: 1 << 20, maxAnchor: 200, maxLinks: 10};

test('pieces of any length between white space and tags give the same text over bytes and over strings', () => {
  fc.assert(
    fc.property(page, (view) => {
      const fast = readHtml(markupOfBytes(Buffer.from(view), false), limits);
      assert.deepEqual(fast, readHtml({...markupOfText(view, false), plain: true}, limits));
      assert.equal(fast.text.text.includes('  '), false);
    }),
    {numRuns: 8000},
  );
});
