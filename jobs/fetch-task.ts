import {readFile, rm, statfs, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Config} from '../lib/config/settings.ts';
import {systemCode} from '../lib/errors.ts';
import {type FetchEnd, Fetcher} from '../lib/fetcher/fetcher.ts';
import {KeyMap} from '../lib/fetcher/key-map.ts';
import {Replay} from '../lib/fetcher/replay.ts';
import type {CaptureSink, KnownTargets} from '../lib/fetcher/settings.ts';
import type {SharedLimits} from '../lib/fetcher/shared.ts';
import type {HttpClient} from '../lib/http/exchange.ts';
import type {Capture} from '../lib/schema/fetch.ts';
import {fetchlist} from '../lib/schema/fetchlist.ts';
import {type HostRuleRow, hostrules, hoststate, hoststats, robots} from '../lib/schema/hostdb.ts';
import {seeds} from '../lib/schema/seeds.ts';
import type {Table} from '../lib/schema/table.ts';
import {makeScope, type Stay} from '../lib/scope/scope.ts';
import {crashPoint} from '../lib/store/crash-points.ts';
import {openCrawl} from '../lib/store/crawl.ts';
import {type JournalWriter, openJournal} from '../lib/store/journal.ts';
import {journalHistory, journalOutcomes} from '../lib/store/journal-read.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {hostOf, registeredDomain} from '../lib/url/host.ts';
import {urlPolicy} from '../lib/url/normalize.ts';
import {knownTargets} from './fetch-known.ts';
import {FetchSealer} from './fetch-seal.ts';
import {withSharedLimits} from './fetch-shared.ts';
import {httpClient} from './http-client.ts';
import type {Task, TaskContext, TaskResult} from './job.ts';
import type {PolicyTexts} from './policy-texts.ts';

/** Plain data of a fetch task. */
export interface FetchParams {
  readonly segment: string;
  /** Partition of the fetchlist. */
  readonly part: number;
  readonly partitions: number;
  readonly windowMs: number | null;
  readonly maxActive: number;
  readonly closed: boolean;
  readonly config: Config;
  readonly texts: PolicyTexts;
  /** Other segments that may have a journal: their last answers count for their hosts. */
  readonly unfinished: readonly string[];
}

/** Fetches one partition: loads what is known, runs the loop, and seals the journal when all is done. */
export function fetchTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as FetchParams; // made by fetch.ts
  const {config, maxActive} = params;
  return withSharedLimits(ctx.run, config, maxActive, (shared) => fetchPartition(task, params, ctx, shared));
}

async function fetchPartition(
  task: Task,
  params: FetchParams,
  ctx: TaskContext,
  shared: SharedLimits,
): Promise<TaskResult> {
  const {segment} = params;
  const folder = journalFolder(ctx, segment, params.part);
  const proven = await takeCleanMark(folder);
  const sealer = await FetchSealer.open(folder, task, params, ctx);
  const journal = await openJournal(folder, {
    sleep: (ms, signal) => ctx.sleep(ms, signal),
    rotateBytes: params.config.storage.journal_file,
    onRotated: (path) => sealer.rotated(path),
  });
  const sink = new JournalSink(journal, sealer);
  let end: FetchEnd;
  let fetcher: Fetcher;
  try {
    const notDue = knownTargets(task, params, ctx);
    const client = await httpClient(
      params.config,
      {env: ctx.env, dir: ctx.store.dir},
      {clients: params.partitions, maxActive: params.maxActive},
    );
    const scopes = await seedScopes(task, ctx);
    fetcher = makeFetcher(params, ctx, {sink, client, scopes, notDue, shared});
    await load(fetcher, task, params, ctx, folder, proven, notDue);
    end = await fetcher.run();
    await sink.settled();
  } finally {
    await journal.close();
    await sealer.idle();
  }
  sealer.check();
  crashPoint('journal_flushed');
  const {counters, reasons, stopped} = end;
  if (stopped !== null) {
    await writeFile(join(folder, cleanMark), '');
    ctx.log('info', 'fetch_paused', {segment, because: stopped, done: fetcher.work.worklist.done});
    return {files: [], counters, reasons, facts: {stopped}};
  }
  const sealed = await sealer.finish(fetcher.work);
  crashPoint('journal_sealed');
  return {
    files: sealed.files,
    counters: {
      ...counters,
      payloads_stored_total: sealed.stored,
      payloads_shared_total: sealed.shared,
      journal_rows_lost_total: sealed.lost,
    },
    reasons,
    facts: {stopped: null},
  };
}

function makeFetcher(
  params: FetchParams,
  ctx: TaskContext,
  parts: {
    readonly sink: CaptureSink;
    readonly client: HttpClient;
    readonly scopes: ReadonlyMap<string, Stay>;
    readonly notDue: KnownTargets;
    readonly shared: SharedLimits;
  },
): Fetcher {
  const {config, texts} = params;
  return new Fetcher({
    segment: params.segment,
    config,
    client: parts.client,
    sink: parts.sink,
    scope: makeScope(config.scope, config.url, config.links, texts.scopeFiles),
    urlPolicy: urlPolicy(config.url, texts.urlRules),
    seedScopes: parts.scopes,
    notDue: parts.notDue,
    shared: parts.shared,
    changedRules: rulesByHand(ctx.store.dir),
    effects: ctx,
    leaseOk: () => ctx.leaseOk(),
    progress: (point) => ctx.progress(point),
    maxActive: params.maxActive,
    windowMs: params.windowMs,
    closed: params.closed,
    freeBytes: async () => {
      const {bavail, bsize} = await statfs(ctx.store.dir);
      return bavail * bsize;
    },
  });
}

/** Fills the fetcher: the partition's URLs, what is known of their hosts, what the journal proves. */
async function load(
  fetcher: Fetcher,
  task: Task,
  {segment, part, config, unfinished}: FetchParams,
  ctx: TaskContext,
  folder: string,
  proven: boolean,
  notDue: KnownTargets,
): Promise<void> {
  const {work} = fetcher;
  const {done, begun} = await doneBefore(folder);
  for await (const row of rowsOf(task, ctx, fetchlist))
    if (row.partition === part) work.add(row, done.get(row.url_key) !== undefined);
  for await (const row of rowsOf(task, ctx, hoststate)) {
    const host = work.hosts.find(row.url_host_name);
    if (host) work.hosts.restore(host, row, fetcher.now());
  }
  for await (const row of rowsOf(task, ctx, hoststats)) {
    const host = work.hosts.find(row.url_host_name);
    if (host) host.pages += row.pages_fetched;
  }
  for await (const row of rowsOf(task, ctx, hostrules)) {
    const host = work.hosts.find(row.url_host_name);
    if (host) work.hosts.applyRule(host, row);
  }
  // Of all that is known, what this fetch may come to: hops stay on its registered domains.
  for await (const row of rowsOf(task, ctx, robots))
    if (work.hosts.hasDomain(registeredDomain(hostOf(row.origin)))) work.robots.load(row);
  const replay = new Replay(work, config);
  for (const other of unfinished)
    for await (const rows of journalOutcomes(journalFolder(ctx, other, part)))
      for (const row of rows) replay.takePoliteness(row, fetcher.now());
  if (!begun) return;
  await notDue.load();
  for await (const {row, payload} of journalHistory(folder)) replay.take(row, payload, fetcher.now());
  replay.finish(proven, fetcher.now());
  ctx.log('info', 'fetch_resumed', {segment, done: work.worklist.done, left: work.queues.waiting, proven});
}

/** URLs of the fetchlist that have their outcome in the journal. */
async function doneBefore(folder: string): Promise<{done: KeyMap; begun: boolean}> {
  const done = new KeyMap();
  let begun = false;
  for await (const rows of journalOutcomes(folder, ['kind', 'url_key']))
    for (const row of rows) {
      begun = true;
      if (row.kind === 'page' || row.kind === 'sitemap') done.set(row.url_key, 0);
    }
  return {done, begun};
}

async function seedScopes(task: Task, ctx: TaskContext): Promise<Map<string, Stay>> {
  const scopes = new Map<string, Stay>();
  for await (const {url, scope} of rowsOf(task, ctx, seeds))
    if (url !== null && scope !== null) scopes.set(url, scope);
  return scopes;
}

/** Reads the table hostrules of the present manifest each time that it has changed. */
function rulesByHand(dir: string): () => Promise<HostRuleRow[] | undefined> {
  let known: number | undefined;
  return async () => {
    const snapshot = await (await openCrawl(dir)).head();
    const version = snapshot.manifest.slots.hostrules?.version ?? 0;
    const before = known;
    known = version;
    if (before === undefined ? version === 0 : before === version) return undefined;
    const rules: HostRuleRow[] = [];
    for (const file of await snapshot.files('hostrules'))
      for await (const rows of readTable(hostrules, snapshot.store.path(file))) rules.push(...rows);
    return rules;
  };
}

async function* rowsOf<T extends Table>(task: Task, ctx: TaskContext, table: T) {
  for (const file of task.inputs)
    if (file.table === table.name)
      for await (const rows of readTable(table, ctx.store.path(file))) yield* rows;
}

/** The journal of a partition. */
export function journalFolder(ctx: TaskContext, segment: string, part: number): string {
  return join(ctx.store.journalDir(segment), `part-${part}`);
}

/** There after a clean stop: the journal holds all answers that there were. */
const cleanMark = 'clean';

/** Takes the mark away, so that it never outlives what it says. */
async function takeCleanMark(folder: string): Promise<boolean> {
  const path = join(folder, cleanMark);
  try {
    await readFile(path);
    await rm(path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Chosen: four batches of the journal, so that large payloads do not pile up before a slow disk. */
const mostPendingBytes = 32 * 2 ** 20;
const mostPending = 64;

/** Rows on their way into the journal; the fetch pauses while it writes. */
class JournalSink implements CaptureSink {
  readonly #journal: JournalWriter;
  readonly #sealer: FetchSealer;
  #pending = 0;
  #pendingBytes = 0;
  #last: Promise<void> = Promise.resolve();
  #error: {readonly error: unknown} | null = null;

  constructor(journal: JournalWriter, sealer: FetchSealer) {
    this.#journal = journal;
    this.#sealer = sealer;
  }

  append(capture: Capture, payload: Uint8Array | null): void {
    if (this.#error) throw this.#error.error;
    this.#sealer.check();
    const bytes = payload?.length ?? 0;
    this.#pending++;
    this.#pendingBytes += bytes;
    this.#last = this.#journal
      .append(capture, payload)
      .catch((error: unknown) => {
        this.#error ??= {error};
      })
      .then(() => {
        this.#pending--;
        this.#pendingBytes -= bytes;
      });
  }

  /** An append that is not taken over at once waits for the disk, and so do we. */
  get pressure(): Promise<void> | null {
    return this.#pending > mostPending || this.#pendingBytes > mostPendingBytes ? this.#last : null;
  }

  async settled(): Promise<void> {
    await this.#last;
    if (this.#error) throw this.#error.error;
  }
}
