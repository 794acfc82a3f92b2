import {type Cookie, CookieJar, MemoryCookieStore} from 'tough-cookie';
import {registeredDomain} from '../url/host.ts';

/** Most of name and value of a cookie, in bytes. RFC 6265bis, section 5.7, as browsers hold it. */
const maxCookieBytes = 4_096;
/** Most cookies of a registered domain; the one set first goes. RFC 6265, section 6.1: at least 50. */
const maxPerDomain = 50;
/** Most of a Cookie header, in bytes: servers refuse more. */
const maxHeaderBytes = 8_192;
/** Most registered domains; the one unused for longest goes. */
const maxDomains = 10_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
const controls = /[\x00-\x08\x0a-\x1f\x7f]/;

interface Site {
  readonly store: MemoryCookieStore;
  readonly jar: CookieJar;
  /** Cookies by domain, path and name, in the order in which they were set. */
  readonly held: Map<string, Cookie>;
}

/**
 * Cookies for the length of a run, in memory alone, by RFC 6265: a cookie goes to the host that set it, or to the
 * hosts below the domain it names, never to a public suffix, and over TLS only where it says `Secure`.
 * Each registered domain has a jar of its own. The only file that imports tough-cookie.
 */
export class Cookies {
  readonly #sites = new Map<string, Site>();

  /** Value of the Cookie header for a URL; undefined for none. Decoded as latin1, as headers are. */
  headerFor(url: URL): string | undefined {
    const site = this.#sites.get(registeredDomain(url.hostname));
    if (site === undefined) return undefined;
    let text = '';
    for (const cookie of site.jar.getCookiesSync(url.href)) {
      const one = cookie.cookieString();
      if (text.length + one.length + 2 > maxHeaderBytes) break;
      text += text === '' ? one : `; ${one}`;
    }
    return text === '' ? undefined : text;
  }

  /** Takes in the Set-Cookie headers of an answer; those that the RFC refuses are left out. */
  take(url: URL, headers: readonly (readonly [name: string, value: string])[]): void {
    for (const [name, value] of headers)
      if (name.length === 10 && name.toLowerCase() === 'set-cookie') this.#set(url, value);
  }

  #set(url: URL, line: string): void {
    // Attributes come after the first semicolon; a cookie without end is nobody's. A control character in it could
    // not be sent back: the next request would be refused here. RFC 6265bis, section 5.7, step 2.
    const pair = line.split(';', 1)[0] ?? '';
    if (pair.length > maxCookieBytes || controls.test(pair)) return;
    const {jar, store, held} = this.#site(url);
    const cookie = jar.setCookieSync(line, url.href, {ignoreError: true});
    if (cookie === undefined) return;
    const key = keyOf(cookie);
    held.delete(key);
    held.set(key, cookie);
    const oldest = held.size > maxPerDomain ? held.values().next().value : undefined;
    if (oldest === undefined) return;
    held.delete(keyOf(oldest));
    store.removeCookie(oldest.domain ?? '', oldest.path ?? '/', oldest.key, () => undefined);
  }

  #site(url: URL): Site {
    const domain = registeredDomain(url.hostname);
    const known = this.#sites.get(domain);
    this.#sites.delete(domain);
    const store = known?.store ?? new MemoryCookieStore();
    const site = known ?? {store, jar: new CookieJar(store), held: new Map<string, Cookie>()};
    this.#sites.set(domain, site);
    const oldest = this.#sites.size > maxDomains ? this.#sites.keys().next().value : undefined;
    if (oldest !== undefined) this.#sites.delete(oldest);
    return site;
  }
}

function keyOf({domain, path, key}: Cookie): string {
  return JSON.stringify([domain, path, key]);
}
