import assert from 'node:assert/strict';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {checkSitemap} from '../../lib/sitemap/check.ts';
import {parseSitemap, type SitemapOptions} from '../../lib/sitemap/parse.ts';
import {maxProblems} from '../../lib/sitemap/sitemap.ts';

const url = 'https://example.com/dir/sitemap.xml';
const parse = (text: string | Uint8Array, options: Partial<SitemapOptions> = {}) =>
  parseSitemap(typeof text === 'string' ? Buffer.from(text) : text, {url, ...options});
const locs = (text: string | Uint8Array, options: Partial<SitemapOptions> = {}) =>
  parse(text, options).entries.map(({loc}) => loc);
const problems = (text: string | Uint8Array) =>
  parse(text).problems.map(({line, column, problem, detail}) => `${line}:${column} ${problem} ${detail}`);
const urlset = (...entries: string[]) =>
  `<urlset>${entries.map((entry) => `<url>${entry}</url>`).join('')}</urlset>`;

test('a urlset with all its values', () => {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <url>
    <loc> https://example.com/a?x=1&amp;y=2 </loc>
    <lastmod>2024-02-03T04:05:06+01:00</lastmod>
    <changefreq>Weekly</changefreq>
    <priority>0.8</priority>
  </url>
</urlset>`;
  assert.deepEqual(parse(text), {
    kind: 'urlset',
    entries: [
      {
        kind: 'page',
        loc: 'https://example.com/a?x=1&y=2',
        lastmod: new Date('2024-02-03T03:05:06Z'),
        priority: 0.8,
        changefreq: 'weekly',
        images: [],
        videos: [],
        news: null,
        alternates: [],
        title: null,
        position: {line: 3, column: 3},
      },
    ],
    problems: [],
    problemCount: 0,
    truncated: null,
    encoding: 'utf-8',
    packed: false,
    feed: null,
  });
});

test('an index names sitemaps', () => {
  const text =
    '<sitemapindex><sitemap><loc>https://example.com/1.xml</loc><lastmod>2024</lastmod></sitemap><sitemap>\nhttps://example.com/2.xml</sitemap></sitemapindex>';
  const {kind, entries} = parse(text);
  assert.equal(kind, 'index');
  assert.deepEqual(
    entries.map((entry) => [entry.kind, entry.loc, entry.lastmod?.getUTCFullYear()]),
    [
      ['sitemap', 'https://example.com/1.xml', 2024],
      ['sitemap', 'https://example.com/2.xml', undefined],
    ],
  );
});

test('images, videos, news and alternates, whatever their prefixes', () => {
  const [entry] = parse(
    urlset(
      `<loc>https://example.com/a</loc>
      <i:image xmlns:i="x"><i:loc>/1.png</i:loc><i:caption>c</i:caption></i:image><image:image><image:loc>https://cdn.example/2.png</image:loc></image:image>
      <video:video><video:content_loc>v.mp4</video:content_loc><video:player_loc>https://p.example/</video:player_loc><video:title>T</video:title></video:video>
      <news:news><news:publication><news:name>Times</news:name><news:language>en</news:language></news:publication><news:publication_date>2024-01-02</news:publication_date><news:title>N &amp; M</news:title></news:news>
      <xhtml:link rel="alternate" hreflang="de" href="/de?a&amp;b"/><xhtml:link rel="canonical" href="/x"/>`,
    ),
  ).entries;
  assert.deepEqual(entry!.images, ['https://example.com/1.png', 'https://cdn.example/2.png']);
  assert.deepEqual(entry!.videos, [
    {
      contentLoc: 'https://example.com/dir/v.mp4',
      playerLoc: 'https://p.example/',
      thumbnailLoc: null,
      title: 'T',
    },
  ]);
  assert.deepEqual(entry!.news, {
    publication: 'Times',
    language: 'en',
    title: 'N & M',
    publicationDate: new Date('2024-01-02'),
  });
  assert.deepEqual(entry!.alternates, [{hreflang: 'de', href: 'https://example.com/de?a&b'}]);
});

test('namespaces and prefixes may be wrong', () => {
  assert.deepEqual(
    locs('<s:urlset xmlns:s="http://wrong"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>'),
    ['https://example.com/a'],
  );
  assert.deepEqual(locs('<URLSET><URL><LOC>https://example.com/a</LOC></URL></URLSET>'), [
    'https://example.com/a',
  ]);
  assert.deepEqual(locs('<urlset><loc>https://example.com/a</loc></urlset>'), ['https://example.com/a']);
  assert.deepEqual(locs('<x><url><loc>https://example.com/a</loc></url></x>'), ['https://example.com/a']);
});

test('broken XML is read as far as it goes, with the place of each fault', () => {
  const cases: [name: string, text: string, locs: string[], problems: RegExp][] = [
    ['a bare &', urlset('<loc>https://example.com/?a=1&b=2</loc>'), ['?a=1&b=2'], /^1:43 xml a bare &$/],
    [
      'cut in an entry',
      '<urlset><url><loc>https://example.com/a</loc></url><url><loc>https://example.com/b',
      ['a'],
      /loc is not closed/,
    ],
    ['cut behind a loc', '<urlset><url><loc>https://example.com/a</loc>', ['a'], /url is not closed/],
    [
      'a stray end tag',
      urlset('<loc>https://example.com/a</loc></b>', '<loc>https://example.com/c</loc>'),
      ['a', 'c'],
      /unmatched end tag b/,
    ],
    [
      'end tags forgotten',
      '<urlset><url><loc>https://example.com/a</loc><url><loc>https://example.com/b<url><loc>https://example.com/c</urlset>',
      ['a', 'b', 'c'],
      /url is not closed/,
    ],
    [
      'an open quote',
      '<urlset xmlns="x><url><loc>https://example.com/a</loc></url></urlset>',
      ['a'],
      /^1:15 xml the value of xmlns is not closed$/,
    ],
    [
      'attributes without quotes or value',
      '<urlset a=b c><url><loc>https://example.com/a</loc></url></urlset>',
      ['a'],
      /not quoted/,
    ],
    [
      'an unknown entity',
      urlset('<loc>https://example.com/&nbsp;</loc>'),
      ['&nbsp;'],
      /unknown entity &nbsp;/,
    ],
    [
      'a declared entity',
      `<!DOCTYPE urlset [<!ENTITY x "y>y">]>${urlset('<loc>https://example.com/&x;</loc>')}`,
      ['&x;'],
      /unknown entity &x;/,
    ],
    ['text behind the root', `${urlset('<loc>https://example.com/a</loc>')}x`, ['a'], /text outside/],
    [
      'two roots',
      urlset('<loc>https://example.com/a</loc>') + urlset('<loc>https://example.com/b</loc>'),
      ['a', 'b'],
      /second root/,
    ],
    [
      'a comment without end',
      `<urlset><url><loc>https://example.com/a</loc></url><!-- x`,
      ['a'],
      /a comment is not closed/,
    ],
    [
      'a bare <',
      urlset('<loc>https://example.com/a</loc>< ', '<loc>https://example.com/b</loc>'),
      ['a', 'b'],
      /a bare </,
    ],
  ];
  for (const [name, text, expected, problem] of cases) {
    assert.deepEqual(
      locs(text),
      expected.map((path) => `https://example.com/${path}`),
      name,
    );
    assert.match(problems(text).join('\n'), new RegExp(problem.source, 'm'), name);
  }
});

test('CDATA, comments, character references and a late declaration', () => {
  const text = ` \n<?xml version="1.0"?><!-- c --><urlset><!-- <url><loc>https://example.com/no</loc></url> --><url><loc><![CDATA[https://example.com/?a&b]]></loc></url><url><loc>https://example.com/&#x61;&#98;</loc></url></urlset>`;
  assert.deepEqual(locs(text), ['https://example.com/?a&b', 'https://example.com/ab']);
});

test('places are of the line and column in the text', () => {
  assert.deepEqual(problems('<urlset>\n  <url>\n</url>\n <url><loc>ftp://x</loc></url></urlset>'), [
    '2:3 no_loc an entry without URL',
    '4:2 bad_loc ftp://x',
  ]);
});

test('values that are none are left out and named', () => {
  const text = urlset(
    '<loc>https://example.com/a</loc><lastmod>soon</lastmod><priority>7</priority><changefreq>often</changefreq>',
    '<loc>b.html</loc>',
    '<loc>https://example.com/c</loc><lastmod/><priority> </priority><changefreq></changefreq>',
  );
  const {entries} = parse(text);
  assert.deepEqual(
    entries.map(({loc, lastmod, priority, changefreq}) => [loc, lastmod, priority, changefreq]),
    [
      ['https://example.com/a', null, null, null],
      ['https://example.com/dir/b.html', null, null, null],
      ['https://example.com/c', null, null, null],
    ],
  );
  assert.deepEqual(
    parse(text).problems.map(({problem}) => problem),
    ['bad_lastmod', 'bad_priority', 'bad_changefreq', 'relative_loc'],
  );
});

test('a text list: one URL a line', () => {
  const {
    kind,
    entries,
    problems: found,
  } = parse('\uFEFFhttps://example.com/a\r\n\r\nhttps://example.com/b\rnot a url\n https://example.com/c ');
  assert.equal(kind, 'text');
  assert.deepEqual(
    entries.map(({loc, position}) => [loc, position.line]),
    [
      ['https://example.com/a', 1],
      ['https://example.com/b', 3],
      ['https://example.com/c', 5],
    ],
  );
  assert.deepEqual(found, [{problem: 'bad_loc', detail: 'not a url', line: 4, column: 1}]);
});

test('encodings: byte order mark, UTF-16, declaration, charset of the answer', () => {
  const text = urlset('<loc>https://example.com/caf\u00E9</loc>');
  const expected = ['https://example.com/caf%C3%A9'];
  const declared = (name: string) => `<?xml version="1.0" encoding="${name}"?>${text}`;
  assert.deepEqual(locs('\uFEFF' + text), expected);
  assert.deepEqual(locs(Buffer.from('\uFEFF' + text, 'utf16le')), expected);
  assert.deepEqual(locs(Buffer.from('\uFEFF' + text, 'utf16le').swap16()), expected);
  assert.deepEqual(locs(Buffer.from(declared('UTF-16'), 'utf16le')), expected);
  assert.deepEqual(locs(Buffer.from(declared('iso-8859-1'), 'latin1')), expected);
  assert.deepEqual(locs(Buffer.from(text, 'latin1'), {charset: 'ISO-8859-1'}), expected);
  assert.deepEqual(locs(Buffer.from(declared('utf-16'))), expected, 'what the bytes show wins');
  const unknown = parse(declared('x-nobody'));
  assert.deepEqual(
    unknown.problems.map(({problem}) => problem),
    ['encoding'],
  );
  assert.deepEqual(
    unknown.entries.map(({loc}) => loc),
    expected,
  );
  const title = (bytes: Buffer) => parse(bytes).entries[0]!.title;
  const item = `<?xml version="1.0" encoding="windows-1252"?><rss><item><link>https://example.com/</link><title>\x80 5</title></item></rss>`;
  assert.equal(title(Buffer.from(item, 'latin1')), '\u20AC 5');
});

test('gzip: whole, several members, twice packed, cut, damaged, too large', () => {
  const entry = (i: number) =>
    `<url><loc>https://example.com/${i}-${(i * 2654435761) % 4294967296}</loc></url>`;
  const text = `<urlset>${Array.from({length: 3000}, (_, i) => entry(i)).join('')}</urlset>`;
  const packed = gzipSync(text);
  assert.equal(locs(packed).length, 3000);
  assert.equal(parse(packed).packed, true);
  assert.equal(locs(gzipSync(packed)).length, 3000);
  const half = text.indexOf('<url>', text.length / 2);
  assert.equal(locs(Buffer.concat([gzipSync(text.slice(0, half)), gzipSync(text.slice(half))])).length, 3000);
  const cut = locs(packed.subarray(0, packed.length / 2)).length;
  assert.ok(cut > 1000 && cut < 3000, `${cut} of a cut file`);
  const damaged = Buffer.from(packed);
  const middle = packed.length >> 1;
  damaged.fill(0xff, middle, middle + 200);
  assert.ok(locs(damaged).length > 500);
  const small = parse(packed, {maxBytes: 1000});
  assert.equal(small.truncated, 'bytes');
  assert.ok(small.entries.length > 5 && small.entries.length < 30);
  const bomb = parse(gzipSync(Buffer.alloc(20_000_000, 0x20)), {maxBytes: 10_000});
  assert.equal(bomb.truncated, 'bytes');
});

test('at most so many entries and problems, and depth ends', () => {
  const many = parse(urlset(...Array.from({length: 50}, (_, i) => `<loc>https://example.com/${i}</loc>`)), {
    maxEntries: 20,
  });
  assert.equal(many.entries.length, 20);
  assert.equal(many.truncated, 'entries');
  const exact = parse(urlset(...Array.from({length: 20}, (_, i) => `<loc>https://example.com/${i}</loc>`)), {
    maxEntries: 20,
  });
  assert.equal(exact.truncated, null);
  const bad = parse(urlset(...Array.from({length: 500}, () => '<loc>x:</loc>')));
  assert.equal(bad.problems.length, maxProblems);
  assert.equal(bad.problemCount, 500);
  const deep = parse(`<urlset>${urlset('<loc>https://example.com/a</loc>')}${'<a>'.repeat(100_000)}`);
  assert.match(deep.problems.map(({detail}) => detail).join(), /nested deeper/);
  assert.deepEqual(
    deep.entries.map(({loc}) => loc),
    ['https://example.com/a'],
  );
});

test('what is neither sitemap nor feed has no entries and says so', () => {
  for (const text of [
    '<html><body><a href="https://example.com/">x</a></body></html>',
    '{"a": 1}',
    '[1]',
    '{',
    'hello',
    '\0\xff',
  ]) {
    const {kind, entries, problemCount} = parse(text);
    assert.equal(kind, 'unknown', text);
    assert.equal(entries.length, 0, text);
    assert.ok(problemCount > 0, text);
  }
  assert.equal(parse('').kind, 'unknown');
});

test('a check says of each URL whether the sitemap may list it', () => {
  const text =
    'https://example.com/a\nhttp://example.com/b\nhttps://other.example/c\nhttps://named.example/d';
  const named = new Set(['https://named.example']);
  const check = checkSitemap(Buffer.from(text), url, {namedBy: named});
  assert.deepEqual(
    check.entries.map(({listing}) => listing),
    ['host', 'host', 'other_host', 'named'],
  );
  const file = checkSitemap(Buffer.from(urlset('<loc>https://example.com/a</loc>', '<loc>/b</loc>')), null);
  assert.deepEqual(
    file.entries.map(({loc, listing}) => [loc, listing]),
    [['https://example.com/a', null]],
  );
});
