import xxhash from 'xxhash-wasm';
import {hostOf, registeredDomain} from './host.ts';
import {remembered} from './remembered.ts';

/**
 * Keys of hosts and URLs: XXH64, seed 0, over UTF-8. Computed here once and stored; SQL never computes them.
 * The identity of a URL is the pair.
 */
const {h64} = await xxhash();

export function hostKey(host: string): bigint {
  return h64(host);
}

/** Key of a normalized URL. */
export function urlKey(url: string): bigint {
  return h64(url);
}

export interface UrlIdentity {
  readonly url: string;
  readonly url_key: bigint;
  readonly host_key: bigint;
  readonly url_host_name: string;
  readonly url_host_registered_domain: string;
}

type HostIdentity = Pick<UrlIdentity, 'host_key' | 'url_host_name' | 'url_host_registered_domain'>;

// Links of a page lead to few hosts, so what identifies them is remembered, up to a bound that many hosts can't pass.
const maxRemembered = 10_000;
const identifyHost = remembered(
  maxRemembered,
  (host): HostIdentity => ({
    host_key: h64(host),
    url_host_name: host,
    url_host_registered_domain: registeredDomain(host),
  }),
);

/** The columns that identify a normalized URL in every table. */
export function identify(url: string): UrlIdentity {
  const {host_key, url_host_name, url_host_registered_domain} = identifyHost(hostOf(url));
  return {url, url_key: h64(url), host_key, url_host_name, url_host_registered_domain};
}
