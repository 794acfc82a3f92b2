import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parseSitemap} from '../../lib/sitemap/parse.ts';

const parse = (text: string) => parseSitemap(Buffer.from(text), {url: 'https://example.com/feed'});
const items = (text: string) =>
  parse(text).entries.map(({loc, title, lastmod}) => [
    loc,
    title,
    lastmod?.toISOString().slice(0, 10) ?? null,
  ]);

test('RSS 2.0: link, else permanent guid; newest date; other namespaces do not disturb', () => {
  const text = `<rss version="2.0" xmlns:media="m" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
  <title>Channel</title><link>https://example.com/</link><atom:link rel="self" href="https://example.com/feed"/>
  <item><title>A &amp; B</title><link>https://example.com/a</link><pubDate>Sat, 07 Sep 2002 00:00:01 GMT</pubDate><media:title>M</media:title></item>
  <item><guid>https://example.com/b</guid><dc:date>2024-01-02</dc:date><pubDate>Sat, 07 Sep 2002 00:00:01 GMT</pubDate></item>
  <item><guid isPermaLink="false">https://example.com/no</guid><title>no link</title></item>
  <item><atom:link rel="self" href="/self"/><atom:link rel="alternate" href="/c"/><description>&lt;link&gt;https://example.com/no&lt;/link&gt;</description></item>
  <item><link><![CDATA[ https://example.com/d?a&b ]]></link><image><link>https://example.com/no</link></image></item>
  </channel></rss>`;
  assert.equal(parse(text).kind, 'rss');
  assert.deepEqual(items(text), [
    ['https://example.com/a', 'A & B', '2002-09-07'],
    ['https://example.com/b', null, '2024-01-02'],
    ['https://example.com/c', null, null],
    ['https://example.com/d?a&b', null, null],
  ]);
  assert.deepEqual(
    parse(text).problems.map(({problem, line}) => [line, problem]),
    [
      [5, 'no_loc'],
      [6, 'relative_loc'],
    ],
  );
});

test('Atom: alternate links, xml:base, nested content', () => {
  const text = `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://base.example/x/"><link href="https://example.com/"/>
  <entry xml:base="y/"><title type="html">T</title><link rel="edit" href="/edit"/><link href="a"/><updated>2024-02-03T00:00:00Z</updated><published>2023-01-01T00:00:00Z</published></entry>
  <entry><link rel="alternate" href="b"/><content type="xhtml"><div><title>no</title><link href="https://example.com/no"/></div></content></entry>
  <entry><id>https://example.com/no</id></entry></feed>`;
  assert.equal(parse(text).kind, 'atom');
  assert.deepEqual(items(text), [
    ['https://base.example/x/y/a', 'T', '2024-02-03'],
    ['https://base.example/x/b', null, null],
  ]);
});

test('a prefixed Atom feed', () => {
  const text =
    '<a:feed xmlns:a="x"><a:entry><a:title>T</a:title><a:link href="https://example.com/a"/></a:entry></a:feed>';
  assert.deepEqual(items(text), [['https://example.com/a', 'T', null]]);
});

test('RSS 1.0 and CDF', () => {
  const rdf =
    '<rdf:RDF><channel rdf:about="https://example.com/"/><item rdf:about="https://example.com/a"><title>T</title></item></rdf:RDF>';
  assert.equal(parse(rdf).kind, 'rdf');
  assert.deepEqual(items(rdf), [['https://example.com/a', 'T', null]]);
  assert.deepEqual(items('<CHANNEL><ITEM HREF="https://example.com/a"><TITLE>T</TITLE></ITEM></CHANNEL>'), [
    ['https://example.com/a', 'T', null],
  ]);
});

test('JSON Feed: url, external_url, an id that is a URL', () => {
  const text = JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    items: [
      {
        id: '1',
        url: 'https://example.com/a',
        title: 'T',
        date_published: '2024-01-01',
        date_modified: '2024-02-02',
      },
      {id: '2', external_url: 'https://other.example/'},
      {id: 'https://example.com/c', title: 5},
      {id: '4'},
      null,
    ],
  });
  assert.equal(parse(text).kind, 'json_feed');
  assert.deepEqual(items(text), [
    ['https://example.com/a', 'T', '2024-02-02'],
    ['https://other.example/', null, null],
    ['https://example.com/c', null, null],
  ]);
  assert.deepEqual(
    parse(text).problems.map(({problem, line}) => [problem, line]),
    [
      ['no_loc', 4],
      ['no_loc', 5],
    ],
  );
});

test('a feed that was cut gives the items before', () => {
  const text =
    '<rss><channel><item><link>https://example.com/a</link></item><item><link>https://example.com/b</link><tit';
  assert.deepEqual(
    items(text).map(([loc]) => loc),
    ['https://example.com/a', 'https://example.com/b'],
  );
});
