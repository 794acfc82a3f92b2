import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {parsePage} from '../../lib/parse/page.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';
import {makePdf} from '../support/pdf.ts';

const seed = makePdf({
  info: {Title: '(A title)', CreationDate: '(D:20240229)'},
  pages: [1, 2, 3].map((page) => ({
    lines: [`Page ${page}`, 'with a line of text'],
    links: [{line: 0, uri: `https://example.org/${page}`}],
  })),
});

/** The file cut, with bytes changed and words of PDF put over others. */
const mutated = fc
  .record({
    length: fc.double({min: 0.1, max: 1, noNaN: true}),
    bytes: fc.array(fc.record({at: fc.double({min: 0, max: 0.999, noNaN: true}), byte: fc.nat(255)}), {
      maxLength: 30,
    }),
    word: fc.constantFrom(
      '',
      '2 0 R',
      '/Kids [2 0 R 2 0 R]',
      '/Count 99999999',
      '/Length 99999999',
      '<<<<',
      'endobj',
    ),
    at: fc.double({min: 0, max: 0.9, noNaN: true}),
  })
  .map(({length, bytes, word, at}) => {
    const piece = Buffer.from(seed.subarray(0, Math.ceil(seed.length * length)));
    for (const change of bytes) piece[Math.floor(change.at * piece.length)] = change.byte;
    piece.write(word, Math.floor(at * piece.length), 'latin1');
    piece.write('%PDF-', 0, 'latin1');
    return piece;
  });

test('whatever is done to a PDF, it is a row with a known end, and the next one is read', () => {
  const ends = new Set<string>();
  fc.assert(
    fc.property(mutated, (body) => {
      const {columns} = parsePage(pageInput(body), {
        ...pageOptions,
        pdf: {timeMs: 120_000, memory: 64 << 20},
      });
      assert.equal(columns.content_mime_detected, 'application/pdf');
      assert.ok(columns.reason === null || columns.reason === 'parse_failed', String(columns.errors));
      ends.add(columns.status);
    }),
    {numRuns: 300},
  );
  assert.ok(ends.has('success') && ends.has('failed'), [...ends].join());
  assert.equal(parsePage(pageInput(seed), pageOptions).columns.title, 'A title');
});
