import {pageDirectives} from '../robots/directives.ts';
import type {ParseRow} from '../schema/parse.ts';
import type {Reason} from '../schema/reason.ts';
import {bodySignature, textSignature} from '../signature/exact.ts';
import {simhashOfLower} from '../signature/simhash.ts';
import {transportEncoding} from './charset.ts';
import type {Document, DocumentInput} from './document.ts';
import type {Encoding} from './encoding-labels.ts';
import {headerLinks} from './headers.ts';
import {linkKind} from './html-links.ts';
import type {DocumentText} from './html-text.ts';
import {detectLanguage} from './language.ts';
import {leadsNowhere, type RawLink} from './links.ts';
import {mainText} from './main-text.ts';
import {parseMetaRefresh} from './meta-refresh.ts';
import type {PdfBounds} from './pdf-messages.ts';
import {type Received, receive} from './receive.ts';
import {parserFor} from './registry.ts';
import {openGraph, readJsonLd, statedDates} from './structured.ts';
import {sitemap} from './types/sitemap.ts';

/** A capture with a payload, as far as a parser needs it. */
export interface PageInput {
  readonly url: string;
  /** Status line and headers as received; null where they were not kept. */
  readonly header: Uint8Array | null;
  /** Type and coding of the fetch row, for captures without header bytes. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** As received, content coding kept. */
  readonly payload: Uint8Array;
  /** Fetched as a sitemap: read as one, whatever its type, unless it is none. */
  readonly asSitemap?: boolean;
}

export interface PageOptions {
  /** Bytes of a decoded body. */
  readonly maxBody: number;
  readonly maxRatio: number;
  /** Characters of text. */
  readonly maxText: number;
  readonly fallback: Encoding;
  readonly maxAnchor: number;
  /** Links kept of a page. */
  readonly maxLinks: number;
  readonly pdf: PdfBounds;
  /** Our name in robots directives. */
  readonly productToken: string;
}

/** Columns of a parse row that a page gives by itself: nothing normalized, no keys, no links counted. */
export type PageColumns = Omit<
  ParseRow,
  | 'segment'
  | 'parse_id'
  | 'capture_id'
  | 'host_key'
  | 'url_key'
  | 'url'
  | 'canonical_url'
  | 'base_url'
  | 'meta_refresh_url'
  | 'outlinks'
  | 'outlinks_cut'
  | 'parse_ms'
>;

export interface ParsedPage {
  readonly columns: PageColumns;
  /** In the order of the document, those of Link headers first. */
  readonly links: readonly RawLink[];
  /** Links that were not even gathered, beyond a multiple of maxLinks. */
  readonly linksCut: number;
  /** Most links that may be kept. */
  readonly linkLimit: number;
  /** Unresolved base, canonical link and refresh target. */
  readonly base: string | null;
  readonly canonical: string | null;
  readonly refreshUrl: string | null;
}

/** Gathered for each link that is kept, so that the best can be chosen. */
const linkReserve = 10;

/**
 * Everything that one capture says, by header and body. Pure; throws only by a defect of a parser.
 *
 * @param received the same capture, where somebody has undone its coding already
 */
export function parsePage(
  input: PageInput,
  options: PageOptions,
  received: Received = receive(input, options),
): ParsedPage {
  const {fields, headerType, body, maxBody, type} = received;
  const asSitemap = input.asSitemap === true;
  const known = {
    content_mime_type: headerType?.essence ?? null,
    body_length: body.bytes.length,
    body_truncated: body.truncated,
  };
  if (type === null) return skipped('empty', {...known, errors: body.errors}, robotsOf([], fields, options));

  const signature = bodySignature(body.bytes);
  const parser = parserFor(type);
  const seen = {...known, content_mime_detected: type, signature, errors: body.errors};
  const source: DocumentInput = {
    url: input.url,
    bytes: body.bytes,
    type,
    transport: transportEncoding(headerType?.charset),
    fallback: options.fallback,
    limits: {
      maxBody,
      maxText: options.maxText,
      maxAnchor: options.maxAnchor,
      maxLinks: options.maxLinks * linkReserve,
      pdf: options.pdf,
    },
    asSitemap,
  };
  const document =
    (asSitemap ? sitemap.parse(source) : undefined) ?? parser?.parse({...source, asSitemap: false});
  if (document === undefined) return skipped('type_unsupported', seen, robotsOf([], fields, options));
  if (document.failure !== undefined) return failed(document.failure, seen, robotsOf([], fields, options));
  return parsed(document, seen, fields, options);
}

interface Seen {
  readonly content_mime_type: string | null;
  readonly content_mime_detected?: string | null;
  readonly signature?: Uint8Array | null;
  readonly body_length: number | null;
  readonly body_truncated: boolean | null;
  readonly errors: readonly string[];
}

function parsed(
  document: Document,
  seen: Required<Seen>,
  fields: ReadonlyMap<string, readonly string[]>,
  options: PageOptions,
): ParsedPage {
  const jsonLd = readJsonLd(document.jsonLd ?? []);
  const metas = document.metas ?? [];
  const errors = [...seen.errors, ...(document.errors ?? []), ...jsonLd.errors];
  const stated = statedDates(metas, jsonLd.values, document.times ?? []);
  const graph = openGraph(metas);
  const refresh = document.refresh ?? refreshOfHeader(fields);
  const links = [...linksOfHeader(fields), ...statedLinks(refresh?.url, graph), ...document.links];
  const text = document.text === undefined ? blank : textColumns(document.text);
  const robots = robotsOf(metas, fields, options);
  return {
    // Each column by name: to spread parts into one object takes several times as long.
    columns: {
      status: errors.length === 0 ? 'success' : 'partial',
      reason: null,
      errors: errors.length === 0 ? null : JSON.stringify(errors),
      content_mime_type: seen.content_mime_type,
      content_mime_detected: seen.content_mime_detected,
      content_charset: document.charset?.encoding ?? null,
      charset_source: document.charset?.source ?? null,
      content_languages: text.content_languages,
      lang_declared: languages(document.lang ?? fields.get('content-language')?.join(',')),
      title: document.title ?? null,
      description: document.description ?? null,
      headings: document.headings?.length ? JSON.stringify(document.headings) : null,
      text: text.text,
      main_text: text.main_text,
      text_length: text.text_length,
      meta_refresh_s: refresh?.seconds ?? null,
      robots_noindex: robots.robots_noindex,
      robots_nofollow: robots.robots_nofollow,
      robots_noarchive: robots.robots_noarchive,
      robots_directives: robots.robots_directives,
      published_time: document.published ?? stated.published,
      modified_time: document.modified ?? stated.modified,
      open_graph: graph === null ? null : JSON.stringify(graph),
      json_ld: jsonLd.values.length === 0 ? null : JSON.stringify(jsonLd.values),
      signature: seen.signature,
      text_signature: text.text_signature,
      simhash: text.simhash,
      body_length: seen.body_length,
      body_truncated: seen.body_truncated,
    },
    links,
    linksCut: document.linksCut ?? 0,
    linkLimit: document.linkLimit ?? options.maxLinks,
    base: document.base ?? null,
    canonical: links.find((link) => link.kind === 'canonical')?.href ?? null,
    refreshUrl: refresh?.url ?? null,
  };
}

type TextColumns = Pick<
  PageColumns,
  'text' | 'main_text' | 'content_languages' | 'text_length' | 'text_signature' | 'simhash'
>;

function textColumns(document: DocumentText): TextColumns {
  const {text} = document;
  const main = mainText(document);
  const lower = text.toLowerCase();
  return {
    text,
    main_text: main,
    content_languages: detectLanguage(main ?? text),
    text_length: text.length,
    text_signature: textSignature(lower),
    simhash: simhashOfLower(lower),
  };
}

function skipped(reason: Reason, seen: Seen, robots: RobotsColumns): ParsedPage {
  return unread('skipped', reason, seen, robots);
}

/** What a parser gave up on: what is known without it is kept. */
function failed(
  {reason, detail}: NonNullable<Document['failure']>,
  seen: Seen,
  robots: RobotsColumns,
): ParsedPage {
  return unread('failed', reason, {...seen, errors: [...seen.errors, detail]}, robots);
}

function unread(
  status: 'skipped' | 'failed',
  reason: Reason,
  {errors, ...seen}: Seen,
  robots: RobotsColumns,
): ParsedPage {
  return {
    columns: {
      ...blank,
      ...seen,
      ...robots,
      status,
      reason,
      errors: errors.length === 0 ? null : JSON.stringify(errors),
    },
    links: [],
    linksCut: 0,
    linkLimit: 0,
    base: null,
    canonical: null,
    refreshUrl: null,
  };
}

/** The row of a capture whose parser failed, hung or killed its thread. */
export function failedColumns(
  reason: 'empty' | 'parse_failed' | 'parse_timeout',
  detail: string,
): PageColumns {
  return {
    ...blank,
    status: reason === 'empty' ? 'skipped' : 'failed',
    reason,
    errors: JSON.stringify([detail]),
  };
}

type RobotsColumns = Pick<
  PageColumns,
  'robots_noindex' | 'robots_nofollow' | 'robots_noarchive' | 'robots_directives'
>;

function robotsOf(
  metas: readonly {readonly key: string; readonly content: string}[],
  fields: ReadonlyMap<string, readonly string[]>,
  options: PageOptions,
): RobotsColumns {
  const directives = pageDirectives({
    meta: metas.map(({key, content}) => ({name: key, content})),
    headers: fields.get('x-robots-tag') ?? [],
    productToken: options.productToken,
  });
  return {
    robots_noindex: directives.noindex,
    robots_nofollow: directives.nofollow,
    robots_noarchive: directives.noarchive,
    robots_directives: directives.all.length === 0 ? null : JSON.stringify(directives.all),
  };
}

function linksOfHeader(fields: ReadonlyMap<string, readonly string[]>): RawLink[] {
  const values = fields.get('link');
  if (values === undefined) return [];
  const links: RawLink[] = [];
  for (const {href, rel, type, as, hreflang} of headerLinks(values)) {
    const kind = linkKind(rel, type ?? '', as ?? '');
    if (kind === undefined || leadsNowhere(href)) continue;
    links.push({
      href,
      kind,
      rel,
      anchor: null,
      ...(hreflang !== undefined && kind === 'alternate' && {hreflang}),
    });
  }
  return links;
}

/** Links that a page states without an element for them: where it refreshes to, and its URL by Open Graph. */
function statedLinks(refreshUrl: string | null | undefined, graph: ReturnType<typeof openGraph>): RawLink[] {
  const own = graph?.['og:url'];
  const links: RawLink[] = [
    ...(refreshUrl
      ? [{href: refreshUrl.trim(), kind: 'meta_refresh', rel: null, anchor: null} as const]
      : []),
    ...(typeof own === 'string'
      ? [{href: own.trim(), kind: 'og_url', rel: null, anchor: null} as const]
      : []),
  ];
  return links.filter(({href}) => !leadsNowhere(href));
}

function refreshOfHeader(
  fields: ReadonlyMap<string, readonly string[]>,
): {seconds: number; url: string | null} | undefined {
  const value = fields.get('refresh')?.[0];
  return value === undefined ? undefined : parseMetaRefresh(value);
}

/** Declared languages in their order, comma separated; what is no language tag is left out. Null without any. */
function languages(declared: string | null | undefined): string | null {
  const tags = (declared ?? '')
    .split(',', maxLanguages)
    .map((tag) => tag.trim())
    .filter((tag) => /^[a-zA-Z]{1,8}(?:[-_][a-zA-Z0-9]{1,8})*$/.test(tag));
  return tags.length === 0 ? null : [...new Set(tags)].join(',');
}

/** Chosen: no page is in more. */
const maxLanguages = 50;

const blank: PageColumns = {
  status: 'success',
  reason: null,
  errors: null,
  content_mime_type: null,
  content_mime_detected: null,
  content_charset: null,
  charset_source: null,
  content_languages: null,
  lang_declared: null,
  title: null,
  description: null,
  headings: null,
  text: null,
  main_text: null,
  text_length: null,
  meta_refresh_s: null,
  robots_noindex: null,
  robots_nofollow: null,
  robots_noarchive: null,
  robots_directives: null,
  published_time: null,
  modified_time: null,
  open_graph: null,
  json_ld: null,
  signature: null,
  text_signature: null,
  simhash: null,
  body_length: null,
  body_truncated: null,
};
