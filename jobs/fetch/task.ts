import {readdir, rm, statfs, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Config} from '../../lib/config/settings.ts';
import {systemCode} from '../../lib/errors.ts';
import {type FetchEnd, Fetcher} from '../../lib/fetcher/fetcher.ts';
import {KeyMap} from '../../lib/fetcher/key-map.ts';
import {politenessColumns, Replay} from '../../lib/fetcher/replay.ts';
import type {CaptureSink, KnownTargets} from '../../lib/fetcher/settings.ts';
import type {SharedLimits} from '../../lib/fetcher/shared.ts';
import type {FetchWork} from '../../lib/fetcher/work.ts';
import type {HttpClient} from '../../lib/http/exchange.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {type HostRuleRow, hostrules, hoststate, hoststats, robots} from '../../lib/schema/hostdb.ts';
import {seeds} from '../../lib/schema/seeds.ts';
import type {Table} from '../../lib/schema/table.ts';
import {makeScope, type Stay} from '../../lib/scope/scope.ts';
import {crashPoint} from '../../lib/store/crash-points.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {openJournal} from '../../lib/store/journal.ts';
import {journalHistory, journalOutcomes} from '../../lib/store/journal-read.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {hostOf, registeredDomain} from '../../lib/url/host.ts';
import {urlPolicy} from '../../lib/url/normalize.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import {httpClient} from '../http/client.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {knownTargets} from './known.ts';
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
  /** Other segments that may have a journal: their last answers count for their hosts. */
  readonly unfinished: readonly {readonly segment: string; readonly lists: readonly FileRef[]}[];
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
  const proven = await isProven(folder);
  await rm(join(folder, cleanMark), {force: true}); // so that the mark never outlives what it says
  const sealer = await FetchSealer.open(folder, task, params, ctx);
  try {
    const {end, work} = await fetchIntoJournal(task, params, ctx, {folder, proven, sealer, shared});
    const {counters, reasons, stopped} = end;
    if (stopped !== null) {
      ctx.log('info', 'fetch_paused', {segment, because: stopped, done: work.worklist.done});
      return {files: [], counters, reasons, facts: {stopped}};
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
      facts: {stopped: null},
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
    proven,
    sealer,
    shared,
  }: {
    readonly folder: string;
    readonly proven: boolean;
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
    await load(fetcher, task, params, ctx, folder, proven, notDue);
    end = await fetcher.run();
    await sink.settled();
  } finally {
    await journal.close();
    await sealer.idle();
  }
  sealer.check();
  await writeFile(join(folder, cleanMark), ''); // now, not at the end: other partitions may be stopped meanwhile
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
    const host = work.hosts.reached(row.url_host_name, row.host_key);
    if (host) work.hosts.restore(host, row, fetcher.now());
  }
  for await (const row of rowsOf(task, ctx, hoststats)) {
    const host = work.hosts.reached(row.url_host_name, row.host_key);
    if (host) host.pages += row.pages_fetched;
  }
  const rules: HostRuleRow[] = [];
  for await (const row of rowsOf(task, ctx, hostrules)) rules.push(row);
  if (rules.length > 0) work.hosts.applyRules(rules);
  // Of all that is known, what this fetch may come to: hops stay on its registered domains.
  for await (const row of rowsOf(task, ctx, robots))
    if (work.hosts.hasDomain(registeredDomain(hostOf(row.origin)))) work.robots.load(row);
  const replay = new Replay(work, config);
  const unproven = new Set<string>();
  // All parts: each segment has its own division of domains.
  for (const other of unfinished) {
    let crashed = false;
    for (const theirs of await journalFolders(ctx, other.segment)) {
      crashed ||= !(await isProven(theirs));
      for await (const rows of journalOutcomes(theirs, politenessColumns))
        for (const row of rows) replay.takePoliteness(row, fetcher.now());
    }
    if (!crashed) continue;
    for await (const domain of domainsOf(other.lists, ctx))
      if (work.hosts.hasDomain(domain)) unproven.add(domain);
  }
  if (begun) {
    await notDue.load();
    for await (const {row, payload} of journalHistory(folder)) replay.take(row, payload, fetcher.now());
  }
  replay.finish((domain) => !proven || unproven.has(domain), fetcher.now());
  if (!begun) return;
  ctx.log('info', 'fetch_resumed', {segment, done: work.worklist.done, left: work.queues.waiting, proven});
}

/** Registered domains of a fetchlist: the hosts that its fetch may have asked. */
async function* domainsOf(lists: readonly FileRef[], ctx: TaskContext): AsyncGenerator<string> {
  const columns = ['url_host_registered_domain'] as const;
  for (const file of lists)
    for await (const rows of readTable(fetchlist, ctx.store.path(file), {columns}))
      for (const row of rows) yield row.url_host_registered_domain;
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

/** Those of all partitions of a segment whose fetch has begun. */
async function journalFolders(ctx: TaskContext, segment: string): Promise<string[]> {
  const dir = ctx.store.journalDir(segment);
  const names = await namesIn(dir);
  return (names ?? []).filter((name) => name.startsWith('part-')).map((name) => join(dir, name));
}

/** There after a clean end or stop: the journal holds all answers that there were. */
const cleanMark = 'clean';

/** Is every answer in the journal, if there was any? Not after a crash, even if nothing had reached the disk. */
async function isProven(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return names === undefined || names.includes(cleanMark);
}

/** Undefined: there is no such folder. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
