import {CrawlError} from '../../lib/errors.ts';
import {ruleAbout} from '../../lib/fetcher/host-rules.ts';
import type {OptionValues} from '../../lib/options.ts';
import {hostOf} from '../../lib/url/host.ts';
import {normalizeUrl, type UrlPolicy} from '../../lib/url/normalize.ts';

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

/** Whom a rule by hand may be about beside one host. */
export const ruleTargetOptions = {
  domain: {kind: 'text', doc: 'In place of HOST: this domain and all hosts below it.'},
  pattern: {kind: 'text', doc: 'In place of HOST: host names of a pattern; `*` is any text, dots included.'},
} as const;

/** The text of the rule: `www.example.org`, `.example.org` or `*.example.org`. Throws USAGE where it is not one of the three. */
export function ruleTargetOf(
  {host, domain, pattern}: OptionValues<typeof ruleTargetOptions> & {readonly host: string | undefined},
  policy: UrlPolicy,
): string {
  const given = [host, domain, pattern].filter((text) => text !== undefined);
  if (given.length !== 1)
    throw new CrawlError(
      'USAGE',
      given.length === 0 ? 'HOST is missing' : 'HOST, --domain and --pattern exclude each other',
      {
        hint: 'Name a host, or give --domain example.org or --pattern "*.example.org".',
      },
    );
  if (domain !== undefined) return `.${hostNameOf(domain.trim().replace(/^(?:\*?\.)+/, ''), policy)}`;
  if (pattern === undefined) return hostNameOf(host ?? '', policy);
  const text = pattern.trim().toLowerCase();
  if (!/^[a-z0-9*._-]+$/.test(text) || !text.includes('*'))
    throw new CrawlError('USAGE', `--pattern ${pattern} is no pattern of host names`, {
      hint: 'Letters, digits, dots, hyphens and at least one `*`, as in shop-*.example.org; other letters in their xn-- form.',
    });
  return text;
}

/** Is the text of a rule the name of one host? */
export function isOneHost(text: string): boolean {
  return ruleAbout(text) === 'host';
}
