import type {Config} from '../config/settings.ts';
import type {Outlink} from '../schema/outlinks.ts';
import {makeScope, type RuleFile} from '../scope/scope.ts';
import {identify} from '../url/keys.ts';
import {normalizeUrl, parseBase, urlPolicy} from '../url/normalize.ts';
import {pageOptions} from './options.ts';
import {baseOf, linkRows} from './outlinks.ts';
import {type PageInput, type ParsedPage, parsePage} from './page.ts';

/** A document to try, with what a server would say of it. */
export interface ParseCheckInput {
  readonly body: Uint8Array;
  readonly url?: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
}

/** What a parse would record, as the columns of `parse` and `outlinks` have it. */
export interface ParseCheck {
  readonly status: string;
  readonly reason: string | null;
  readonly charset: string | null;
  readonly charset_source: string | null;
  readonly mime_type: string | null;
  readonly mime_detected: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly lang: string | null;
  readonly lang_declared: string | null;
  readonly text_length: number | null;
  readonly main_text_length: number | null;
  readonly canonical: string | null;
  readonly base: string | null;
  readonly meta_refresh: {readonly seconds: number; readonly url: string | null} | null;
  readonly robots: {readonly noindex: boolean; readonly nofollow: boolean; readonly noarchive: boolean};
  readonly published: string | null;
  readonly modified: string | null;
  /** Hex. */
  readonly signature: string | null;
  readonly text_signature: string | null;
  /** Hex, 16 digits. */
  readonly simhash: string | null;
  readonly outlinks: readonly CheckedLink[];
  readonly outlinks_cut: number;
  readonly errors: readonly string[];
}

export interface CheckedLink {
  readonly url: string | null;
  readonly href: string;
  readonly kind: string;
  readonly anchor: string | null;
  readonly rel: string | null;
  readonly accepted: boolean;
  readonly reason: string | null;
  readonly rule: string | null;
}

/** A document as a parse reads it. */
export interface ReadDocument {
  readonly input: PageInput;
  readonly page: ParsedPage;
  readonly rows: readonly Outlink[];
  /** Links beyond the limit. */
  readonly cut: number;
  /** Base of relative links. */
  readonly base: string;
  resolve(href: string | null): string | null;
}

type ReadConfig = Pick<Config, 'parse' | 'links' | 'agent' | 'url' | 'scope'>;
interface ReadTexts {
  readonly urlRules?: RuleFile;
  readonly scopeFiles: readonly RuleFile[];
}

/** Reads a document with the configuration of a crawl. Pure. */
export function readDocument(
  input: ParseCheckInput,
  config: ReadConfig,
  texts: ReadTexts = {scopeFiles: []},
): ReadDocument {
  const policy = urlPolicy(config.url, texts.urlRules);
  const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
  const given = normalizeUrl(input.url ?? 'http://localhost/', policy);
  const url = 'url' in given ? given.url : 'http://localhost/';
  const pageInput = {
    url,
    header: null,
    contentType: input.contentType ?? null,
    contentEncoding: input.contentEncoding ?? null,
    payload: input.body,
  };
  const page = parsePage(pageInput, pageOptions(config));
  const base = baseOf(url, page.base);
  const identity = identify(url);
  const {rows, cut} = linkRows(
    page.links,
    page.linkLimit,
    {
      segment: '',
      parse_id: '',
      capture_id: '',
      host_key: identity.host_key,
      url_key: identity.url_key,
      url,
      fetch_time: new Date(0),
      depth: 0,
      seed: null,
      base: parseBase(base),
      nofollow: page.columns.robots_nofollow === true,
    },
    {
      url: policy,
      scope,
      digest: scope.digest,
      follow: new Set(config.links.follow),
      nofollow: config.links.nofollow,
      seedScopes: {},
    },
  );
  const resolve = (href: string | null): string | null => {
    const target = href === null ? undefined : normalizeUrl(href, policy, base);
    return target !== undefined && 'url' in target ? target.url : null;
  };
  return {input: pageInput, page, rows, cut, base, resolve};
}

/** For `crawl check parse`: what the parsers make of a document, with the configuration of a crawl. Pure. */
export function checkParse(input: ParseCheckInput, config: ReadConfig, texts?: ReadTexts): ParseCheck {
  const {input: pageInput, page, rows, cut, base, resolve} = readDocument(input, config, texts);
  const {columns} = page;
  const hex = (bytes: Uint8Array | null): string | null =>
    bytes === null ? null : Buffer.from(bytes).toString('hex');
  return {
    status: columns.status,
    reason: columns.reason,
    charset: columns.content_charset,
    charset_source: columns.charset_source,
    mime_type: columns.content_mime_type,
    mime_detected: columns.content_mime_detected,
    title: columns.title,
    description: columns.description,
    lang: columns.content_languages,
    lang_declared: columns.lang_declared,
    text_length: columns.text_length,
    main_text_length: columns.main_text?.length ?? null,
    canonical: resolve(page.canonical),
    base: base === pageInput.url ? null : base,
    meta_refresh:
      columns.meta_refresh_s === null
        ? null
        : {seconds: columns.meta_refresh_s, url: resolve(page.refreshUrl)},
    robots: {
      noindex: columns.robots_noindex === true,
      nofollow: columns.robots_nofollow === true,
      noarchive: columns.robots_noarchive === true,
    },
    published: columns.published_time?.toISOString() ?? null,
    modified: columns.modified_time?.toISOString() ?? null,
    signature: hex(columns.signature),
    text_signature: hex(columns.text_signature),
    simhash: columns.simhash === null ? null : columns.simhash.toString(16).padStart(16, '0'),
    outlinks: rows.map(({to_url, href, kind, anchor, rel, accepted, reason, rule}) => ({
      url: to_url,
      href,
      kind,
      anchor,
      rel,
      accepted,
      reason,
      rule,
    })),
    outlinks_cut: cut + page.linksCut,
    errors: columns.errors === null ? [] : (JSON.parse(columns.errors) as string[]), // written by parsePage
  };
}
