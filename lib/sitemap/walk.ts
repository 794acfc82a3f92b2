/**
 * Bounds for following sitemap indexes: each sitemap once, not deeper and not more than configured, so that
 * an index that names itself, or names new ones for ever, ends. Pure: the caller keeps the state.
 */
export interface SitemapWalk {
  readonly maxDepth: number;
  readonly maxSitemaps: number;
  /** URLs admitted so far. */
  readonly seen: Set<string>;
}

/**
 * @param maxDepth indexes in a row; the protocol allows 1, real sites have 2 (chosen: 3)
 * @param maxSitemaps of one walk. The protocol allows an index 50,000 (chosen: 1,000, so 50 million URLs)
 */
export function sitemapWalk({maxDepth = 3, maxSitemaps = 1000} = {}): SitemapWalk {
  return {maxDepth, maxSitemaps, seen: new Set()};
}

export type Admission = 'admitted' | 'seen' | 'too_deep' | 'too_many';

/**
 * Whether to read a sitemap, which is noted as seen if so.
 *
 * @param url normalised
 * @param depth indexes passed on the way: 0 for one named by robots.txt or by hand
 */
export function admit(walk: SitemapWalk, url: string, depth: number): Admission {
  if (walk.seen.has(url)) return 'seen';
  if (depth > walk.maxDepth) return 'too_deep';
  if (walk.seen.size >= walk.maxSitemaps) return 'too_many';
  walk.seen.add(url);
  return 'admitted';
}

/** Where sitemaps are looked for when robots.txt names none. @see https://www.sitemaps.org/protocol.html#informing */
export const wellKnownSitemaps: readonly string[] = ['/sitemap.xml', '/sitemap_index.xml'];
