import {type Collector, titleOf} from './collector.ts';
import type {Frame, FrameHandler} from './frames.ts';
import {
  maxPartsPerEntry,
  type SitemapAlternate,
  type SitemapEntry,
  type SitemapNews,
  type SitemapVideo,
} from './sitemap.ts';

/**
 * Reads `urlset` and `sitemapindex` with the image, video, news and xhtml (hreflang) extensions.
 *
 * An element counts by its local name and its parent's: namespaces and prefixes are wrong too often.
 * A `loc` below the root itself, without `url` round it, counts as an entry.
 *
 * @see https://www.sitemaps.org/protocol.html
 * @see https://developers.google.com/search/docs/crawling-indexing/sitemaps/overview
 */
export function urlsetHandler(found: Collector): FrameHandler {
  let entry: Draft | undefined;
  let video: Mutable<SitemapVideo> | undefined;
  let news: Mutable<SitemapNews> | undefined;

  return {
    open(frame, parents) {
      const {name} = frame;
      if (name === 'url' || name === 'sitemap') {
        if (entry !== undefined) finish(found, entry); // not closed
        entry = draft(frame);
      } else if (entry !== undefined && name === 'video' && parents.at(-1)?.name === 'url') {
        video = {contentLoc: null, playerLoc: null, thumbnailLoc: null, title: null};
      } else if (entry !== undefined && name === 'news' && parents.at(-1)?.name === 'url') {
        news = {publication: null, language: null, title: null, publicationDate: null};
      }
    },
    close(frame, parents) {
      const {name, text, position} = frame;
      const parent = parents.at(-1)?.name;
      if (name === 'url' || name === 'sitemap') {
        if (entry !== undefined) {
          // Some index files have the URL as the text of `sitemap` itself.
          if (entry.locText === undefined && /^\s*https?:\/\//i.test(text)) entry.locText = text;
          finish(found, entry);
        }
        entry = undefined;
        return;
      }
      if (name === 'loc' && (parent === 'urlset' || parent === 'sitemapindex')) {
        const lone = draft(frame);
        lone.kind = parent === 'urlset' ? 'page' : 'sitemap';
        lone.locText = text;
        finish(found, lone);
        return;
      }
      if (entry === undefined) return;
      if (parent === 'url' || parent === 'sitemap') {
        if (name === 'loc') entry.locText ??= text;
        else if (name === 'lastmod') entry.lastmod ??= found.date(text, position);
        else if (name === 'priority') entry.priority ??= found.priority(text, position);
        else if (name === 'changefreq') entry.changefreq ??= found.changefreq(text, position);
        else if (name === 'link') addAlternate(found, entry.alternates, frame);
        else if (name === 'video' && video !== undefined) {
          if (entry.videos.length < maxPartsPerEntry) entry.videos.push(video);
          video = undefined;
        } else if (name === 'news' && news !== undefined) {
          entry.news ??= news;
          news = undefined;
        }
      } else if (parent === 'image' && name === 'loc') {
        const url = found.link(text);
        if (url !== null && entry.images.length < maxPartsPerEntry) entry.images.push(url);
      } else if (parent === 'video' && video !== undefined) {
        if (name === 'content_loc') video.contentLoc = found.link(text);
        else if (name === 'player_loc') video.playerLoc = found.link(text);
        else if (name === 'thumbnail_loc') video.thumbnailLoc = found.link(text);
        else if (name === 'title') video.title = titleOf(text);
      } else if (news !== undefined) {
        if (name === 'name') news.publication = titleOf(text);
        else if (name === 'language') news.language = titleOf(text);
        else if (name === 'title') news.title = titleOf(text);
        else if (name === 'publication_date') news.publicationDate = found.date(text, position);
      }
    },
    end() {
      if (entry?.locText !== undefined) finish(found, entry); // cut inside it, behind its URL
      entry = undefined;
    },
  };
}

type Mutable<T> = {-readonly [K in keyof T]: T[K]};

interface Draft extends Mutable<Omit<SitemapEntry, 'loc' | 'images' | 'videos' | 'alternates'>> {
  locText: string | undefined;
  readonly images: string[];
  readonly videos: SitemapVideo[];
  readonly alternates: SitemapAlternate[];
}

function draft({name, position}: Frame): Draft {
  return {
    kind: name === 'sitemap' ? 'sitemap' : 'page',
    locText: undefined,
    lastmod: null,
    priority: null,
    changefreq: null,
    images: [],
    videos: [],
    news: null,
    alternates: [],
    title: null,
    position,
  };
}

function finish(found: Collector, {locText, ...rest}: Draft): void {
  const loc = found.loc(locText ?? '', rest.position);
  if (loc !== null) found.add({...rest, loc});
}

function addAlternate(found: Collector, alternates: SitemapAlternate[], {attributes}: Frame): void {
  const href = found.link(attributes.href ?? '');
  const hreflang = (attributes.hreflang ?? '').trim();
  const isAlternate = (attributes.rel ?? 'alternate').trim().toLowerCase() === 'alternate';
  if (href === null || !isAlternate || alternates.length >= maxPartsPerEntry) return;
  alternates.push({hreflang, href});
}
