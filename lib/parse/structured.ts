import {parseAnyDate} from '../http/http-date.ts';
import type {Meta} from './html.ts';

/** Characters of JSON-LD kept of a page. Chosen: 99 of 100 pages that have any have less than 100 KB. */
const maxJsonLd = 256 * 1024;

/** JSON-LD blocks of a page as values; what cannot be read is told. */
export function readJsonLd(blocks: readonly string[]): {values: unknown[]; errors: string[]} {
  const values: unknown[] = [];
  const errors: string[] = [];
  let length = 0;
  for (const block of blocks) {
    length += block.length;
    if (length > maxJsonLd) {
      errors.push(`json-ld: cut, more than ${maxJsonLd} characters`);
      break;
    }
    // Wrapped against old browsers, and with line breaks within strings: both seen often.
    const bare = block.replace(
      /^\s*(?:<!--|\/\*\s*<!\[CDATA\[\s*\*\/|<!\[CDATA\[)|(?:-->|\/\*\s*\]\]>\s*\*\/|\]\]>)\s*$/g,
      '',
    );
    try {
      values.push(JSON.parse(bare));
    } catch {
      try {
        values.push(JSON.parse(bare.replace(/[\t\n\r]+/g, ' ').replace(/;\s*$/, '')));
      } catch {
        errors.push('json-ld: not well-formed');
      }
    }
  }
  return {values, errors};
}

/** Prefixes of Open Graph's own namespaces. @see https://ogp.me/ */
const openGraphPrefix = /^(?:og|article|book|profile|video|music|product):/;

/** Open Graph properties of a page; one that comes again is an array. Null without any. */
export function openGraph(metas: readonly Meta[]): Readonly<Record<string, string | string[]>> | null {
  const properties = new Map<string, string | string[]>();
  for (const {key, content} of metas) {
    if (!openGraphPrefix.test(key)) continue;
    const known = properties.get(key);
    if (known === undefined) properties.set(key, content);
    else if (typeof known === 'string') properties.set(key, [known, content]);
    else known.push(content);
  }
  return properties.size === 0 ? null : Object.fromEntries(properties);
}

/** Names under which pages state their dates, the surest first. */
const publishedNames = [
  'article:published_time',
  'datepublished',
  'og:published_time',
  'dcterms.issued',
  'dc.date.issued',
  'dcterms.created',
  'dc.date',
  'parsely-pub-date',
  'sailthru.date',
  'publish_date',
  'publish-date',
  'pubdate',
  'date',
];
const modifiedNames = [
  'article:modified_time',
  'datemodified',
  'og:updated_time',
  'dcterms.modified',
  'dc.date.modified',
  'last-modified',
];

export interface StatedDates {
  readonly published: Date | null;
  readonly modified: Date | null;
}

/** Dates that a page states of itself: in metas, then in JSON-LD, then in `time` elements that say what they are. */
export function statedDates(
  metas: readonly Meta[],
  jsonLd: readonly unknown[],
  times: readonly {readonly itemprop: string; readonly datetime: string}[],
): StatedDates {
  const item = (name: string): Date | null =>
    firstDate(
      times.filter(({itemprop}) => itemprop.split(/\s+/).includes(name)).map(({datetime}) => datetime),
    );
  const named = (names: readonly string[]): Date | null =>
    firstDate(names.flatMap((name) => metas.filter(({key}) => key === name).map(({content}) => content)));
  return {
    published: named(publishedNames) ?? firstDate(values(jsonLd, 'datePublished')) ?? item('datepublished'),
    modified: named(modifiedNames) ?? firstDate(values(jsonLd, 'dateModified')) ?? item('datemodified'),
  };
}

function firstDate(texts: readonly string[]): Date | null {
  for (const text of texts) {
    const time = parseAnyDate(text.trim());
    // Beyond four-digit years nothing is a date; files hold milliseconds.
    if (time !== null && Math.abs(time) < 253_402_300_800_000) return new Date(time);
  }
  return null;
}

/** Values of a property in the main things of JSON-LD: the blocks, lists in them, and their graphs. */
function values(blocks: readonly unknown[], property: string): string[] {
  const found: string[] = [];
  const look = (value: unknown, depth: number): void => {
    if (Array.isArray(value)) {
      if (depth < 4) for (const element of value.slice(0, 100)) look(element, depth + 1);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    const entries = value as Readonly<Record<string, unknown>>; // any object of JSON
    if (typeof entries[property] === 'string') found.push(entries[property]);
    if ('@graph' in entries && depth < 4) look(entries['@graph'], depth + 1);
  };
  for (const block of blocks) look(block, 0);
  return found;
}
