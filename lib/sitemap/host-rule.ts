/**
 * Whether a sitemap may list a URL.
 *
 * - `host`: same host and port, scheme aside, since sitemaps still at http list https pages.
 * - `named`: the robots.txt of the URL's origin names this sitemap, so its owner vouches for it.
 * - `path`: only where `strict`: outside the folder of the sitemap.
 * - `other_host`: none of these; the entry is not used.
 *
 * @see https://www.sitemaps.org/protocol.html#location and #sitemaps_cross_submits
 */
export type Listing = 'host' | 'named' | 'path' | 'other_host';

/**
 * @param namedBy origins (`https://example.org`) whose robots.txt names the sitemap
 * @param strict the protocol's letter: also the same scheme, and below the sitemap's folder
 */
export function listing(
  sitemapUrl: string,
  loc: string,
  {namedBy = new Set(), strict = false}: {namedBy?: ReadonlySet<string>; strict?: boolean} = {},
): Listing {
  const sitemap = new URL(sitemapUrl);
  const page = new URL(loc);
  const sameHost = strict
    ? sitemap.origin === page.origin
    : sitemap.hostname === page.hostname && portClass(sitemap) === portClass(page);
  if (sameHost) {
    const folder = sitemap.pathname.slice(0, sitemap.pathname.lastIndexOf('/') + 1);
    if (!strict || page.pathname.startsWith(folder)) return 'host';
  }
  if (namedBy.has(page.origin)) return 'named';
  return sameHost ? 'path' : 'other_host';
}

export function mayList(verdict: Listing): boolean {
  return verdict === 'host' || verdict === 'named';
}

/** Default ports of http and https count as one. */
function portClass(url: URL): string {
  return url.port === '' ? 'default' : url.port;
}
