import {parseSitemap} from '../../sitemap/parse.ts';
import {maxSitemapEntries, type Sitemap, type SitemapEntry} from '../../sitemap/sitemap.ts';
import type {Document, DocumentInput, DocumentType} from '../document.ts';
import {encodingOf} from '../encoding-labels.ts';
import {TextBlocks} from '../html-text.ts';
import type {RawLink} from '../links.ts';

/** Problems told of one document; the rest is counted. */
const maxTold = 5;

/** Sitemaps and feeds: their entries are links, with the modification times that they state. */
export const sitemap: DocumentType = {
  types: [
    'application/x-sitemap+xml',
    'application/rss+xml',
    'application/rdf+xml',
    'application/atom+xml',
    'application/feed+json',
    'application/x-gzip',
    'application/gzip',
  ],
  parse(input: DocumentInput): Document | undefined {
    const found = parseSitemap(input.bytes, {
      url: input.url,
      charset: input.transport ?? null,
      maxBytes: input.limits.maxBody,
    });
    // Any packed file comes here; only sitemaps and feeds in it are documents.
    if (input.asSitemap ? found.kind === 'unknown' : found.packed && !hasMarkup(found)) return undefined;
    const links: RawLink[] = [];
    const blocks = new TextBlocks(input.limits.maxText);
    for (const entry of found.entries) {
      addEntry(entry, input.asSitemap || !isFeed(found), links);
      const title = titleOf(entry);
      if (title !== null) {
        blocks.addText(title, true);
        blocks.endBlock(false, 0);
      }
    }
    const encoding = encodingOf(found.encoding);
    const {feed} = found;
    return {
      ...(feed !== null && {
        title: feed.title,
        description: feed.description,
        lang: feed.language,
        modified: feed.updated,
      }),
      links,
      text: blocks.finish(),
      ...(encoding === undefined
        ? {}
        : {charset: {encoding, source: input.transport === undefined ? 'meta' : 'transport', bom: 0}}),
      linkLimit: maxSitemapEntries,
      errors: problems(found),
    };
  },
};

function hasMarkup({kind}: Sitemap): boolean {
  return kind !== 'unknown' && kind !== 'text';
}

function isFeed({kind}: Sitemap): boolean {
  return kind === 'rss' || kind === 'atom' || kind === 'rdf' || kind === 'json_feed';
}

/** What an index file names has the `rel` that a page's link to a sitemap has. */
function addEntry(entry: SitemapEntry, listed: boolean, links: RawLink[]): void {
  links.push({
    href: entry.loc,
    kind: listed ? 'sitemap' : 'feed',
    rel: entry.kind === 'sitemap' ? 'sitemap' : null,
    anchor: titleOf(entry),
    ...(entry.lastmod === null ? {} : {lastmod: entry.lastmod}),
    ...(entry.priority === null ? {} : {priority: entry.priority}),
    ...(entry.changefreq === null ? {} : {changefreq: entry.changefreq}),
  });
  for (const {href, hreflang} of entry.alternates)
    links.push({
      href,
      kind: 'alternate',
      rel: 'alternate',
      anchor: null,
      ...(hreflang === '' ? {} : {hreflang}),
    });
  for (const href of entry.images) links.push({href, kind: 'img', rel: null, anchor: null});
}

function titleOf(entry: SitemapEntry): string | null {
  return entry.title ?? entry.news?.title ?? null;
}

function problems(found: Sitemap): string[] {
  const told = found.problems
    .slice(0, maxTold)
    .map(({problem, line, column}) => `${found.kind}: ${problem} at line ${line}, column ${column}`);
  const more = found.problemCount - told.length;
  if (more > 0) told.push(`${found.kind}: ${more} more problems`);
  if (found.truncated !== null) told.push(`${found.kind}: cut, too many ${found.truncated}`);
  return told;
}
