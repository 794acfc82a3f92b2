import type {LinkKind} from '../schema/outlinks.ts';
import {cssUrls} from './css.ts';
import type {Attributes} from './html-events.ts';
import {tags} from './html-names.ts';
import {leadsNowhere, type RawLink, srcsetUrls} from './links.ts';

/**
 * Links of one start tag, but those of `a`, `area`, `base` and `meta`, which the reader of pages handles itself.
 * Elements that load something into the page give kinds of embeds, the others are navigation.
 */
export function elementLinks(tag: number, attributes: Attributes, add: (link: RawLink) => unknown): void {
  const push = (href: string | undefined, kind: LinkKind, rel: string | null = null): void => {
    const trimmed = href?.trim();
    if (trimmed !== undefined && !leadsNowhere(trimmed)) add({href: trimmed, kind, rel, anchor: null});
  };
  const style = attributes.get('style');
  if (style !== undefined && /url\(/i.test(style)) for (const url of cssUrls(style)) push(url, 'css');

  switch (tag) {
    case tags.link:
      linkElement(attributes, push);
      break;
    case tags.img:
    case tags.image:
    case tags.source: {
      const kind = tag === tags.source ? 'media' : 'img';
      push(attributes.get('src'), kind);
      push(attributes.get('data-src'), kind);
      if (tag === tags.image) push(attributes.get('href') ?? attributes.get('xlink:href'), 'img');
      for (const url of srcsetUrls(attributes.get('srcset') ?? '')) push(url, 'srcset');
      for (const url of srcsetUrls(attributes.get('data-srcset') ?? '')) push(url, 'srcset');
      break;
    }
    case tags.script:
      push(attributes.get('src') ?? attributes.get('href'), 'script');
      break;
    case tags.iframe:
      push(attributes.get('src'), 'iframe');
      break;
    case tags.frame:
      push(attributes.get('src'), 'frame');
      break;
    case tags.form:
      push(attributes.get('action'), 'form');
      break;
    case tags.button:
      push(attributes.get('formaction'), 'form');
      break;
    case tags.input:
      if (attributes.get('type')?.toLowerCase() === 'image') push(attributes.get('src'), 'img');
      push(attributes.get('formaction'), 'form');
      break;
    case tags.video:
      push(attributes.get('poster'), 'img');
      push(attributes.get('src'), 'media');
      break;
    case tags.audio:
    case tags.track:
      push(attributes.get('src'), 'media');
      break;
    case tags.embed:
      push(attributes.get('src'), 'embed');
      break;
    case tags.object:
      push(attributes.get('data'), 'embed');
      break;
    case tags.body:
    case tags.table:
    case tags.td:
    case tags.th:
    case tags.tr:
      push(attributes.get('background'), 'img');
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
function linkElement(
  attributes: Attributes,
  push: (href: string | undefined, kind: LinkKind, rel: string | null) => void,
): void {
  const href = attributes.get('href');
  if (href === undefined) return;
  const rel = (attributes.get('rel') ?? '').trim().toLowerCase().replace(/\s+/g, ' ');
  const kind = linkKind(rel, attributes.get('type')?.trim().toLowerCase() ?? '', attributes.get('as') ?? '');
  if (kind !== undefined) push(href, kind, rel === '' ? null : rel);
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
