import assert from 'node:assert/strict';
import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {defaultOptions} from '../../cli/rounds.ts';
import {parse} from '../../jobs/parse.ts';
import {jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';

/** The extractors of docs/extractors do what docs/extractors.md says of them. */
const folder = join(import.meta.dirname, '../../docs/extractors');
const html = ['Content-Type: text/html; charset=utf-8'];
const jsonLd = (value: unknown): string =>
  `<script type="application/ld+json">${JSON.stringify(value)}</script>`;

const shop = jsonLd({
  '@context': 'https://schema.org',
  '@graph': [
    {'@type': 'BreadcrumbList', itemListElement: []},
    {
      '@type': ['Product', 'Thing'],
      name: ' Lamp ',
      brand: {'@type': 'Brand', name: 'Lumen'},
      sku: 4711,
      image: ['/lamp.jpg', '/lamp2.jpg'],
      aggregateRating: {'@type': 'AggregateRating', ratingValue: '4.5', reviewCount: 12},
      offers: [
        {'@type': 'Offer', price: '129.90', priceCurrency: 'EUR', availability: 'https://schema.org/InStock'},
        {'@type': 'Offer', price: '99,90', priceCurrency: 'EUR', availability: 'SoldOut'},
      ],
    },
  ],
});

const paper = `<title>The bridge | Paper</title><meta name=description content="A new bridge opens.">
<meta property="article:published_time" content="2026-05-01T08:00:00Z"><meta property="og:type" content="article">
${jsonLd({'@type': 'NewsArticle', headline: 'The bridge', author: [{name: 'A. Author'}, 'B. Writer', 'https://example.org/c'], articleSection: ['Local']})}
<article><h1>The bridge</h1><p>${'One two three four five six seven eight nine ten. '.repeat(5)}</p></article>`;

const front = `<base href="/news/">
<article><h2><a href="bridge">The bridge</a></h2><span class=kicker>Local</span><time datetime="2026-05-01T08:00Z">today</time>
 <a class=comments href="bridge#c">1,204 comments</a><p class=reading-time>about 7 min</p><i class=tag>a</i><i class=tag>b</i></article>
<li class=teaser><a href="https://other.example/x">Elsewhere</a><b class=premium></b></li>
<article><h2>No link, no teaser</h2></article>`;

test('each extractor of the folder runs on pages of its kind', async (t) => {
  const crawl = await jobHarness(t);
  await commitFetched(crawl, '20260101000000', [
    {url: 'https://example.org/lamp', body: shop, headers: html},
    {url: 'https://example.org/news/bridge', body: paper, headers: html},
    {url: 'https://example.org/', body: front, headers: html},
    {
      url: 'https://example.org/contact',
      body: '<p>Write to us<form><textarea name=t></textarea></form><a href="https://wa.me/49">W</a>',
      headers: html,
    },
    {
      url: 'https://example.org/de/impressum',
      body: '<a href="mailto:a@example.org?subject=x">a@example.org</a> or b (at) example (dot) org <a href="tel:+49">call</a>',
      headers: html,
    },
  ]);
  const files = readdirSync(folder).filter((name) => /\.(ts|mjs|yaml)$/.test(name));
  assert.equal(files.length, 4);
  const report = await crawl.run(parse, {
    ...defaultOptions(parse),
    with: files.map((name) => join(folder, name)),
  });
  assert.equal(report.counters.extractions_failed_total, 0);
  const values = async (sql: string) => (await crawl.sql(sql)).map((row) => Object.values(row));
  assert.deepEqual(
    await values(
      'SELECT name, brand, sku, price, currency, in_stock, rating, ratings::INTEGER AS n, image FROM products ORDER BY position',
    ),
    [
      ['Lamp', 'Lumen', '4711', 129.9, 'EUR', true, 4.5, 12, 'https://example.org/lamp.jpg'],
      ['Lamp', 'Lumen', '4711', null, 'EUR', false, 4.5, 12, 'https://example.org/lamp.jpg'],
    ],
  );
  assert.deepEqual(
    await values(
      `SELECT headline, authors, strftime(published, '%Y-%m-%d') AS p, section, lead, words FROM articles`,
    ),
    [['The bridge', '["A. Author","B. Writer"]', '2026-05-01', 'Local', 'A new bridge opens.', 52]],
  );
  assert.deepEqual(
    await values('SELECT kind, emails, phones, has_form, messengers FROM contacts ORDER BY kind'),
    [
      ['contact', 0, 0, true, '["whatsapp"]'],
      ['imprint', 2, 1, false, '[]'],
    ],
  );
  assert.deepEqual(
    await values(
      `SELECT link, headline, kicker, strftime(published, '%Y-%m-%d') AS p, comments::INTEGER AS c, minutes, tags, paid FROM teasers
       WHERE url = 'https://example.org/' ORDER BY position`,
    ),
    [
      ['https://example.org/news/bridge', 'The bridge', 'Local', '2026-05-01', 1204, 7, '["a","b"]', false],
      ['https://other.example/x', 'Elsewhere', null, null, null, null, '[]', true],
    ],
  );
});
