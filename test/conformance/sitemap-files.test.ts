import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {test} from 'node:test';
import {parseSitemap, type SitemapOptions} from '../../lib/sitemap/parse.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';

/** Sitemaps and feeds of other parsers' tests; INDEX.json has what a strict XML parser counts in them. */
interface Indexed {
  readonly file: string;
  readonly wellformed: boolean;
  readonly root?: string;
  readonly loc: number;
  readonly items: number;
}
const read = (folder: string, file: string, options: Partial<SitemapOptions> = {}) =>
  parseSitemap(readFileSync(corpus(`${folder}/${file}`)!), {
    url: 'https://example.com/sitemap.xml',
    ...options,
  });
const index = (folder: string) =>
  JSON.parse(readFileSync(corpus(`${folder}/INDEX.json`)!, 'utf8')) as Indexed[];

/** Where our count is another one, and why. */
const differences: Readonly<Record<string, {entries: number; why: string}>> = {
  'crawler-commons/sitemaps__sitemap.index.xml': {
    entries: 15,
    why: 'the URL is the text of sitemap, without loc',
  },
  'rome/rome-modules__os__sample2.xml': {entries: 1, why: 'the other entry stands in a comment'},
  'feedparser/wellformed__base__cdf_item_abstract_xml_base.xml': {
    entries: 1,
    why: 'ITEM in capitals counts here',
  },
};

test('sitemaps: as many locations as the index counts', {skip: withoutCorpus('sitemaps/INDEX.json')}, () => {
  const files = index('sitemaps');
  assert.ok(files.length >= 21);
  for (const {file, wellformed, loc, items} of files) {
    const sitemap = read('sitemaps', file);
    assert.notEqual(sitemap.kind, 'unknown', file);
    const images = sitemap.entries.reduce((sum, entry) => sum + entry.images.length, 0);
    const without = sitemap.problems.filter(({problem}) => problem === 'no_loc').length;
    if (wellformed) {
      const expected = differences[file]?.entries ?? (loc > 0 ? loc : items);
      assert.equal(sitemap.entries.length + images + without, expected, file);
      assert.deepEqual(
        sitemap.problems.filter(({problem}) => problem === 'xml'),
        [],
        file,
      );
    }
  }
});

test('feeds: none throws, as many items as the index counts', {
  skip: withoutCorpus('feeds/INDEX.json'),
}, () => {
  const files = index('feeds');
  assert.ok(files.length >= 403);
  let items = 0;
  for (const one of files) {
    const feed = read('feeds', one.file);
    if (!one.wellformed) continue;
    const without = feed.problems.filter(({problem}) => problem === 'no_loc' || problem === 'bad_loc').length;
    assert.equal(feed.entries.length + without, differences[one.file]?.entries ?? one.items, one.file);
    assert.deepEqual(
      feed.problems.filter(({problem}) => problem === 'xml'),
      [],
      one.file,
    );
    items += feed.entries.length;
  }
  assert.ok(items > 100, `${items} items with a link`);
});

test('extensions of the sitemaps are read', {skip: withoutCorpus('sitemaps/INDEX.json')}, () => {
  const links = read('sitemaps', 'crawler-commons/sitemaps__extension__sitemap-links.xml');
  assert.deepEqual(links.entries[0]!.alternates, [
    {hreflang: 'de', href: 'http://www.example.com/deutsch/'},
    {hreflang: 'de-ch', href: 'http://www.example.com/schweiz-deutsch/'},
    {hreflang: 'en', href: 'http://www.example.com/english/'},
  ]);
  const news = read('sitemaps', 'crawler-commons/sitemaps__extension__sitemap-news.xml');
  assert.deepEqual(news.entries[0]!.news, {
    publication: 'The Example Times',
    language: 'en',
    title: 'Companies A, B in Merger Talks',
    publicationDate: new Date('2008-12-23'),
  });
  assert.equal(news.entries[1]!.news!.publication, null);
  const [video] = read('sitemaps', 'crawler-commons/sitemaps__extension__sitemap-videos.xml').entries[0]!
    .videos;
  assert.deepEqual(video, {
    contentLoc: 'http://www.example.com/video123.flv',
    playerLoc: 'http://www.example.com/videoplayer.swf?video=123',
    thumbnailLoc: 'http://www.example.com/thumbs/123.jpg',
    title: 'Grilling steaks for summer',
  });
  const images = read('sitemaps', 'crawler-commons/sitemaps__extension__sitemap-images.xml');
  assert.equal(images.entries[0]!.images.length, 2);
});
