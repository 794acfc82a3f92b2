import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parsePage} from '../../lib/parse/page.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';

const read = (body: string, headers: readonly string[] = ['Content-Type: text/html']) =>
  parsePage(pageInput(body, headers), pageOptions);

test('where a page refreshes to, and its URL by Open Graph, are links', () => {
  const body = '<meta property="og:url" content=" /own "><a href=/a>a</a>';
  const kinds = (page: ReturnType<typeof read>) => page.links.map(({href, kind}) => [href, kind]);
  assert.deepEqual(kinds(read(`<meta http-equiv=refresh content="5; url=/next">${body}`)), [
    ['/next', 'meta_refresh'],
    ['/own', 'og_url'],
    ['/a', 'a'],
  ]);
  assert.deepEqual(kinds(read('<p>', ['Content-Type: text/html', 'Refresh: 0; url=/header'])), [
    ['/header', 'meta_refresh'],
  ]);
  const itself = '<meta http-equiv=refresh content=30><meta property="og:url" content="">';
  assert.deepEqual(kinds(read(itself)), []);
});

test('several declared languages are all kept, in their order; what is no language is left out', () => {
  const cases: [headers: string[], body: string, expected: string | null][] = [
    [['Content-Language: de, en-GB'], '', 'de,en-GB'],
    [['Content-Language: de', 'Content-Language: fr,de'], '', 'de,fr'],
    [['Content-Language: de, en'], '<html lang=pt-br>', 'pt-br'],
    [[], '<meta http-equiv=content-language content="ja , zh-Hant">', 'ja,zh-Hant'],
    [['Content-Language: x y, {lang}, *'], '', null],
  ];
  for (const [headers, body, expected] of cases)
    assert.equal(
      read(`${body}<p>text`, ['Content-Type: text/html', ...headers]).columns.lang_declared,
      expected,
    );
});

test('alternate links have the language that they state, in pages, headers and sitemaps', () => {
  const tags = (page: ReturnType<typeof read>) =>
    page.links.map(({kind, rel, hreflang}) => [kind, rel, hreflang]);
  assert.deepEqual(
    tags(read('<link rel=alternate hreflang=pt-BR href=/pt><link rel=next hreflang=de href=/2>')),
    [
      ['alternate', 'alternate', 'pt-BR'],
      ['next', 'next', undefined],
    ],
  );
  const header =
    'Link: </de>; rel="alternate"; hreflang="de", </feed>; rel=alternate; type="application/rss+xml"';
  assert.deepEqual(tags(read('<p>', ['Content-Type: text/html', header])), [
    ['alternate', 'alternate', 'de'],
    ['feed', 'alternate', undefined],
  ]);
  const sitemap = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
    <url><loc>https://example.org/</loc><xhtml:link rel="alternate" hreflang="x-default" href="https://example.org/all"/></url></urlset>`;
  assert.deepEqual(tags(read(sitemap, ['Content-Type: application/xml']))[1], [
    'alternate',
    'alternate',
    'x-default',
  ]);
});

test('feeds of each kind have title, description, language and date of their own, and items with theirs', () => {
  const item =
    '<item><title>First</title><link>https://example.org/1</link><pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate></item>';
  const feeds: [type: string, body: string][] = [
    [
      'application/rss+xml',
      `<rss version="2.0"><channel><image><title>Logo</title></image><title>News &amp; more</title><description>About</description>
       <language>de-at</language><lastBuildDate>Wed, 03 Jan 2024 00:00:00 GMT</lastBuildDate>${item}</channel></rss>`,
    ],
    [
      'application/atom+xml',
      `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de-at"><title>News &amp; more</title><subtitle>About</subtitle>
       <updated>2024-01-03T00:00:00Z</updated>
       <entry><title>First</title><link href="https://example.org/1"/><updated>2024-01-01T00:00:00Z</updated></entry></feed>`,
    ],
    [
      'application/rdf+xml',
      `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
       <channel rdf:about="https://example.org/"><title>News &amp; more</title><description>About</description>
       <dc:language>de-at</dc:language><dc:date>2024-01-03</dc:date></channel>
       <item rdf:about="https://example.org/1"><title>First</title><link>https://example.org/1</link><dc:date>2024-01-01</dc:date></item></rdf:RDF>`,
    ],
    [
      'application/feed+json',
      JSON.stringify({
        version: 'https://jsonfeed.org/version/1.1',
        title: 'News & more',
        description: 'About',
        language: 'de-at',
        items: [
          {id: '1', url: 'https://example.org/1', title: 'First', date_published: '2024-01-01T00:00:00Z'},
        ],
      }),
    ],
  ];
  for (const [type, body] of feeds) {
    const {columns, links} = read(body, [`Content-Type: ${type}`]);
    assert.deepEqual(
      [columns.title, columns.description, columns.lang_declared, columns.modified_time?.toISOString()],
      ['News & more', 'About', 'de-at', type.endsWith('json') ? undefined : '2024-01-03T00:00:00.000Z'],
      type,
    );
    assert.deepEqual(
      links.map(({href, kind, anchor, lastmod}) => [href, kind, anchor, lastmod?.toISOString()]),
      [['https://example.org/1', 'feed', 'First', '2024-01-01T00:00:00.000Z']],
      type,
    );
  }
});
