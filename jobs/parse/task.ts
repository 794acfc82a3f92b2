import type {Config} from '../../lib/config/settings.ts';
import type {Counters} from '../../lib/counters.ts';
import {pageOptions} from '../../lib/parse/options.ts';
import {baseOf, type LinkPolicy, type LinkSource, linkRows, redirectRow} from '../../lib/parse/outlinks.ts';
import {
  failedColumns,
  type PageColumns,
  type PageInput,
  type PageOptions,
  type ParsedPage,
  parsePage,
} from '../../lib/parse/page.ts';
import {type Received, receive} from '../../lib/parse/receive.ts';
import {type Capture, fetch} from '../../lib/schema/fetch.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import {makeScope, type Stay} from '../../lib/scope/scope.ts';
import {type Voucher, voucherIndex} from '../../lib/sitemap/vouchers.ts';
import {TableReader} from '../../lib/store/parquet-read.ts';
import {normalizeUrl, parseBase, type UrlPolicy, urlPolicy} from '../../lib/url/normalize.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import type {ExtractorOrder} from '../extract/describe.ts';
import type {Skip, Task, TaskContext, TaskResult} from '../job.ts';
import {Extraction} from './extraction.ts';
import {type CaptureParser, TaskOutput} from './output.ts';
import {PayloadGroups} from './payloads.ts';

/** What a parse task needs beside its files: plain data. */
export interface ParseParams {
  readonly segment: string;
  readonly parseId: string;
  /** Rows [from, to) of the fetch file, which is the first input. */
  readonly from: number;
  readonly to: number;
  /** Share of the segment's captures that lie before these, in earlier fetch files and in this one, 0 to 1. */
  readonly share: number;
  /** Of these rows only some, as ranges in order; all if absent. */
  readonly picks?: readonly (readonly [from: number, to: number])[];
  readonly config: Pick<Config, 'agent' | 'parse' | 'links' | 'scope' | 'url'>;
  readonly texts: PolicyTexts;
  /** How far links may lead from a seed, for seeds whose line says so. */
  readonly seedScopes: Readonly<Record<string, Stay>>;
  /** Sitemaps that were redirected: what their hops brought is read as a sitemap. */
  readonly sitemaps: readonly string[];
  /** Who answers for sitemaps of other hosts. */
  readonly vouchers: readonly Voucher[];
  readonly extractors: readonly ExtractorOrder[];
  /** The parse is there already: extractors alone run. */
  readonly parsed: boolean;
  readonly skip?: readonly Skip[];
}

const fetchColumns = [
  'capture_id',
  'kind',
  'host_key',
  'url_key',
  'url',
  'origin_url',
  'depth',
  'seed',
  'status',
  'fetch_time',
  'fetch_status',
  'fetch_redirect',
  'response_header',
  'content_mime_type',
  'content_encoding',
  'content_sha256',
  'content_length',
] as const;
type FetchRow = Pick<Capture, (typeof fetchColumns)[number]>;

/** Captures held at a time: with their headers some 2 MB. Chosen: a row group of payloads serves most of them. */
const captureBatch = 2000;

/**
 * Parses the captures of a part of a fetch file. Runs in a worker thread, reads with hyparquet, never loads DuckDB.
 * Held in memory: a batch of captures, a few megabytes of payloads, and what the two files hold of a row group.
 */
export async function runTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as ParseParams; // made by the plan
  const [fetchFile, ...contentFiles] = task.inputs;
  const output = await openOutput(params, ctx);
  try {
    const captures = await readCaptures(ctx.store.path(fetchFile!), params);
    const payloads = await PayloadGroups.open(contentFiles.map((file) => ctx.store.path(file)));
    const own = contentFiles.filter(({key}) => key.startsWith(`segments/${params.segment}/content/`));
    payloads.startAt(params.share, new Set(own.map((file) => ctx.store.path(file))));
    for (let from = 0; from < captures.length; from += captureBatch) {
      ctx.signal.throwIfAborted();
      const batch = captures.slice(from, from + captureBatch);
      for (const capture of batch) if (isRedirect(capture)) await output.redirect(capture);
      await parseBatch(batch.filter(isPage), payloads, output, ctx);
      ctx.progress({
        done: Math.min(from + captureBatch, captures.length),
        total: captures.length,
        unit: 'captures',
      });
    }
    return {files: await output.close(), counters: output.counters, reasons: output.reasons};
  } catch (error) {
    await output.discard();
    throw error;
  }
}

async function openOutput(params: ParseParams, ctx: TaskContext): Promise<TaskOutput<FetchRow>> {
  const {segment, parseId, parsed, extractors: orders, config, skip = []} = params;
  const {guard: _unguarded, ...quiet} = ctx;
  const worker = new ParseWorker(params, parsed ? quiet : ctx);
  const {extractor_timeout: timeoutMs, timeout: parseTimeoutMs} = config.parse;
  const extraction =
    orders.length === 0
      ? undefined
      : await Extraction.open(
          {segment, parseId, orders, timeoutMs, parseTimeoutMs, options: worker.options, skip},
          ctx,
        );
  return TaskOutput.open({segment, parseId, parsed}, worker, extraction, ctx);
}

function isRedirect(capture: FetchRow): boolean {
  return (
    (capture.status === 'redir_temp' || capture.status === 'redir_perm') &&
    capture.fetch_redirect !== null &&
    isDocument(capture.kind)
  );
}

/** Pages, targets of redirects, sitemaps, renderings, imports; not robots.txt, nor what a random path brought. */
function isDocument(kind: FetchRow['kind']): boolean {
  return kind !== 'robots' && kind !== 'probe';
}

/** Captures whose content is a document. */
function isPage(capture: FetchRow): boolean {
  return capture.status === 'success' && isDocument(capture.kind);
}

async function readCaptures(path: string, params: ParseParams): Promise<FetchRow[]> {
  const reader = await TableReader.open(fetch, path);
  try {
    const captures: FetchRow[] = [];
    for (const group of reader.groups) {
      const from = Math.max(0, params.from - group.firstRow);
      const to = Math.min(group.rows, params.to - group.firstRow);
      if (from >= to) continue;
      const rows = await reader.rows(group.index, {columns: fetchColumns, from, to});
      for (const row of pickedRows(rows, group.firstRow + from, params.picks))
        if (isPage(row) || isRedirect(row)) captures.push(row);
    }
    return captures;
  } finally {
    reader.close();
  }
}

/** Of rows from `first` on those in the ranges, or all. */
function pickedRows<R>(rows: readonly R[], first: number, picks: ParseParams['picks']): readonly R[] {
  return picks === undefined
    ? rows
    : picks.flatMap(([from, to]) => rows.slice(Math.max(0, from - first), Math.max(0, to - first)));
}

/** Parses captures in the order in which their payloads lie in the files, so that each row group is read once. */
async function parseBatch(
  captures: readonly FetchRow[],
  payloads: PayloadGroups,
  output: TaskOutput<FetchRow>,
  ctx: TaskContext,
): Promise<void> {
  const byDigest = new Map<string, FetchRow[]>();
  for (const capture of captures) {
    if (capture.content_sha256 === null || capture.content_length === 0) {
      await output.none(capture, 'empty', 'no payload');
      continue;
    }
    const same = byDigest.get(capture.content_sha256);
    if (same === undefined) byDigest.set(capture.content_sha256, [capture]);
    else same.push(capture);
  }
  for await (const {content_sha256, payload} of payloads.read(byDigest)) {
    const here = byDigest.get(content_sha256)!; // asked for
    byDigest.delete(content_sha256);
    for (const capture of here) await output.page(capture, payload);
    ctx.guard?.(null); // what is read next is not this page's time
  }
  for (const lost of byDigest.values())
    for (const capture of lost)
      await output.none(capture, 'parse_failed', `payload ${capture.content_sha256} is not there`);
}

/** Captures to rows; counts what it does. */
class ParseWorker implements CaptureParser<FetchRow> {
  readonly counters: Counters = {
    captures_parsed_total: 0,
    captures_failed_total: 0,
    captures_skipped_total: 0,
    outlinks_total: 0,
    outlinks_rejected_total: 0,
    parse_seconds_total: 0,
  };
  readonly reasons: Partial<Record<Reason, number>> = {};
  readonly #params: ParseParams;
  readonly #ctx: TaskContext;
  readonly options: PageOptions;
  readonly #url: UrlPolicy;
  readonly #links: LinkPolicy;
  readonly #skip: ReadonlyMap<string, Skip>;
  readonly #sitemaps: ReadonlySet<string>;

  constructor(params: ParseParams, ctx: TaskContext) {
    const {config, texts} = params;
    this.#params = params;
    this.#ctx = ctx;
    this.options = pageOptions(config);
    this.#url = urlPolicy(config.url, texts.urlRules);
    const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
    this.#links = {
      url: this.#url,
      scope,
      digest: scope.digest,
      follow: new Set(config.links.follow),
      nofollow: config.links.nofollow,
      seedScopes: params.seedScopes,
      namedBy: voucherIndex(params.vouchers),
    };
    this.#sitemaps = new Set(params.sitemaps);
    this.#skip = new Map(params.skip?.map((skip) => [skip.key, skip]));
  }

  input(capture: FetchRow, payload: Uint8Array): PageInput {
    return {
      url: capture.url,
      header: capture.response_header,
      contentType: capture.content_mime_type,
      contentEncoding: capture.content_encoding,
      payload,
      asSitemap:
        capture.kind === 'sitemap' || (capture.kind === 'hop' && this.#sitemaps.has(capture.origin_url)),
    };
  }

  receive(input: PageInput): Received {
    return receive(input, this.options);
  }

  page(capture: FetchRow, input: PageInput, received: () => Received): [ParseRow, readonly Outlink[]] {
    const skip = this.#skip.get(capture.capture_id);
    if (skip !== undefined) return this.skipped(capture, skip.reason, skip.detail);
    this.#ctx.guard?.(capture.capture_id, this.#params.config.parse.timeout);
    const started = this.#ctx.monotonic();
    let page: ParsedPage;
    try {
      page = parsePage(input, this.options, received());
    } catch (error) {
      return this.skipped(capture, 'parse_failed', error instanceof Error ? error.message : String(error));
    }
    const base = baseOf(capture.url, page.base);
    const source = this.#source(capture, parseBase(base), page.columns.robots_nofollow === true);
    const {rows, cut} = linkRows(page.links, page.linkLimit, source, this.#links);
    const ms = this.#ctx.monotonic() - started;
    const resolve = (href: string | null): string | null => {
      if (href === null) return null;
      const target = normalizeUrl(href, this.#url, source.base);
      return 'url' in target ? target.url : null;
    };
    const row = this.#row(capture, page.columns, {
      base_url: base === capture.url ? null : base,
      canonical_url: resolve(page.canonical),
      meta_refresh_url: resolve(page.refreshUrl),
      outlinks: rows.length,
      outlinks_cut: cut + page.linksCut,
      parse_ms: ms,
    });
    this.#count(row, rows, ms);
    return [row, rows];
  }

  /** The row of a capture that is not parsed. */
  skipped(
    capture: FetchRow,
    reason: 'empty' | 'parse_failed' | 'parse_timeout',
    detail: string,
  ): [ParseRow, readonly Outlink[]] {
    const columns = failedColumns(reason, detail);
    const row = this.#row(capture, columns, {
      base_url: null,
      canonical_url: null,
      meta_refresh_url: null,
      outlinks: 0,
      outlinks_cut: 0,
      parse_ms: 0,
    });
    this.#count(row, [], 0);
    return [row, []];
  }

  redirect(capture: FetchRow): readonly Outlink[] {
    const source = this.#source(capture, parseBase(capture.url), false);
    const row = redirectRow(capture.fetch_redirect!, source, this.#links);
    this.#countLinks([row]);
    return [row];
  }

  #source(capture: FetchRow, base: LinkSource['base'], nofollow: boolean): LinkSource {
    return {
      segment: this.#params.segment,
      parse_id: this.#params.parseId,
      capture_id: capture.capture_id,
      host_key: capture.host_key,
      url_key: capture.url_key,
      url: capture.url,
      fetch_time: capture.fetch_time,
      depth: capture.depth,
      seed: capture.seed,
      base,
      nofollow,
    };
  }

  /** Spreads one object, and that first, which V8 copies as a whole; any further one it takes over key by key. */
  #row(
    capture: FetchRow,
    columns: PageColumns,
    more: Omit<
      ParseRow,
      keyof PageColumns | 'segment' | 'parse_id' | 'capture_id' | 'host_key' | 'url_key' | 'url'
    >,
  ): ParseRow {
    return {
      ...columns,
      segment: this.#params.segment,
      parse_id: this.#params.parseId,
      capture_id: capture.capture_id,
      host_key: capture.host_key,
      url_key: capture.url_key,
      url: capture.url,
      base_url: more.base_url,
      canonical_url: more.canonical_url,
      meta_refresh_url: more.meta_refresh_url,
      outlinks: more.outlinks,
      outlinks_cut: more.outlinks_cut,
      parse_ms: more.parse_ms,
    };
  }

  #count(row: ParseRow, links: readonly Outlink[], ms: number): void {
    const name =
      row.status === 'failed'
        ? 'captures_failed_total'
        : row.status === 'skipped'
          ? 'captures_skipped_total'
          : 'captures_parsed_total';
    this.counters[name]! += 1;
    this.counters.parse_seconds_total! += ms / 1000;
    if (row.reason !== null) this.reasons[row.reason] = (this.reasons[row.reason] ?? 0) + 1;
    this.#countLinks(links);
  }

  #countLinks(links: readonly Outlink[]): void {
    this.counters.outlinks_total! += links.length;
    for (const {reason} of links) {
      if (reason === null) continue;
      this.counters.outlinks_rejected_total! += 1;
      this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    }
  }
}
