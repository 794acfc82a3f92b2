/**
 * Origins that answer for sitemaps on other hosts, because their robots.txt names them. Who names a sitemap names
 * those beside and below it too: an index file's own sitemaps are named by nobody else.
 *
 * @see https://www.sitemaps.org/protocol.html#sitemaps_cross_submits
 */
export interface Voucher {
  /** Folder of the sitemap named: its URL up to the last slash of the path. */
  readonly folder: string;
  /** As `https://example.org`. */
  readonly origin: string;
}

/** What a `Sitemap` line of an origin's robots.txt says, or null where the host rule needs no such word. */
export function voucherOf(origin: string, sitemapUrl: string): Voucher | null {
  if (!URL.canParse(sitemapUrl) || !URL.canParse(origin)) return null;
  const {protocol, hostname} = new URL(sitemapUrl);
  if ((protocol !== 'http:' && protocol !== 'https:') || hostname === new URL(origin).hostname) return null;
  return {folder: new URL('.', sitemapUrl).href, origin};
}

const nobody: ReadonlySet<string> = new Set();

/** Origins that answer for a sitemap, by its URL. */
export function voucherIndex(vouchers: readonly Voucher[]): (sitemapUrl: string) => ReadonlySet<string> {
  const byFolder = new Map<string, Set<string>>();
  for (const {folder, origin} of vouchers) {
    const origins = byFolder.get(folder);
    if (origins === undefined) byFolder.set(folder, new Set([origin]));
    else origins.add(origin);
  }
  if (byFolder.size === 0) return () => nobody;
  return (sitemapUrl) => {
    const found = foldersOf(sitemapUrl).flatMap((folder) => [...(byFolder.get(folder) ?? [])]);
    return found.length === 0 ? nobody : new Set(found);
  };
}

/** The folder of a URL and all above it. */
function foldersOf(url: string): string[] {
  const {origin, pathname} = new URL(url);
  const parts = pathname.split('/').slice(0, -1);
  return parts.map((_, index) => `${origin}${parts.slice(0, index + 1).join('/')}/`);
}
