import {CrawlError} from '../lib/errors.ts';
import {hostOf} from '../lib/url/host.ts';
import {normalizeUrl, type UrlPolicy} from '../lib/url/normalize.ts';

/**
 * The host that a person means, in the form that the crawl's URLs have: of a name in any spelling, or of a URL.
 * Throws USAGE where it is none.
 */
export function hostNameOf(text: string, policy: UrlPolicy): string {
  const bare = text.trim();
  const problem = (why: string) =>
    new CrawlError('USAGE', `${text} is no host: ${why}`, {
      hint: 'Give a name as www.example.org, or a URL.',
    });
  if (!bare.includes('://') && /[/?#@\\\s]/.test(bare)) throw problem('it has more than a name');
  // An IPv6 address stands in brackets in URLs
  const name = /^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(bare) ? `[${bare}]` : bare;
  const normal = normalizeUrl(bare.includes('://') ? bare : `http://${name}/`, policy);
  if ('reason' in normal) throw problem(normal.detail);
  return hostOf(normal.url);
}
