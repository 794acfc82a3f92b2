import {bucketsOf, isDelta, revisionOf} from '../../lib/crawldb/layout.ts';
import {crawldb} from '../../lib/schema/crawldb.ts';
import {crawldbstats} from '../../lib/schema/crawldbstats.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {createView, filesQuery} from '../../lib/store/view-sql.ts';
import type {TaskContext} from '../job.ts';
import {readSql} from '../runner/sql-file.ts';

/**
 * Counts of the whole crawldb by status, reason, retries, depth, score, times and interval: the table `crawldbstats`.
 * Whoever writes rows writes it too, by difference: as it was, less the changed rows as they were, plus the changed
 * rows as they are. Compactions change no row, so they leave it alone. The file knows the revision of the crawldb that
 * it tells of; where rows are newer, or there is none, all rows are counted.
 */

const sql = readSql(import.meta.url, './statistics.sql', [
  'functions',
  'told',
  'difference',
  'whole',
  'unlike',
]);

/** The macro `row_statistics('t')`, which counts the rows of t. */
export const statisticsFunctions = sql.functions;

/** Query for what `readdb --stats` says, over a table of counts. `$minute`: now, whole minutes in seconds since 1970. */
export const toldStatistics = sql.told;

/** Files of `crawldbstats`, if they tell of the rows that the crawldb has. */
export async function statisticsFiles(snapshot: Pick<Snapshot, 'files'>): Promise<readonly FileRef[]> {
  const told = await snapshot.files('crawldbstats');
  const revision = Math.min(...told.map(revisionOf));
  return told.length > 0 && revision >= lastRevision(await snapshot.files('crawldb')) ? told : [];
}

/** Of the last commit that wrote rows; a compaction hands it on to the buckets. */
function lastRevision(files: readonly FileRef[]): number {
  const deltas = files.filter(isDelta).map(revisionOf);
  return Math.max(0, ...deltas, ...bucketsOf(files).map(({seq}) => seq));
}

/**
 * Writes the counts after a commit of the rows of `delta`, which were those of `before_delta`. Views: crawldb, as it was
 * before; crawldbstats, empty where there are no counts yet.
 */
export async function writeStatistics(db: Database, ctx: TaskContext, revision: number): Promise<FileRef> {
  await db.run(sql.functions);
  const [known] = await db.all('SELECT 1 FROM crawldbstats LIMIT 1');
  await db.run(`CREATE OR REPLACE VIEW statistics_before AS
SELECT * FROM ${known === undefined ? "row_statistics('crawldb')" : 'crawldbstats'}`);
  await db.run(sql.difference);
  return copyStatistics(db, ctx, revision);
}

/** Writes the counts of all rows: those of files of a base that was just written. */
export async function writeAllStatistics(
  db: Database,
  ctx: TaskContext,
  base: readonly FileRef[],
  revision: number,
): Promise<FileRef> {
  const rows = filesQuery(crawldb, base, (file) => ctx.store.path(file));
  await db.run(createView('all_row', rows));
  await countStatistics(db);
  return copyStatistics(db, ctx, revision);
}

/** Makes the table `new_crawldbstats` of the rows of the view `all_row`. */
export async function countStatistics(db: Database): Promise<void> {
  await db.run(sql.functions);
  await db.run(sql.whole);
}

/** Whether the table `new_crawldbstats` says something else than `crawldbstats`. */
export async function statisticsDiffer(db: Database): Promise<boolean> {
  return (await db.all(sql.unlike)).length > 0;
}

/** Writes the table `new_crawldbstats`. */
export async function copyStatistics(db: Database, ctx: TaskContext, revision: number): Promise<FileRef> {
  return db.copy(
    'SELECT * FROM new_crawldbstats ORDER BY statistic, word, value',
    {},
    await ctx.store.create(crawldbstats, 'crawldb/statistics'),
    {facts: {revision}},
  );
}
