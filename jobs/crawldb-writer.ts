import type {Config} from '../lib/config/settings.ts';
import {
  applyDelta,
  type BucketPlan,
  compactionPlan,
  deltaFacts,
  needsCompaction,
} from '../lib/crawldb/delta.ts';
import {crawldb} from '../lib/schema/crawldb.ts';
import {hoststats} from '../lib/schema/hostdb.ts';
import {type TableName, tables} from '../lib/schema/tables.ts';
import {type Database, openDatabase, type SqlParameters} from '../lib/store/duckdb.ts';
import {type AppendColumns, createSql} from '../lib/store/duckdb-append.ts';
import type {Edit, FileRef} from '../lib/store/manifest-types.ts';
import type {Snapshot, TableFile} from '../lib/store/store.ts';
import {type BindWays, bindTables} from '../lib/store/views.ts';
import type {JobEffects, Next, Plan, Task, TaskContext, TaskResult} from './job.ts';
import {readSql} from './sql-file.ts';

/**
 * What all jobs that write the crawldb share: a task's database, its delta of changed rows, the counts of hosts that
 * follow from it, and compaction as a last stage where the deltas have grown too large.
 */

/** What a task needs to open its database; plain data. */
export interface DatabaseParams {
  readonly memory: number;
  readonly threads?: number;
}

export function databaseParams(config: Config, tasks = 1): DatabaseParams {
  const threads = config.storage.threads;
  return {memory: Math.floor(config.storage.memory / tasks), ...(threads !== undefined && {threads})};
}

/**
 * A database with the task's inputs, by table; tables named in `also` are empty where there is no input. What is small
 * is read into memory at once, unless the task asks it only once or twice (`asViews`).
 */
export async function openTaskDatabase(
  task: Task,
  ctx: TaskContext,
  params: DatabaseParams,
  also: readonly TableName[],
  bind: BindWays = {},
): Promise<Database> {
  const db = await openDatabase({
    memoryBytes: params.memory,
    ...threadsFor(params, task.inputs),
    spillDir: await ctx.store.scratch(),
    signal: ctx.signal,
  });
  return bound(db, ctx.store, byTable(task.inputs, also), bind);
}

/** The same for a plan, over the present crawl; only reads, and as views. */
export async function openPlanDatabase(
  effects: JobEffects,
  files: readonly FileRef[],
  also: readonly TableName[],
): Promise<Database> {
  const params = databaseParams(effects.config);
  const db = await openDatabase({
    memoryBytes: params.memory,
    ...threadsFor(params, files),
    spillDir: effects.config.storage.spill ?? `${effects.store.dir}/tmp`,
    signal: effects.signal,
  });
  return bound(db, effects.store, byTable(files, also), {asViews: true});
}

async function bound(
  db: Database,
  store: {path(file: FileRef): string},
  files: Partial<Record<TableName, readonly FileRef[]>>,
  bind: BindWays,
): Promise<Database> {
  try {
    await bindTables(db, store, files, bind);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Inputs up to this size are the work of one thread: a second one has nothing to do, and doubles the processor time by
 * waiting for it (measured 2026-11: 17 files of 179 rows read in 80 ms with two threads, in 40 with one).
 */
const oneThreadBytes = 8 * 2 ** 20;

function threadsFor(params: DatabaseParams, files: readonly FileRef[]): {readonly threads?: number} {
  if (params.threads !== undefined) return {threads: params.threads};
  return files.reduce((sum, {bytes}) => sum + bytes, 0) <= oneThreadBytes ? {threads: 1} : {};
}

function byTable(
  inputs: readonly FileRef[],
  also: readonly TableName[],
): Partial<Record<TableName, readonly FileRef[]>> {
  const lists: Partial<Record<TableName, FileRef[]>> = {};
  for (const name of also) lists[name] = [];
  for (const file of inputs) {
    if (!isTableName(file.table)) throw new Error(`no such table: ${file.table}`);
    const list = lists[file.table] ?? [];
    list.push(file);
    lists[file.table] = list;
  }
  return lists;
}

function isTableName(name: string): name is TableName {
  return Object.hasOwn(tables, name);
}

/** Makes a table of rows that TypeScript brings; `insert` adds a batch. */
export async function rowsTable(
  db: Database,
  name: string,
  columns: AppendColumns,
): Promise<{insert(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>}> {
  await db.run(createSql(name, columns));
  return {insert: (rows) => db.insert(name, columns, rows)};
}

const sql = readSql(import.meta.url, './crawldb-writer.sql', ['before', 'hoststats', 'summary', 'compact']);

/** Version of the crawldb that a commit over this snapshot makes. */
export function nextRevision(snapshot: Snapshot): number {
  return (snapshot.manifest.slots.crawldb?.version ?? 0) + 1;
}

export interface DeltaResult {
  readonly files: readonly FileRef[];
  readonly summary: Readonly<Record<string, number>>;
}

/**
 * Writes the rows of the table `delta` and the host counts that follow. The table `counted (host_key, url_host_name,
 * url_host_registered_domain, pages_fetched, body_bytes, over_budget)` holds what is added to the counts besides;
 * it is made empty where the job has none.
 */
export async function writeDelta(db: Database, ctx: TaskContext, revision: number): Promise<DeltaResult> {
  await db.run(sql.before);
  await db.run(sql.hoststats);
  const written = await writeRows(db, await ctx.store.create(crawldb, 'crawldb'), revision);
  const hosts = await ctx.store.create(hoststats, 'hosts/hoststats');
  const stats = await db.copy('SELECT * FROM new_hoststats ORDER BY host_key', {}, hosts);
  const [summary] = await db.all<Record<string, number>>(sql.summary);
  return {files: [written, stats], summary: summary ?? {}};
}

/** Writes the rows of the table `delta`, as rows of this version of the crawldb. */
export function writeRows(db: Database, file: TableFile<typeof crawldb>, revision: number): Promise<FileRef> {
  return db.copy(
    `SELECT * REPLACE (${revision}::BIGINT AS revision) FROM delta ORDER BY ${priorityOrder}`,
    {},
    file,
    {rowGroupRows, facts: deltaFacts(revision)},
  );
}

/** Never fetched first, then by score: what generate reads is the head of each file (measured). */
const priorityOrder = 'fetch_time IS NOT NULL, score DESC, url_key, host_key';
const rowGroupRows = 20_480;

/**
 * The end of a job that writes the crawldb: the edit, or, where the deltas have grown too large, a stage that writes
 * the base anew and carries the edit along.
 */
export function crawldbNext(
  plan: Plan,
  stage: number,
  before: readonly FileRef[],
  delta: readonly FileRef[],
  edit: Edit,
  params: DatabaseParams,
): Next {
  const files = applyDelta(before, delta);
  if (!needsCompaction(files)) return {edit: {...edit, writes: {...edit.writes, crawldb: files}}};
  const buckets = compactionPlan(files);
  const share = {...params, memory: Math.floor(params.memory / Math.min(buckets.length, 4))};
  return {
    tasks: buckets.map((bucket, part) => ({
      stage: stage + 1,
      part,
      inputs: bucket.files,
      params: compactionParams(bucket, share, plan, part === 0 ? edit : null),
    })),
  };
}

interface CompactionParams {
  readonly [compactionMark]: true;
  readonly bucket: number;
  readonly buckets: number;
  readonly first: string;
  readonly last: string;
  readonly database: DatabaseParams;
  readonly edit: Edit | null;
}
const compactionMark = 'compaction';

function compactionParams(
  {bucket, buckets, first, last}: BucketPlan,
  database: DatabaseParams,
  _plan: Plan,
  edit: Edit | null,
): Readonly<Record<string, unknown>> {
  const params: CompactionParams = {
    [compactionMark]: true,
    bucket,
    buckets,
    first: `${first}`,
    last: `${last}`,
    database,
    edit,
  };
  return {...params};
}

export function isCompaction(task: Task): boolean {
  return task.params[compactionMark] === true;
}

/** Writes one bucket of the new base. */
export async function compactBucket(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as CompactionParams; // made by compactionParams
  const db = await openTaskDatabase(task, ctx, params.database, ['crawldb'], {asViews: true});
  try {
    const file = await db.copy(
      `${sql.compact}\nORDER BY ${priorityOrder}`,
      {first: BigInt(params.first), last: BigInt(params.last)} satisfies SqlParameters,
      await ctx.store.create(crawldb, 'crawldb'),
      {rowGroupRows, facts: {kind: 'base', bucket: params.bucket, buckets: params.buckets}},
    );
    return {files: [file], counters: {}, reasons: {}, facts: {edit: params.edit}};
  } finally {
    await db.close();
  }
}

/**
 * Writes the rows of the view `next_row` as the whole crawldb, and the table `new_hoststats`: for jobs that change
 * keys, after which no delta could take the old rows away.
 *
 * @param before the files so far; they tell how many buckets are needed
 */
export async function writeBase(
  db: Database,
  ctx: TaskContext,
  before: readonly FileRef[],
  revision: number,
): Promise<DeltaResult> {
  const files: FileRef[] = [];
  for (const {bucket, buckets, first, last} of compactionPlan(before)) {
    const file = await db.copy(
      `SELECT * REPLACE (${revision}::BIGINT AS revision) FROM next_row
       WHERE host_key BETWEEN $first AND $last ORDER BY ${priorityOrder}`,
      {first, last} satisfies SqlParameters,
      await ctx.store.create(crawldb, 'crawldb'),
      {rowGroupRows, facts: {kind: 'base', bucket, buckets}},
    );
    if (file.rows > 0) files.push(file);
  }
  const hosts = await ctx.store.create(hoststats, 'hosts/hoststats');
  files.push(await db.copy('SELECT * FROM new_hoststats ORDER BY host_key', {}, hosts));
  const [summary] = await db.all<Record<string, number>>(sql.summary);
  return {files, summary: summary ?? {}};
}

/** The edit after a compaction stage. */
export function compactionEdit(results: readonly TaskResult[]): Next {
  const edit = results[0]?.facts?.edit as Edit; // carried by the first task
  const files = results.flatMap((result) => result.files).filter((file) => file.rows > 0);
  return {edit: {...edit, writes: {...edit.writes, crawldb: files}}};
}

/** Files of a result by table. */
export function filesOf(result: TaskResult | undefined, table: TableName): readonly FileRef[] {
  return (result?.files ?? []).filter((file) => file.table === table);
}
