import {parseAnyDate} from '../http/http-date.ts';
import {type Collector, titleOf} from './collector.ts';
import type {Frame, FrameHandler} from './frames.ts';
import type {Position} from './xml.ts';

/**
 * Reads RSS 0.9 to 2.0, RSS 1.0 (RDF), CDF, and Atom 0.3 and 1.0 as lists of pages: each item's link, title
 * and newest date. An item without a link counts by its permanent guid; one without both is left out.
 *
 * @see https://www.rssboard.org/rss-specification, RFC 4287, https://www.sitemaps.org/protocol.html#otherformats
 */
export function feedHandler(found: Collector): FrameHandler {
  let item: Item | undefined;
  return {
    open(frame, parents) {
      if (item === undefined && isItem(frame)) {
        item = {frame, link: null, permalink: null, title: null, dates: [], depth: parents.length};
      }
    },
    close(frame, parents) {
      if (item === undefined) readOwn(found, frame, parents);
      else if (frame === item.frame) {
        finish(found, item, parents);
        item = undefined;
      } else if (parents.length === item.depth + 1) {
        readPart(found, item, frame, parents);
      }
    },
    end() {
      if (item !== undefined && (item.link ?? item.permalink) !== null) finish(found, item, []);
      item = undefined;
    },
  };
}

/** Names of what a feed says of itself, by RSS, Atom 1.0 and Atom 0.3, CDF. */
const descriptions = new Set(['description', 'subtitle', 'tagline', 'abstract']);
const ownDates = new Set(['updated', 'modified', 'lastbuilddate', 'pubdate', 'date']);

/** A part of the feed itself; of what is said twice the first holds, of dates the newest. */
function readOwn(found: Collector, frame: Frame, parents: readonly Frame[]): void {
  const parent = parents.at(-1);
  const {feed} = found;
  if (parent === undefined || (parent.name !== 'channel' && parent.name !== 'feed')) {
    // The root is the last to close: Atom has the language there.
    if (parent === undefined) feed.language ??= frame.attributes['xml:lang'] ?? null;
    return;
  }
  const {name, prefix, text} = frame;
  const own = prefix === parent.prefix;
  if (!own && prefix !== 'dc') return;
  if (name === 'title') feed.title ??= titleOf(text);
  else if (descriptions.has(name)) feed.description ??= titleOf(text);
  else if (name === 'language') feed.language ??= titleOf(text);
  else if (ownDates.has(name)) {
    const time = parseAnyDate(text.trim());
    if (time !== null && (feed.updated === null || time > feed.updated.getTime()))
      feed.updated = new Date(time);
  }
}

interface Item {
  readonly frame: Frame;
  /** Text of the link, and the xml:base that it is read against. */
  link: {text: string; base: string | undefined} | null;
  permalink: string | null;
  title: string | null;
  readonly dates: Date[];
  readonly depth: number;
}

function isItem({name, prefix}: Frame): boolean {
  return (name === 'item' || name === 'entry') && prefix !== 'media';
}

const dateNames = new Set([
  'pubdate',
  'date',
  'updated',
  'published',
  'modified',
  'issued',
  'created',
  'lastbuilddate',
]);

function readPart(found: Collector, item: Item, frame: Frame, parents: readonly Frame[]): void {
  const {name, prefix, text, attributes, position} = frame;
  const own = prefix === item.frame.prefix;
  if (name === 'link') {
    // Atom has href and rel, RSS the URL as text; RSS items often hold an Atom link too.
    const href = attributes.href;
    const rel = (attributes.rel ?? 'alternate').trim().toLowerCase();
    if (href !== undefined) {
      if (rel === 'alternate' && (item.link === null || own)) {
        item.link ??= {text: href, base: baseOf(found, [...parents, frame])};
      }
    } else if (own && text.trim() !== '') {
      item.link ??= {text, base: baseOf(found, parents)};
    }
  } else if (name === 'guid' && own) {
    const isPermalink = (attributes.ispermalink ?? 'true').toLowerCase() !== 'false';
    if (isPermalink && /^\s*https?:\/\//i.test(text)) item.permalink = text;
  } else if (name === 'title' && (own || prefix === 'dc')) {
    if (own || item.title === null) item.title = titleOf(text) ?? item.title;
  } else if (dateNames.has(name)) {
    const date = found.date(text, position);
    if (date !== null) item.dates.push(date);
  }
}

function finish(found: Collector, item: Item, parents: readonly Frame[]): void {
  // RSS 1.0 repeats the link as rdf:about; CDF has it as href.
  const about = item.frame.attributes['rdf:about'] ?? item.frame.attributes.href ?? null;
  const link = item.link ?? textLink(item.permalink) ?? textLink(about);
  const {position} = item.frame;
  if (link === null) {
    found.problem('no_loc', 'an item without link', position);
    return;
  }
  const loc = found.loc(link.text, position, link.base ?? baseOf(found, parents));
  if (loc === null) return;
  const newest = item.dates.length === 0 ? null : new Date(Math.max(...item.dates.map((d) => d.getTime())));
  found.add({loc, title: item.title, lastmod: newest, position});
}

function textLink(text: string | null): Item['link'] {
  return text === null ? null : {text, base: undefined};
}

/** The xml:base that holds, each read against the one around it; undefined without one. */
function baseOf(found: Collector, frames: readonly Frame[]): string | undefined {
  let base: string | undefined;
  for (const {attributes} of frames) {
    const own = attributes['xml:base'];
    if (own !== undefined) base = found.link(own, base) ?? base;
  }
  return base;
}

/**
 * Reads a JSON Feed. It is read whole: JSON that is broken gives no items.
 *
 * @see https://www.jsonfeed.org/version/1.1/
 */
export function readJsonFeed(text: string, found: Collector): void {
  const start: Position = {line: 1, column: 1};
  let feed: unknown;
  try {
    feed = JSON.parse(text);
  } catch (error) {
    found.problem('json', error instanceof Error ? error.message : String(error), start);
    return;
  }
  const items = field(feed, 'items');
  if (!Array.isArray(items)) {
    found.problem('unknown_root', 'JSON without a list of items', start);
    return;
  }
  found.kind = 'json_feed';
  found.feed.title = titleOf(textOrEmpty(field(feed, 'title')));
  found.feed.description = titleOf(textOrEmpty(field(feed, 'description')));
  found.feed.language = titleOf(textOrEmpty(field(feed, 'language')));
  for (const [index, item] of items.entries()) {
    if (found.full) return;
    // There are no lines to point at: the number of the item stands for one.
    const position = {line: index + 1, column: 1};
    const id = textOrEmpty(field(item, 'id'));
    const link =
      textOrEmpty(field(item, 'url')) ||
      textOrEmpty(field(item, 'external_url')) ||
      (/^https?:/.test(id) ? id : '');
    const loc = found.loc(link, position);
    if (loc === null) continue;
    const date = textOrEmpty(field(item, 'date_modified')) || textOrEmpty(field(item, 'date_published'));
    found.add({
      loc,
      title: titleOf(textOrEmpty(field(item, 'title'))),
      lastmod: found.date(date, position),
      position,
    });
  }
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name]; // an object, checked above
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
