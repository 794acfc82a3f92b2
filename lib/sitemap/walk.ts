/** How far sitemaps are followed. updatedb holds to it: each sitemap is a row of the crawldb, so loops end by themselves. */

/** Index files in a row. The protocol allows 1, real sites have 2. */
export const maxSitemapDepth = 3;

/** Sitemaps of a host. The protocol allows 50,000 an index file; this many can list 50 million URLs. */
export const maxSitemaps = 1000;

/** Where sitemaps are looked for when robots.txt names none. @see https://www.sitemaps.org/protocol.html#informing */
export const wellKnownSitemaps: readonly string[] = ['/sitemap.xml', '/sitemap_index.xml'];
