import assert from 'node:assert/strict';
import {test} from 'node:test';
import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {decodeBody} from '../../lib/parse/body.ts';
import {checkParse} from '../../lib/parse/check.ts';
import {headerFields, headerLinks} from '../../lib/parse/headers.ts';
import {parsePage} from '../../lib/parse/page.ts';
import {detectType} from '../../lib/parse/sniff.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';
import {defaultConfig} from '../support/url-config.ts';

test('a document is checked as parse would read it', () => {
  const check = checkParse(
    {
      body: Buffer.from(
        `<html lang=en><base href=/b/><title>T</title><meta name=robots content=noindex>
         <meta property="article:published_time" content="2024-05-06T07:08:09Z">
         <script type="application/ld+json">{"dateModified": "2025-01-02"}</script>
         <a href=x>one</a><a href="https://other.test/?utm_source=y" rel=nofollow>two</a>`,
      ),
      url: 'https://example.org/a',
      contentType: 'text/html; charset=utf-8',
    },
    defaultConfig,
  );
  assert.equal(check.status, 'success');
  assert.equal(check.title, 'T');
  assert.equal(check.base, 'https://example.org/b/');
  assert.equal(check.robots.noindex, true);
  assert.equal(check.published, '2024-05-06T07:08:09.000Z');
  assert.equal(check.modified, '2025-01-02T00:00:00.000Z');
  assert.match(check.simhash!, /^[0-9a-f]{16}$/);
  assert.deepEqual(
    check.outlinks.map(({url, anchor, accepted, reason}) => [url, anchor, accepted, reason]),
    [
      ['https://example.org/b/x', 'one', true, null],
      ['https://other.test/', 'two', false, 'nofollow'],
    ],
  );
});

const text = Buffer.from('what is in the body, said again and again. '.repeat(50));
const limits = {maxBytes: 1 << 20, maxRatio: 200};

test('content codings are undone, also when named wrongly or twice', () => {
  const cases: readonly (readonly [coding: string | null, bytes: Uint8Array])[] = [
    [null, text],
    ['identity', text],
    ['gzip', gzipSync(text)],
    ['X-GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['br, gzip', gzipSync(brotliCompressSync(text))],
    ['gzip', Buffer.concat([gzipSync(text.subarray(0, 100)), gzipSync(text.subarray(100))])],
    ['gzip', Buffer.concat([gzipSync(text), Buffer.from('\0\0trailing')])],
    ['utf-8', text],
  ];
  for (const [coding, bytes] of cases) {
    const body = decodeBody(bytes, coding, limits);
    assert.ok(text.equals(body.bytes), `${coding}`);
    assert.equal(body.truncated, false, `${coding}`);
  }
  const plain = decodeBody(text, 'gzip', limits);
  assert.ok(text.equals(plain.bytes));
  assert.equal(plain.errors.length, 1);
});

test('cut, broken and exploding bodies give what can be read, within the limits', () => {
  const packed = gzipSync(
    Buffer.concat(Array.from({length: 200}, (_, n) => Buffer.from(`${n * 7919} `.repeat(20)))),
  );
  const cut = decodeBody(packed.subarray(0, packed.length >> 1), 'gzip', limits);
  assert.ok(cut.truncated && cut.bytes.length > 100);
  const broken = Buffer.from(packed);
  broken[broken.length >> 1]! ^= 0xff;
  const read = decodeBody(broken, 'gzip', limits);
  assert.ok(read.truncated && read.bytes.length > 100);
  const bomb = decodeBody(gzipSync(Buffer.alloc(50 << 20)), 'gzip', limits);
  assert.ok(
    bomb.truncated && bomb.bytes.length <= limits.maxBytes && bomb.bytes.length > limits.maxBytes / 2,
  );
  const ratio = decodeBody(gzipSync(Buffer.alloc(1 << 20)), 'gzip', {maxBytes: 10 << 20, maxRatio: 100});
  assert.ok(ratio.truncated && ratio.bytes.length < 200_000);
  assert.equal(decodeBody(text, 'gzip, gzip, gzip, gzip, gzip', limits).errors.length, 1);
  for (let length = 0; length < 40; length++) decodeBody(gzipSync(text).subarray(0, length), 'gzip', limits);
});

test('types by header and bytes', () => {
  const cases: readonly (readonly [header: string | undefined, body: string, type: string])[] = [
    ['text/html', '<html><p>x', 'text/html'],
    [undefined, ' <!DOCTYPE html>', 'text/html'],
    ['text/plain', '<!DOCTYPE html><p>source', 'text/plain'],
    ['text/html', '%PDF-1.4', 'application/pdf'],
    ['application/octet-stream', '%PDF-1.4', 'application/pdf'],
    ['text/xml', '<?xml version="1.0"?><!-- c --><rss version="2.0">', 'application/rss+xml'],
    ['text/html', '<?xml version="1.0"?>\n<urlset xmlns="x">', 'application/x-sitemap+xml'],
    ['text/plain', '<?xml version="1.0"?><feed xmlns="x">', 'application/atom+xml'],
    [
      'application/xml',
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">',
      'application/xhtml+xml',
    ],
    ['application/json', '{"version": "https://jsonfeed.org/version/1.1"}', 'application/feed+json'],
    ['application/json', '{"a": 1}', 'application/json'],
    [undefined, '{"a": 1}', 'application/json'],
    ['image/svg+xml', '<svg xmlns="x">', 'image/svg+xml'],
    [undefined, '<svg xmlns="x">', 'image/svg+xml'],
    ['application/xml', '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "a" "b"><svg xmlns="x">', 'image/svg+xml'],
    // A page may begin with any element
    ['text/html', '<svg hidden><symbol/></svg><a href=x>', 'text/html'],
    ['text/html', '<!-- c --><!DOCTYPE html>\n<svg hidden></svg><a href=x>', 'text/html'],
    [undefined, '<!doctype HTML><svg hidden></svg><a href=x>', 'text/html'],
    ['text/html', '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "x"><feed>', 'text/html'],
  ];
  for (const [header, body, type] of cases)
    assert.equal(
      detectType(header === undefined ? undefined : {essence: header}, Buffer.from(body)),
      type,
      `${header}: ${body}`,
    );
});

test('header lines, folded and repeated, and their links', () => {
  const fields = headerFields(
    Buffer.from(
      'HTTP/1.1 200 OK\r\nLink: </a>; rel="next",\r\n </b>; rel=canonical; type="x"\r\nX: 1\nX: 2\r\n\r\n',
    ),
  );
  assert.deepEqual(fields.get('x'), ['1', '2']);
  assert.deepEqual(
    headerLinks(fields.get('link')!).map(({href, rel, type}) => [href, rel, type]),
    [
      ['/a', 'next', undefined],
      ['/b', 'canonical', 'x'],
    ],
  );
});

test('what a header says counts as the page says it', () => {
  const {columns, links} = parsePage(
    pageInput('<p>x', [
      'Content-Type: text/html',
      'X-Robots-Tag: noindex',
      'Link: </c>; rel=canonical',
      'Refresh: 5; url=/r',
    ]),
    pageOptions,
  );
  assert.equal(columns.robots_noindex, true);
  assert.equal(columns.meta_refresh_s, 5);
  assert.equal(links[0]?.kind, 'canonical');
});
