import {bucketsFor, compactionPlan} from '../../lib/crawldb/compaction.ts';
import {applyDelta, rangeOf} from '../../lib/crawldb/layout.ts';
import {hoststats, seedstats} from '../../lib/schema/hostdb.ts';
import type {TableName} from '../../lib/schema/tables.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {Edit, FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import type {Next, Plan, TaskContext, TaskResult} from '../job.ts';
import type {DatabaseParams} from '../runner/database.ts';
import {readSql} from '../runner/sql-file.ts';
import {compactionTask} from './compact.ts';
import type {InlinksSlot} from './inlinks.ts';
import {writeBucket, writeRows} from './lists.ts';
import {statisticsFiles, writeAllStatistics, writeStatistics} from './statistics.ts';

/**
 * What all jobs that write the crawldb share: the delta of changed rows, the counts of hosts that follow from it, and
 * compaction as a last stage where the deltas have grown too large.
 */

export {
  type DatabaseParams,
  databaseParams,
  openPlanDatabase,
  openTaskDatabase,
  rowsTable,
} from '../runner/database.ts';
export {compactBuckets, compactionEdit, isCompaction} from './compact.ts';
export {inlinksSlot, inlinksVersion, writeInlinks} from './inlinks.ts';
export {writeBucket, writeRows} from './lists.ts';
export {writeStatistics} from './statistics.ts';

const sql = readSql(import.meta.url, './writer.sql', [
  'before',
  'recent',
  'hoststats',
  'seed_changes',
  'seedstats',
  'recounted_hosts',
  'recounted_seeds',
  'summary',
]);

/** Version of the crawldb that a commit over this snapshot makes. */
export function nextRevision(snapshot: Snapshot): number {
  return (snapshot.manifest.slots.crawldb?.version ?? 0) + 1;
}

export interface DeltaResult {
  readonly files: readonly FileRef[];
  readonly summary: Readonly<Record<string, number>>;
}

/**
 * Writes the rows of the table `delta`, which were read without `inlinks` among the inputs (or those changes would count
 * twice), and the host counts that follow. The table `counted (host_key, url_host_name,
 * url_host_registered_domain, pages_fetched, body_bytes, over_budget, novel_bytes, seen_pages, seen_new)` holds what is
 * added to the counts besides;
 * it is made empty where the job has none, as is `seed_counted (seed, pages_fetched, body_bytes, novel_bytes,
 * over_budget)`. Where counts of seeds change, the view `seedstats` is asked, and they are written.
 */
export async function writeDelta(db: Database, ctx: TaskContext, revision: number): Promise<DeltaResult> {
  await db.run(sql.before);
  await db.run(sql.recent);
  await db.run(sql.hoststats);
  const written = await writeRows(db, ctx, revision);
  const hosts = await copyHosts(db, ctx);
  const seeds = await writeSeeds(db, ctx);
  const statistics = await writeStatistics(db, ctx, revision);
  return {files: [...written, hosts, ...seeds, statistics], summary: await summaryOfHosts(db)};
}

async function writeSeeds(db: Database, ctx: TaskContext): Promise<readonly FileRef[]> {
  await db.run(sql.seed_changes);
  const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM seed_change');
  if ((count?.n ?? 0) === 0) return [];
  await db.run(sql.seedstats);
  return [await copySeeds(db, ctx)];
}

async function copySeeds(db: Database, ctx: TaskContext): Promise<FileRef> {
  const file = await ctx.store.create(seedstats, 'hosts/seedstats');
  return db.copy('SELECT * FROM new_seedstats ORDER BY seed', {}, file);
}

/** Tables of counts, which are written with the rows of the crawldb. */
export const countTables = ['hoststats', 'seedstats', 'crawldbstats'] as const satisfies readonly TableName[];

/** Their files, as inputs of a task that writes rows; of `crawldbstats` none where it tells of older rows. */
export async function countFiles(snapshot: Snapshot): Promise<readonly FileRef[]> {
  return [
    ...(await snapshot.files('hoststats')),
    ...(await snapshot.files('seedstats')),
    ...(await statisticsFiles(snapshot)),
  ];
}

/** What a result writes beside the rows: the slots of counts that have a file. */
export function countsOf(result: TaskResult | undefined): Readonly<Record<string, readonly FileRef[]>> {
  const seeds = filesOf(result, 'seedstats');
  return {
    hoststats: filesOf(result, 'hoststats'),
    crawldbstats: filesOf(result, 'crawldbstats'),
    ...(seeds.length > 0 && {seedstats: seeds}),
  };
}

/**
 * The end of a job that writes the crawldb: the edit, or, where the deltas have grown too large, a stage that writes
 * some buckets anew and makes the edit. A plan whose facts name the slot `inlinks` lets them take up that, too.
 */
export function crawldbNext(
  plan: Plan,
  stage: number,
  before: readonly FileRef[],
  delta: readonly FileRef[],
  edit: Edit,
  database: DatabaseParams,
): Next {
  const files = applyDelta(before, delta);
  const compaction = compactionPlan(files);
  if (compaction === undefined) return {edit: {...edit, writes: {...edit.writes, crawldb: files}}};
  const inlinks = (plan.facts?.inlinks as InlinksSlot | undefined) ?? null;
  return {tasks: [compactionTask(stage + 1, {plan: compaction, files, inlinks, database, edit})]};
}

/**
 * Writes the rows of the view `next_row` as the whole crawldb, and the counts of hosts (view `host_ever`) and seeds (view
 * `seedstats`), whose URLs are counted anew: for jobs that change keys, after which no delta could take the old rows away.
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
  const buckets = bucketsFor(before.reduce((sum, {rows}) => sum + rows, 0));
  for (let bucket = 0; bucket < buckets; bucket++) {
    const range = rangeOf(bucket, buckets);
    const rows = `SELECT * FROM next_row WHERE host_key BETWEEN ${range.first}::UBIGINT AND ${range.last}::UBIGINT`;
    files.push(...(await writeBucket(db, ctx, () => rows, range, {seq: revision, links: 0})));
  }
  files.push(await writeAllStatistics(db, ctx, files, revision));
  await recountHosts(db);
  files.push(await copyHosts(db, ctx));
  await db.run(sql.recounted_seeds);
  files.push(await copySeeds(db, ctx));
  return {files, summary: await summaryOfHosts(db)};
}

/** Makes the table `new_hoststats`: rows of the view `next_row` counted, and what was ever fetched by the view `host_ever`. */
export async function recountHosts(db: Database): Promise<void> {
  await db.run(sql.recounted_hosts);
}

/** Writes the table `new_hoststats`. */
export async function copyHosts(db: Database, ctx: TaskContext): Promise<FileRef> {
  const file = await ctx.store.create(hoststats, 'hosts/hoststats');
  return db.copy('SELECT * FROM new_hoststats ORDER BY host_key', {}, file);
}

/** Counts of the whole crawl, from the table `new_hoststats`. */
export async function summaryOfHosts(db: Database): Promise<Record<string, number>> {
  const [summary] = await db.all<Record<string, number>>(sql.summary);
  return summary ?? {};
}

/** Files of a result by table. */
export function filesOf(result: TaskResult | undefined, table: TableName): readonly FileRef[] {
  return (result?.files ?? []).filter((file) => file.table === table);
}
