import {getDomain, getPublicSuffix} from 'tldts';
import {remembered} from './remembered.ts';

/** Host names: out of a URL, and by the Public Suffix List (its ICANN part, as in Common Crawl's columns). */

/** Most characters of a label, and of a name. @see RFC 1035, 2.3.4 */
export const maxLabel = 63;
export const maxHost = 253;

/** Host of a URL, without userinfo and port, IPv6 addresses in their brackets; empty where it has none. */
export function hostOf(url: string): string {
  const scheme = url.indexOf('://');
  if (scheme < 0) return '';
  const start = scheme + 3;
  let end = url.length;
  let from = start;
  for (let i = start; i < url.length; i++) {
    const code = url.charCodeAt(i);
    if (code === 47 || code === 63 || code === 35) {
      end = i;
      break;
    }
    if (code === 64) from = i + 1;
  }
  const colon =
    url.charCodeAt(from) === 91 ? url.indexOf(':', url.indexOf(']', from)) : url.indexOf(':', from);
  return url.slice(from, colon >= from && colon < end ? colon : end);
}

// Hosts recur: their domains are remembered, up to a bound that a crawl of many hosts can't pass.
const maxRemembered = 100_000;
const options = {validateHostname: false, extractHostname: false, detectIp: true} as const;

/** One label below the public suffix; the host itself where there is none, as for addresses. */
export const registeredDomain = remembered(maxRemembered, (host) => getDomain(host, options) ?? host);

/**
 * As {@link registeredDomain}, with the private part of the list too: `alice.github.io` is a domain of its own.
 * For what belongs to one owner, as a seed's scope.
 */
export const ownerDomain = remembered(
  maxRemembered,
  (host) => getDomain(host, {...options, allowPrivateDomains: true}) ?? host,
);

/** Public suffix of a host; null for addresses and for names of one label. */
export function publicSuffix(host: string): string | null {
  return host.includes('.') ? getPublicSuffix(host, options) : null;
}

/** The host without leading `www.` labels, unless nothing but a suffix would be left. */
export function withoutWww(host: string): string {
  let bare = host;
  while (bare.startsWith('www.') && bare.indexOf('.', 4) > 0 && getDomain(bare.slice(4), options) !== null)
    bare = bare.slice(4);
  return bare;
}
