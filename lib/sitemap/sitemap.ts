import type {Position} from './xml.ts';

/** What a sitemap, a sitemap index, or a feed used as one says. */
export interface Sitemap {
  readonly kind: SitemapKind;
  readonly entries: readonly SitemapEntry[];
  /** In order of place; at most {@link maxProblems}. */
  readonly problems: readonly SitemapProblem[];
  /** All of them. */
  readonly problemCount: number;
  /** There was more: of bytes, or of entries. */
  readonly truncated: 'bytes' | 'entries' | null;
  readonly encoding: string;
  /** It came gzipped. */
  readonly packed: boolean;
  /** What a feed says of itself; null for what is none. */
  readonly feed: FeedFacts | null;
}

export interface FeedFacts {
  title: string | null;
  description: string | null;
  /** As written. */
  language: string | null;
  updated: Date | null;
}

export type SitemapKind = 'urlset' | 'index' | 'text' | 'rss' | 'atom' | 'rdf' | 'json_feed' | 'unknown';

export interface SitemapEntry {
  /** `sitemap`: names another sitemap. */
  readonly kind: 'page' | 'sitemap';
  /** Absolute URL as the WHATWG parser writes it; not yet normalised by our policy. */
  readonly loc: string;
  readonly lastmod: Date | null;
  /** 0 to 1. */
  readonly priority: number | null;
  readonly changefreq: ChangeFrequency | null;
  /** Absolute URLs. */
  readonly images: readonly string[];
  readonly videos: readonly SitemapVideo[];
  readonly news: SitemapNews | null;
  readonly alternates: readonly SitemapAlternate[];
  /** Title of a feed's item. */
  readonly title: string | null;
  readonly position: Position;
}

export const changeFrequencies = [
  'always',
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'yearly',
  'never',
] as const;
export type ChangeFrequency = (typeof changeFrequencies)[number];

export interface SitemapVideo {
  readonly contentLoc: string | null;
  readonly playerLoc: string | null;
  readonly thumbnailLoc: string | null;
  readonly title: string | null;
}

export interface SitemapNews {
  readonly publication: string | null;
  readonly language: string | null;
  readonly title: string | null;
  readonly publicationDate: Date | null;
}

export interface SitemapAlternate {
  readonly hreflang: string;
  readonly href: string;
}

export interface SitemapProblem extends Position {
  readonly problem:
    | 'gzip' // damaged or cut packing
    | 'encoding' // an encoding that nobody knows
    | 'xml' // not well-formed
    | 'json'
    | 'unknown_root' // neither sitemap nor feed
    | 'no_loc' // an entry without URL
    | 'bad_loc' // not an http or https URL
    | 'relative_loc' // read against the sitemap's URL, though the protocol wants it absolute
    | 'bad_lastmod'
    | 'bad_priority'
    | 'bad_changefreq';
  readonly detail: string;
}

/** Chosen: enough to see what is wrong. */
export const maxProblems = 100;

/** Limits of the protocol. @see https://www.sitemaps.org/protocol.html#sitemapXMLTagDefinitions */
export const maxSitemapBytes = 52_428_800;
export const maxSitemapEntries = 50_000;

/** Images, videos and alternates kept of one entry. @see Google's image sitemaps: 1,000 images a page */
export const maxPartsPerEntry = 1000;
