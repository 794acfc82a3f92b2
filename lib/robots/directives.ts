import {parseAnyDate} from '../http/http-date.ts';

/**
 * What a page says about itself to robots: `<meta name=robots>`, a meta with our own name, and the
 * X-Robots-Tag headers. Directives of all of them hold together; nothing takes one back, so a page that
 * says `all` here and `noindex` there is noindex.
 *
 * @see https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
 */
export interface PageDirectives {
  readonly noindex: boolean;
  readonly nofollow: boolean;
  readonly noarchive: boolean;
  readonly nosnippet: boolean;
  readonly noimageindex: boolean;
  readonly notranslate: boolean;
  /** Earliest `unavailable_after`: from then on the page is as noindex. Null without one. */
  readonly unavailableAfter: Date | null;
  /** Those that are meant for us, as written but in lower case, in order; at most {@link maxDirectives}. */
  readonly all: readonly PageDirective[];
}

export interface PageDirective {
  /** With its value: `max-snippet: 20`. */
  readonly directive: string;
  readonly source: 'meta' | 'header';
}

/** Chosen: real pages have fewer than ten. */
export const maxDirectives = 100;

/** Directives that have a value after a colon; other words before a colon are names of robots. */
const withValue = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

export interface DirectiveSources {
  /** All meta elements of the page, or those with a name and content. */
  readonly meta: readonly {readonly name: string; readonly content: string}[];
  /** Values of the X-Robots-Tag headers, one a header line. */
  readonly headers: readonly string[];
  /** Our name, letter case aside. */
  readonly productToken: string;
}

export function pageDirectives({meta, headers, productToken}: DirectiveSources): PageDirectives {
  const token = productToken.toLowerCase();
  const all: PageDirective[] = [];
  for (const {name, content} of meta) {
    const robot = name.trim().toLowerCase();
    if (robot !== 'robots' && robot !== token) continue;
    for (const directive of directivesIn(content)) all.push({directive, source: 'meta'});
  }
  for (const header of headers) {
    for (const directive of directivesFor(header, token)) all.push({directive, source: 'header'});
  }
  if (all.length > maxDirectives) all.length = maxDirectives;

  const names = new Set(all.map(({directive}) => directive));
  const none = names.has('none');
  return {
    noindex: none || names.has('noindex'),
    nofollow: none || names.has('nofollow'),
    // nocache is Bing's word for it
    noarchive: names.has('noarchive') || names.has('nocache'),
    nosnippet: names.has('nosnippet'),
    noimageindex: names.has('noimageindex'),
    notranslate: names.has('notranslate'),
    unavailableAfter: earliest(all),
    all,
  };
}

/** True from the time on that `unavailable_after` names. @param now ms since the epoch */
export function isExpired({unavailableAfter}: PageDirectives, now: number): boolean {
  return unavailableAfter !== null && unavailableAfter.getTime() <= now;
}

/**
 * Directives of a header value that are meant for us. A name before a colon says whom the following ones
 * are for, up to the next name; before any name they are for all.
 */
function directivesFor(value: string, token: string): string[] {
  const found: string[] = [];
  let forUs = true;
  for (const part of directivesIn(value)) {
    const colon = part.indexOf(':');
    const word = colon < 0 ? '' : part.slice(0, colon).trim();
    if (colon < 0 || withValue.has(word)) {
      if (forUs) found.push(part);
      continue;
    }
    forUs = word === token || word === 'robots' || word === '*';
    const rest = part.slice(colon + 1).trim();
    if (forUs && rest !== '') found.push(rest);
  }
  return found;
}

/** The parts between commas (and semicolons, which some write), lower case; a date keeps its comma. */
function directivesIn(value: string): string[] {
  const parts: string[] = [];
  for (const raw of value.toLowerCase().split(/[,;]/)) {
    const part = raw.trim();
    if (part === '') continue;
    const last = parts.at(-1);
    // "unavailable_after: sunday, 06-nov-94 …": the comma is the date's
    if (last !== undefined && /unavailable_after:\s*[a-z]{3,9}$/.test(last) && /^\d/.test(part)) {
      parts[parts.length - 1] = `${last}, ${part}`;
    } else {
      parts.push(part);
    }
    if (parts.length > 10 * maxDirectives) break;
  }
  return parts;
}

function earliest(all: readonly PageDirective[]): Date | null {
  let time: number | null = null;
  for (const {directive} of all) {
    const match = /^unavailable_after:\s*(.*)$/s.exec(directive);
    const at = match === null ? null : parseAnyDate(match[1]!);
    if (at !== null && (time === null || at < time)) time = at;
  }
  return time === null ? null : new Date(time);
}

/** What a link's rel says about following it. @see https://html.spec.whatwg.org/#link-type-nofollow */
export interface LinkDirectives {
  readonly nofollow: boolean;
  readonly ugc: boolean;
  readonly sponsored: boolean;
}

export function linkDirectives(rel: string): LinkDirectives {
  const words = new Set(rel.toLowerCase().split(/[\t\n\f\r ]+/));
  return {nofollow: words.has('nofollow'), ugc: words.has('ugc'), sponsored: words.has('sponsored')};
}
