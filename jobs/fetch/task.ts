import {statfs} from 'node:fs/promises';
import type {Config} from '../../lib/config/settings.ts';
import {type FetchEnd, Fetcher} from '../../lib/fetcher/fetcher.ts';
import type {CaptureSink, KnownTargets} from '../../lib/fetcher/settings.ts';
import type {SharedLimits} from '../../lib/fetcher/shared.ts';
import type {FetchWork} from '../../lib/fetcher/work.ts';
import type {HttpClient} from '../../lib/http/exchange.ts';
import {type HostRuleRow, hostrules} from '../../lib/schema/hostdb.ts';
import {makeScope, type Stay} from '../../lib/scope/scope.ts';
import {crashPoint} from '../../lib/store/crash-points.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {openJournal} from '../../lib/store/journal.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {urlPolicy} from '../../lib/url/normalize.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import {httpClient} from '../http/client.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {markProven, partFolder, unmarkProven} from './journals.ts';
import {knownTargets} from './known.ts';
import {loadFetcher, seedScopes} from './load.ts';
import {FetchSealer} from './seal.ts';
import {withSharedLimits} from './shared.ts';
import {JournalSink} from './sink.ts';

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
  /**
   * Folders of the journals that there were before this run, of this segment and of others that are not fetched to their
   * end: the last answers in them count for their hosts.
   */
  readonly journals: readonly string[];
  /** They hold all answers that there were; false after a crash. */
  readonly proven: boolean;
}

/** Fetches one partition: loads what is known, runs the loop, and seals the journal when all is done. */
export function fetchTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as FetchParams; // made by fetch.ts
  return withSharedLimits(params, ctx, (shared) => fetchPartition(task, params, ctx, shared));
}

async function fetchPartition(
  task: Task,
  params: FetchParams,
  ctx: TaskContext,
  shared: SharedLimits,
): Promise<TaskResult> {
  const {segment} = params;
  const folder = partFolder(ctx.store.dir, segment, params.part);
  await unmarkProven(folder);
  const sealer = await FetchSealer.open(folder, task, params, ctx);
  try {
    const {end, work} = await fetchIntoJournal(task, params, ctx, {folder, sealer, shared});
    const {counters, reasons, stopped, hosts} = end;
    if (stopped !== null) {
      ctx.log('info', 'fetch_paused', {segment, because: stopped, done: work.worklist.done});
      return {files: [], counters, reasons, facts: {stopped, hosts}};
    }
    const sealed = await sealer.finish(work);
    crashPoint('journal_sealed');
    return {
      files: sealed.files,
      counters: {
        ...counters,
        payloads_stored_total: sealed.stored,
        payloads_shared_total: sealed.shared,
        payload_bytes_saved_total: sealed.savedBytes,
        journal_rows_lost_total: sealed.lost,
      },
      reasons,
      facts: {stopped: null, hosts},
    };
  } finally {
    await sealer.close();
  }
}

/** Runs the loop, to its end or a stop; then all that it has done is in the journal. */
async function fetchIntoJournal(
  task: Task,
  params: FetchParams,
  ctx: TaskContext,
  {
    folder,
    sealer,
    shared,
  }: {
    readonly folder: string;
    readonly sealer: FetchSealer;
    readonly shared: SharedLimits;
  },
): Promise<{readonly end: FetchEnd; readonly work: FetchWork}> {
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
    await loadFetcher(fetcher, task, params, ctx, notDue);
    end = await fetcher.run();
    await sink.settled();
  } finally {
    await journal.close();
    await sealer.idle();
  }
  sealer.check();
  if (!end.interrupted) await markProven(folder); // now, not at the end: other partitions may be stopped meanwhile
  crashPoint('journal_flushed');
  return {end, work: fetcher.work};
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
