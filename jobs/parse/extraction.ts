import type {Counters} from '../../lib/counters.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {PageLink} from '../../lib/extract/contract.ts';
import {tableOf} from '../../lib/extract/declaration.ts';
import {type ParsedFacts, StoredPage} from '../../lib/extract/page.ts';
import {type Extracted, type LoadedExtractor, runExtractor} from '../../lib/extract/run.ts';
import type {PageInput, PageOptions} from '../../lib/parse/page.ts';
import type {Received} from '../../lib/parse/receive.ts';
import {extractions} from '../../lib/schema/extractions.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {Table} from '../../lib/schema/table.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {TableFile} from '../../lib/store/store.ts';
import type {ExtractorOrder} from '../extract/describe.ts';
import {loadExtractor, maxLoadMs} from '../extract/load.ts';
import {digestOf} from '../extract/source.ts';
import type {Skip, TaskContext} from '../job.ts';

/** What an extraction needs to know of a capture. */
export type ExtractCapture = Pick<
  Capture,
  'capture_id' | 'kind' | 'host_key' | 'url_key' | 'url' | 'fetch_time' | 'fetch_status'
>;

export interface ExtractionParams {
  readonly segment: string;
  /** Parse that the rows stand beside. */
  readonly parseId: string;
  readonly orders: readonly ExtractorOrder[];
  /** Longest time of one extractor for one page, ms. */
  readonly timeoutMs: number;
  /** Longest time of a parse that an extractor asks for, ms; it is not the extractor's. */
  readonly parseTimeoutMs: number;
  readonly options: PageOptions;
  readonly skip: readonly Skip[];
}

/** A page that is at hand, and a way to what a parse makes of it. */
export interface ExtractInput {
  readonly input: PageInput;
  received(): Received;
  parse(): ParsedFacts;
}

/**
 * Pages of a task that may end their thread before an extractor is not run any more in that task. Chosen: each costs
 * the time limit, and the task begins anew.
 */
export const maxLost = 5;

/** Slots of an extractor's rows, and of what came of each page. */
export function extractSlots(segment: string, extractor: string, parseId: string) {
  return {
    rows: `segments/${segment}/extract/${extractor}/${parseId}`,
    outcomes: `segments/${segment}/extractions/${extractor}/${parseId}`,
  };
}

/**
 * Runs extractors on the pages of a task, and writes two files each: rows, and what came of each page. An exception
 * is a row; a page on which the extractor hangs or ends the thread is one at the next attempt (`skip`).
 */
export class Extraction {
  readonly counters: Counters = {
    pages_extracted_total: 0,
    extractions_failed_total: 0,
    rows_extracted_total: 0,
    extract_seconds_total: 0,
  };
  readonly reasons: Partial<Record<Reason, number>> = {};
  readonly #params: ExtractionParams;
  readonly #ctx: TaskContext;
  readonly #runners: readonly Runner[];
  readonly #skip: ReadonlyMap<string, Skip>;

  private constructor(params: ExtractionParams, ctx: TaskContext, runners: readonly Runner[]) {
    this.#params = params;
    this.#ctx = ctx;
    this.#runners = runners;
    this.#skip = new Map(params.skip.map((skip) => [skip.key, skip]));
  }

  /** Loads the extractors. Throws EXTRACTOR_INVALID for one whose file is not as it was when the job was planned. */
  static async open(params: ExtractionParams, ctx: TaskContext): Promise<Extraction> {
    const runners: Runner[] = [];
    for (const order of params.orders) {
      if (order.yaml === undefined && (await digestOf(order.path)) !== order.digest)
        throw new CrawlError('EXTRACTOR_INVALID', `${order.path} was changed while the parse ran`, {
          facts: {file: order.path},
          hint: 'Run it again.',
        });
      const slots = extractSlots(params.segment, order.declaration.name, params.parseId);
      const loading = guardKey('', order.declaration.name);
      const lost = params.skip.find(({key}) => key === loading);
      if (lost !== undefined)
        throw new CrawlError('EXTRACTOR_INVALID', `${order.path} cannot be loaded: ${lost.detail}`, {
          facts: {file: order.path},
        });
      ctx.guard?.(loading, maxLoadMs);
      runners.push({
        order,
        extractor: await loadExtractor(order),
        rows: await ctx.store.create(tableOf(order.declaration), slots.rows),
        outcomes: await ctx.store.create(extractions, slots.outcomes),
        lost: 0,
      });
    }
    ctx.guard?.(null);
    return new Extraction(params, ctx, runners);
  }

  /** Runs all extractors on a page. */
  async page(capture: ExtractCapture, at: ExtractInput): Promise<void> {
    let key = '';
    const page = new StoredPage({
      ...at,
      parse: () => {
        this.#ctx.guard?.(key, this.#params.parseTimeoutMs);
        const parsed = at.parse();
        this.#ctx.guard?.(key, this.#params.timeoutMs);
        return parsed;
      },
      captureId: capture.capture_id,
      segment: this.#params.segment,
      kind: capture.kind,
      fetchTime: capture.fetch_time,
      fetchStatus: capture.fetch_status,
      options: this.#params.options,
    });
    for (const runner of this.#runners) {
      key = guardKey(capture.capture_id, runner.order.declaration.name);
      const started = this.#ctx.monotonic();
      const outcome = this.#skipped(runner, key) ?? this.#run(runner, key, page);
      await this.#write(runner, capture, outcome, this.#ctx.monotonic() - started);
    }
  }

  /** A capture without a payload that could be read. */
  async none(capture: ExtractCapture, reason: 'empty' | 'parse_failed', error: string): Promise<void> {
    for (const runner of this.#runners)
      await this.#write(
        runner,
        capture,
        {status: reason === 'empty' ? 'skipped' : 'failed', reason, error, rows: []},
        0,
      );
  }

  async close(): Promise<FileRef[]> {
    const files: FileRef[] = [];
    for (const {rows, outcomes} of this.#runners) files.push(await rows.close(), await outcomes.close());
    return files;
  }

  async discard(): Promise<void> {
    for (const {rows, outcomes} of this.#runners) {
      await rows.discard();
      await outcomes.discard();
    }
  }

  #run(runner: Runner, key: string, page: StoredPage): Extracted {
    this.#ctx.guard?.(key, this.#params.timeoutMs);
    return runExtractor(runner.extractor, page);
  }

  /** What came of a page that ended its thread, and of those behind the last that may. */
  #skipped(runner: Runner, key: string): Extracted | undefined {
    const skip = this.#skip.get(key);
    if (skip !== undefined) {
      runner.lost++;
      const reason = skip.reason === 'parse_timeout' ? 'extract_timeout' : 'extract_failed';
      return {status: 'failed', reason, error: skip.detail, rows: []};
    }
    if (runner.lost < maxLost) return undefined;
    return {status: 'skipped', reason: 'extract_stopped', error: `stopped on ${runner.lost} pages`, rows: []};
  }

  async #write(runner: Runner, capture: ExtractCapture, outcome: Extracted, ms: number): Promise<void> {
    const {order, rows, outcomes} = runner;
    const {capture_id, host_key, url_key, url} = capture;
    const {segment, parseId: parse_id} = this.#params;
    const identity = {segment, parse_id, capture_id, host_key, url_key, url};
    await rows.write(outcome.rows.map((row, position) => ({...identity, position, ...row})));
    await outcomes.write([
      {
        ...identity,
        extractor: order.declaration.name,
        digest: order.digest,
        status: outcome.status,
        reason: outcome.reason,
        error: outcome.error,
        rows: outcome.rows.length,
        extract_ms: ms,
      },
    ]);
    const {counters} = this;
    if (outcome.status === 'success' || outcome.status === 'partial') counters.pages_extracted_total! += 1;
    if (outcome.status === 'failed') counters.extractions_failed_total! += 1;
    counters.rows_extracted_total! += outcome.rows.length;
    counters.extract_seconds_total! += ms / 1000;
    // Pages of other types are no news
    if (outcome.reason !== null && outcome.reason !== 'extract_type')
      this.reasons[outcome.reason] = (this.reasons[outcome.reason] ?? 0) + 1;
  }
}

interface Runner {
  readonly order: ExtractorOrder;
  readonly extractor: LoadedExtractor;
  readonly rows: TableFile<Table>;
  readonly outcomes: TableFile<typeof extractions>;
  /** Pages so far on which it ended its thread at a former attempt. */
  lost: number;
}

/** What a thread works on while an extractor runs: with it the page is left out at the next attempt, and only for that extractor. */
function guardKey(captureId: string, extractor: string): string {
  return `${captureId} ${extractor}`;
}

/** Links as extractors see them. */
export function pageLinks(links: readonly PageLink[]): PageLink[] {
  return links.map(({to_url, href, kind, anchor, rel, accepted, reason, position}) => ({
    to_url,
    href,
    kind,
    anchor,
    rel,
    accepted,
    reason,
    position,
  }));
}
