import {createHash} from 'node:crypto';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import {type Reason, reasonFacts} from '../../lib/schema/reason.ts';
import type {FetchStatus} from '../../lib/schema/status.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {simhash} from '../../lib/signature/simhash.ts';
import {identify} from '../../lib/url/keys.ts';
import {commitRows, type JobHarness} from './job-harness.ts';

/** A made-up web for tests of the database jobs: what a fetch and a parse would have written about it. */
export interface SmallPage {
  readonly status: FetchStatus;
  readonly reason?: Reason;
  readonly code?: number;
  /** Its text; equal bodies are duplicates. */
  readonly body?: string;
  readonly links?: readonly string[];
  /** What the rows of its links say besides. */
  readonly linkFacts?: (to: string) => Partial<Outlink>;
  readonly redirect?: string;
  readonly canonical?: string;
  readonly etag?: string;
  readonly parseFails?: boolean;
  /** The fingerprint of its text is stored; traps are judged by it. */
  readonly fingerprint?: boolean;
}
export type SmallWeb = (url: string) => SmallPage;

export interface FetchSettings {
  /** Most redirects followed in the segment itself. */
  readonly follow?: number;
  /** Name of the parse; none if null. */
  readonly parse?: string | null;
}

export const page = (
  body: string,
  links: readonly string[] = [],
  more: Partial<SmallPage> = {},
): SmallPage => ({
  status: 'success',
  code: 200,
  body,
  links,
  ...more,
});

/** Fetches and parses a segment: its rows are committed, its state is `fetched`. A request takes a second. */
export async function fetchSegment(
  crawl: JobHarness,
  segment: string,
  web: SmallWeb,
  {follow = 0, parse = 'p1'}: FetchSettings = {},
): Promise<void> {
  const list = await crawl.sql<FetchlistRow>(
    `SELECT * FROM fetchlist WHERE segment = '${segment}' ORDER BY rank`,
  );
  const asked = new Set(list.map(({url}) => url));
  const exchanges: Exchange[] = [];
  for (const entry of list) {
    let url = entry.url;
    for (let hop = 0; ; hop++) {
      crawl.effects.pass(1000);
      const answer = web(url);
      exchanges.push({entry, url, hop, answer, time: crawl.effects.now()});
      if (answer.redirect === undefined || hop >= follow || asked.has(answer.redirect)) break;
      url = answer.redirect;
      asked.add(url);
    }
  }
  await commitExchanges(crawl, segment, exchanges, parse);
}

interface Exchange {
  readonly entry: FetchlistRow;
  readonly url: string;
  readonly hop: number;
  readonly answer: SmallPage;
  readonly time: number;
}

async function commitExchanges(
  crawl: JobHarness,
  segment: string,
  exchanges: readonly Exchange[],
  parse: string | null,
): Promise<void> {
  const rows = exchanges.map((exchange) => captureRow(segment, exchange)).sort(byKey);
  const parsed = parse === null ? [] : parseTables(crawl, segment, parse, exchanges);
  await commitRows(
    crawl,
    [
      {slot: `segments/${segment}/fetch`, table: 'fetch', rows},
      {slot: `segments/${segment}/content`, table: 'content', rows: []},
      ...parsed,
    ],
    {
      [segment]: {
        state: 'fetched',
        fetched_time: new Date(crawl.effects.now()).toISOString(),
        ...(parse !== null && {current: parse}),
      },
    },
  );
}

/** Parses a fetched segment, again or for the first time, with the web as it is told now; the new parse is current. */
export async function parseSegment(
  crawl: JobHarness,
  segment: string,
  web: SmallWeb,
  parse: string,
): Promise<void> {
  const list = await crawl.sql<FetchlistRow>(
    `SELECT * FROM fetchlist WHERE segment = '${segment}' ORDER BY rank`,
  );
  const captures = await crawl.sql<Capture>(`SELECT * FROM captures WHERE segment = '${segment}'`);
  const exchanges = captures.map((capture) => ({
    entry: list.find(({url}) => url === capture.origin_url)!,
    url: capture.url,
    hop: capture.hop,
    answer: web(capture.url),
    time: capture.fetch_time.getTime(),
  }));
  await commitRows(crawl, parseTables(crawl, segment, parse, exchanges), {[segment]: {current: parse}});
}

function parseTables(crawl: JobHarness, segment: string, parse: string, exchanges: readonly Exchange[]) {
  const scope = makeScope(crawl.config.scope, crawl.config.url, crawl.config.links, []);
  const bodies = exchanges.filter(({answer}) => answer.body !== undefined);
  const links = bodies.flatMap((exchange) =>
    (exchange.answer.links ?? []).map((to, position): Outlink => {
      const {entry, url, time, hop} = exchange;
      const from = identify(url);
      const target = identify(to);
      const verdict = scope.check({
        url: to,
        depth: entry.depth + 1,
        hopType: 'L',
        from: url,
        seed: entry.seed,
      });
      return {
        segment,
        parse_id: parse,
        capture_id: captureId(segment, url, hop),
        position,
        from_host_key: from.host_key,
        from_url_key: from.url_key,
        from_url: url,
        fetch_time: new Date(time),
        to_host_key: target.host_key,
        to_url_key: target.url_key,
        to_url: to,
        to_host_name: target.url_host_name,
        to_registered_domain: target.url_host_registered_domain,
        href: to,
        anchor: `to ${to}`,
        rel: null,
        kind: 'a',
        hop_type: 'L',
        depth: entry.depth + 1,
        seed: entry.seed,
        lastmod: null,
        sitemap_priority: null,
        sitemap_changefreq: null,
        hreflang: null,
        accepted: verdict.accepted,
        reason: verdict.accepted ? null : verdict.reason,
        rule: null,
        rules_digest: scope.digest,
        ...exchange.answer.linkFacts?.(to),
      };
    }),
  );
  return [
    {
      slot: `segments/${segment}/parse/${parse}`,
      table: 'parse',
      rows: bodies.map((exchange) => parseRow(segment, parse, exchange)),
    },
    {slot: `segments/${segment}/outlinks/${parse}`, table: 'outlinks', rows: links},
  ] as const;
}

const captureId = (segment: string, url: string, hop: number) => `${segment}-${hop}-${identify(url).url_key}`;

function byKey(
  a: Pick<CrawlDatum, 'host_key' | 'url_key'>,
  b: Pick<CrawlDatum, 'host_key' | 'url_key'>,
): number {
  if (a.host_key !== b.host_key) return a.host_key < b.host_key ? -1 : 1;
  return a.url_key < b.url_key ? -1 : a.url_key > b.url_key ? 1 : 0;
}

export function signatureOf(body: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(body).digest().subarray(0, 16));
}

function captureRow(segment: string, {entry, url, hop, answer, time}: Exchange): Capture {
  const payload = answer.body !== undefined;
  // As fetch has it: an empty payload is stored nowhere, and a 304 speaks of the one that is held.
  const held = answer.status === 'notmodified' ? entry : null;
  return {
    segment,
    capture_id: captureId(segment, url, hop),
    kind: hop === 0 ? entry.kind : 'hop',
    ...identify(url),
    origin_url: entry.url,
    hop,
    depth: entry.depth,
    seed: entry.seed,
    status: answer.status,
    reason: answer.reason ?? null,
    reason_detail: null,
    fetch_time: new Date(time),
    fetch_status: answer.code ?? null,
    fetch_redirect: answer.redirect ?? null,
    heritrix_status: answer.reason === undefined ? null : (reasonFacts(answer.reason).heritrix ?? null),
    request_header: null,
    response_header: null,
    ip_address: null,
    protocol: null,
    tls_version: null,
    tls_cipher: null,
    dns_ms: null,
    connect_ms: null,
    first_byte_ms: null,
    total_ms: null,
    content_mime_type: payload ? 'text/html' : null,
    content_encoding: null,
    content_digest: payload
      ? createHash('sha1').update(answer.body).digest('hex')
      : (held?.content_digest ?? null),
    content_sha256: payload ? createHash('sha256').update(answer.body).digest('hex') : null,
    content_length: payload ? Buffer.byteLength(answer.body) : null,
    content_truncated: null,
    content_segment: payload && answer.body !== '' ? segment : (held?.content_segment ?? null),
    etag: answer.etag ?? null,
    last_modified: null,
    retry_after_s: null,
    delay_ms: null,
    tls_verified: null,
    proxy: null,
    soft_404: null,
  };
}

function parseRow(segment: string, parse: string, {url, hop, answer}: Exchange): ParseRow {
  const {host_key, url_key} = identify(url);
  const failed = answer.parseFails === true;
  return {
    segment,
    parse_id: parse,
    capture_id: captureId(segment, url, hop),
    host_key,
    url_key,
    url,
    status: failed ? 'failed' : 'success',
    reason: failed ? 'parse_failed' : null,
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
    canonical_url: answer.canonical ?? null,
    base_url: null,
    meta_refresh_url: null,
    meta_refresh_s: null,
    robots_noindex: null,
    robots_nofollow: null,
    robots_noarchive: null,
    robots_directives: null,
    published_time: null,
    modified_time: null,
    open_graph: null,
    json_ld: null,
    signature: failed ? null : signatureOf(answer.body ?? ''),
    text_signature: null,
    simhash: failed || answer.fingerprint !== true ? null : simhash(answer.body ?? ''),
    body_length: null,
    body_truncated: null,
    outlinks: answer.links?.length ?? 0,
    outlinks_cut: 0,
    parse_ms: 0,
  };
}
