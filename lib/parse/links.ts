import type {LinkKind} from '../schema/outlinks.ts';

/** A link as found in a document: unresolved. */
export interface RawLink {
  readonly href: string;
  readonly kind: LinkKind;
  readonly rel: string | null;
  /** Text that a reader sees; null where the link has none by its nature. */
  anchor: string | null;
  /** Modification time that a sitemap or feed states for the target. */
  readonly lastmod?: Date;
  /** What a sitemap says of the target. */
  readonly priority?: number;
  readonly changefreq?: string;
  /** Language that an alternate link states for the target, as written. */
  readonly hreflang?: string;
}

/** Longest link kept as written, in characters. Table outlinks says so. */
export const maxHref = 4096;

/** Not links to anything: nothing, a place in the page itself, data in the page, code. */
export function leadsNowhere(href: string): boolean {
  const first = href.charCodeAt(0);
  if (href === '' || first === 35 /* # */) return true;
  if ((first | 32) === 100 /* d */ || (first | 32) === 106 /* j */ || (first | 32) === 97 /* a */)
    return /^(?:data|javascript):|^about:blank$/i.test(href);
  return false;
}

/** Candidates of a srcset, in order. @see https://html.spec.whatwg.org/multipage/images.html#parsing-a-srcset-attribute */
export function srcsetUrls(srcset: string): string[] {
  const urls: string[] = [];
  let at = 0;
  for (;;) {
    while (at < srcset.length && (isSpace(srcset, at) || srcset[at] === ',')) at++;
    if (at >= srcset.length) return urls;
    const start = at;
    while (at < srcset.length && !isSpace(srcset, at)) at++;
    let end = at;
    while (srcset[end - 1] === ',') end--;
    if (end > start) urls.push(srcset.slice(start, end));
    if (end < at) continue;
    // Descriptors, up to a comma that is not in parentheses.
    for (let inside = false; at < srcset.length && (inside || srcset[at] !== ','); at++) {
      if (srcset[at] === '(') inside = true;
      else if (srcset[at] === ')') inside = false;
    }
  }
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13 && code !== 11);
}
