import type {LinkKind} from '../schema/outlinks.ts';
import {cssUrls} from './css.ts';
import type {Attributes} from './html-events.ts';
import {flags, tags} from './html-names.ts';
import {leadsNowhere, type RawLink, srcsetUrls} from './links.ts';

/**
 * Links of one start tag, but those of `a`, `area`, `base` and `meta`, which the reader of pages handles itself.
 * Elements that load something into the page give kinds of embeds, the others are navigation.
 */
export function elementLinks(tag: number, attributes: Attributes, sink: LinkSink): void {
  const style = attributes.get('style');
  if (style !== undefined && /url\(/i.test(style)) for (const url of cssUrls(style)) push(sink, url, 'css');
  if (loadsSomething[tag] === 1) loadedBy(tag, attributes, sink);
}

/** Takes the links of a page. */
export interface LinkSink {
  addLink(link: RawLink): boolean;
}

function push(
  sink: LinkSink,
  href: string | undefined,
  kind: LinkKind,
  rel: string | null = null,
  hreflang?: string,
): void {
  if (href === undefined) return;
  const trimmed = href.trim();
  if (leadsNowhere(trimmed)) return;
  sink.addLink(
    hreflang === undefined
      ? {href: trimmed, kind, rel, anchor: null}
      : {href: trimmed, kind, rel, anchor: null, hreflang},
  );
}

const loadsSomething = flags([
  'link',
  'img',
  'image',
  'source',
  'script',
  'iframe',
  'frame',
  'form',
  'button',
  'input',
  'video',
  'audio',
  'track',
  'embed',
  'object',
  'body',
  'table',
  'td',
  'th',
  'tr',
]);

function loadedBy(tag: number, attributes: Attributes, sink: LinkSink): void {
  switch (tag) {
    case tags.link:
      linkElement(attributes, sink);
      break;
    case tags.img:
    case tags.image:
    case tags.source: {
      const kind = tag === tags.source ? 'media' : 'img';
      push(sink, attributes.get('src'), kind);
      push(sink, attributes.get('data-src'), kind);
      if (tag === tags.image) push(sink, attributes.get('href') ?? attributes.get('xlink:href'), 'img');
      for (const url of srcsetUrls(attributes.get('srcset') ?? '')) push(sink, url, 'srcset');
      for (const url of srcsetUrls(attributes.get('data-srcset') ?? '')) push(sink, url, 'srcset');
      break;
    }
    case tags.script:
      push(sink, attributes.get('src') ?? attributes.get('href'), 'script');
      break;
    case tags.iframe:
      push(sink, attributes.get('src'), 'iframe');
      break;
    case tags.frame:
      push(sink, attributes.get('src'), 'frame');
      break;
    case tags.form:
      push(sink, attributes.get('action'), 'form');
      break;
    case tags.button:
      push(sink, attributes.get('formaction'), 'form');
      break;
    case tags.input:
      if (attributes.get('type')?.toLowerCase() === 'image') push(sink, attributes.get('src'), 'img');
      push(sink, attributes.get('formaction'), 'form');
      break;
    case tags.video:
      push(sink, attributes.get('poster'), 'img');
      push(sink, attributes.get('src'), 'media');
      break;
    case tags.audio:
    case tags.track:
      push(sink, attributes.get('src'), 'media');
      break;
    case tags.embed:
      push(sink, attributes.get('src'), 'embed');
      break;
    case tags.object:
      push(sink, attributes.get('data'), 'embed');
      break;
    case tags.body:
    case tags.table:
    case tags.td:
    case tags.th:
    case tags.tr:
      push(sink, attributes.get('background'), 'img');
      break;
    default:
      break;
  }
}

const feedTypes = /^application\/(?:rss|atom|rdf|feed)\+(?:xml|json)/;
/** Formats of data beside a page that are made for programs: oEmbed, EditURI, a manifest, a search description. */
const forPrograms =
  /(?:^|\s)(?:manifest|search|edituri|wlwmanifest|pingback|webmention|https:\/\/api\.w\.org\/|openid\S*|micropub|authorization_endpoint|token_endpoint|profile)(?:\s|$)/;

/**
 * A `link` element by its rel. `dns-prefetch` and `preconnect` name a host, nothing to fetch: they are no links.
 *
 * @see https://html.spec.whatwg.org/multipage/links.html#linkTypes
 */
function linkElement(attributes: Attributes, sink: LinkSink): void {
  const href = attributes.get('href');
  if (href === undefined) return;
  const rel = (attributes.get('rel') ?? '').trim().toLowerCase().replace(/\s+/g, ' ');
  const kind = linkKind(rel, attributes.get('type')?.trim().toLowerCase() ?? '', attributes.get('as') ?? '');
  if (kind === undefined) return;
  const hreflang = kind === 'alternate' ? attributes.get('hreflang') : undefined;
  push(sink, href, kind, rel === '' ? null : rel, hreflang);
}

/** Kind of a `link` element or Link header; undefined: nothing to fetch. */
export function linkKind(rel: string, type: string, as: string): LinkKind | undefined {
  const has = (word: string): boolean => ` ${rel} `.includes(` ${word} `);
  if (has('canonical')) return 'canonical';
  if (has('stylesheet')) return 'style';
  if (has('amphtml')) return 'amphtml';
  if (has('alternate')) {
    if (feedTypes.test(type)) return 'feed';
    return /json|oembed/.test(type) ? 'media' : 'alternate';
  }
  if (has('next')) return 'next';
  if (has('prev') || has('previous')) return 'prev';
  if (has('sitemap')) return 'sitemap';
  if (has('dns-prefetch') || has('preconnect')) return undefined;
  if (/(?:^|[\s-])icon(?:\s|$)|apple-touch-|image_src/.test(rel)) return 'img';
  if (has('preload') || has('modulepreload') || has('prefetch')) {
    if (as === 'style') return 'style';
    if (as === 'script' || has('modulepreload')) return 'script';
    if (as === 'image') return 'img';
    return has('prefetch') && as === '' ? 'link' : 'media';
  }
  return forPrograms.test(rel) ? 'media' : 'link';
}
