import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {test} from 'node:test';
import fc from 'fast-check';
import {parsePage} from '../../lib/parse/page.ts';
import {parseHtml} from '../../lib/parse/types/html.ts';
import {corpus} from '../support/corpora.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

const own = [
  '<html><head><title>ü &amp; x</title><base href=/b><meta charset=utf-8></head><body><a href="a?b=c&d=e" rel=nofollow>x <b>y</b></a><img srcset="a 1x, b 2x"><style>p{background:url(x)}</style><script type="application/ld+json">{"a": 1}</script>',
  '<?xml version="1.0"?><rss version="2.0"><channel><item><link>http://a.test/</link><title>t</title></item></channel></rss>',
  '{"version": "https://jsonfeed.org/version/1", "items": [{"url": "http://a.test/"}]}',
];
const folder = corpus('pages/jsoup');
const seeds = [
  ...own.map((text) => Buffer.from(text)),
  ...(folder === undefined ? [] : readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`))),
].map((bytes) => new Uint8Array(bytes.subarray(0, 20_000)));

/** A document cut, with bytes changed and pieces of markup put in. */
const mutated = fc
  .record({
    seed: fc.constantFrom(...seeds),
    from: fc.double({min: 0, max: 1, noNaN: true}),
    to: fc.double({min: 0, max: 1, noNaN: true}),
    bytes: fc.array(fc.record({at: fc.double({min: 0, max: 0.999, noNaN: true}), byte: fc.nat(255)}), {
      maxLength: 20,
    }),
    insert: fc.constantFrom(
      '',
      '<',
      '<!--',
      '"',
      '&#x',
      '<template>',
      '<title>',
      '<a href=',
      '\0',
      '\xff\xfe',
      ']]>',
      '<svg>',
    ),
  })
  .map(({seed, from, to, bytes, insert}) => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)].map((share) =>
      Math.floor(share * seed.length),
    );
    const piece = Buffer.concat([seed.subarray(0, low), Buffer.from(insert, 'latin1'), seed.subarray(high)]);
    for (const {at, byte} of bytes) piece[Math.floor(at * piece.length)] = byte;
    return new Uint8Array(piece);
  });

const header = fc.constantFrom(
  [],
  ['Content-Type: text/html'],
  ['Content-Type: text/xml'],
  ['Content-Encoding: gzip'],
  ['Content-Type: application/json'],
  ['Content-Type: text/html; charset=shift_jis'],
);

test('any bytes are a row', () => {
  fc.assert(
    fc.property(fc.oneof(mutated, fc.uint8Array({maxLength: 300})), header, (bytes, headers) => {
      const {columns} = parsePage(pageInput(bytes, headers), pageOptions);
      assert.notEqual(columns.status, 'failed');
    }),
    {numRuns: 1500},
  );
});

test('the fast way and the plain way read any bytes alike', () => {
  const encoding = fc.constantFrom('utf-8', 'windows-1252', 'koi8-r', 'shift_jis', 'utf-16le', undefined);
  const limit = fc.constantFrom(100, 1 << 20);
  fc.assert(
    fc.property(
      fc.oneof(mutated, fc.uint8Array({maxLength: 300})),
      encoding,
      limit,
      (bytes, transport, maxText) => {
        const input = {
          url: 'https://example.org/',
          bytes,
          type: 'text/html',
          transport,
          fallback: pageOptions.fallback,
          limits: {maxBody: 1 << 20, maxText, maxAnchor: 200, maxLinks: 100},
        } as const;
        assert.deepEqual(parseHtml(input), parseHtml(input, true));
      },
    ),
    {numRuns: 1500},
  );
});
