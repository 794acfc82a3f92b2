import {type Listing, listing} from './host-rule.ts';
import {parseSitemap, type SitemapOptions} from './parse.ts';
import type {Sitemap, SitemapEntry} from './sitemap.ts';

/** What `crawl check sitemap` answers: the sitemap, and whether it may list each URL. */
export interface SitemapCheck extends Omit<Sitemap, 'entries'> {
  readonly url: string;
  readonly entries: readonly (SitemapEntry & {
    /** Null where the sitemap's own URL is not known. */
    readonly listing: Listing | null;
  })[];
}

/**
 * @param url the sitemap's own, or null where a file is checked: then relative URLs are none, and the
 *   host rule is not applied
 */
export function checkSitemap(
  bytes: Uint8Array,
  url: string | null,
  options: Omit<SitemapOptions, 'url'> & {readonly namedBy?: ReadonlySet<string>} = {},
): SitemapCheck {
  const sitemap = parseSitemap(bytes, {...options, url: url ?? 'about:blank'});
  const namedBy = options.namedBy ?? new Set();
  return {
    ...sitemap,
    url: url ?? 'about:blank',
    entries: sitemap.entries.map((entry) => ({
      ...entry,
      listing: url === null ? null : listing(url, entry.loc, {namedBy}),
    })),
  };
}
