import {join} from 'node:path';
import {families, familyrules} from '../../lib/schema/families.ts';
import {hostrules, hoststate, pathstats, robots} from '../../lib/schema/hostdb.ts';
import {linkdb, linksources} from '../../lib/schema/linkdb.ts';
import {seeds} from '../../lib/schema/seeds.ts';
import type {Table} from '../../lib/schema/table.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {type Database, openDatabase, sqlString} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {bindSnapshot} from '../../lib/store/views.ts';
import {type DedupRules, markTouched} from '../crawldb/repeats.ts';
import {type DatabaseParams, openTaskDatabase, writeBase, writeInlinks} from '../crawldb/writer.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {spillFolder} from '../runner/database.ts';
import {readSql} from '../runner/sql-file.ts';
import {copySegments, type Renames, type SlotFiles} from './segments.ts';

const sql = readSql(import.meta.url, './merge.sql', [
  'clashes',
  'links',
  'sources',
  'current_row',
  'next_row',
  'unknown',
  'host_ever',
  'seedstats',
  'hoststate_rows',
  'robots_rows',
  'hostrules_rows',
  'familyrules_rows',
  'families_rows',
  'pathstats_rows',
  'seeds_rows',
  'totals',
]);

const {one} = readSql(import.meta.url, '../crawldb/one.sql', ['one']);

export interface MergeSource {
  readonly dir: string;
  readonly manifest: number;
  /** Segments that are taken over. */
  readonly segments: readonly string[];
  readonly renames: Renames;
  /** Versions that the slots `segments/ID/fetch` get here, by the segment's name there. */
  readonly versions: Readonly<Record<string, number>>;
}

export interface MergeParams {
  readonly sources: readonly MergeSource[];
  readonly shared: boolean;
  readonly dedup: DedupRules;
  readonly revision: number;
  /** Version of `inlinks` that the commit makes. */
  readonly inlinksRevision: number;
  readonly database: DatabaseParams;
}

/** Tables of the whole crawl that a merge puts together. */
export const mergedTables = [
  'crawldb',
  'linkdb',
  'hoststats',
  'pathstats',
  'hoststate',
  'robots',
  'hostrules',
  'familyrules',
  'families',
  'seedstats',
  'seeds',
] as const;

/** The tables that are read: those, and the one that lies in the slot of the linkdb. */
const readTables = [...mergedTables, 'linksources'] as const;

/** Rows by sets, segments file by file. */
export async function mergeAll(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as MergeParams; // made by plan
  const db = await openTaskDatabase(task, ctx, params.database, readTables, {asViews: true});
  try {
    await exportSources(db, params, ctx);
    await db.run(`SET VARIABLE shared = ${params.shared}`);
    await db.run(sql.clashes);
    await db.run(one);
    for (const step of ['links', 'current_row'] as const) await db.run(sql[step]);
    await markTouched(db, params.dedup);
    for (const step of ['next_row', 'host_ever', 'seedstats'] as const) await db.run(sql[step]);
    const before = task.inputs.filter(({table}) => table === 'crawldb');
    const {files: rows, summary} = await writeBase(db, ctx, before, params.revision);
    const write = async (table: Table, query: string, place: string): Promise<FileRef> =>
      db.copy(query, {}, await ctx.store.create(table, place));
    const linkOrder = 'ORDER BY target_host_key, target_url_key, source_host_key, source_url_key';
    const files = [
      ...rows,
      ...(await writeInlinks(db, ctx, sql.unknown, params.inlinksRevision)),
      await write(linkdb, `SELECT * FROM next_link ${linkOrder}`, 'linkdb'),
      await db.copy(sql.sources, {}, await ctx.store.create(linksources, 'linkdb/sources'), {
        facts: {kind: 'delta', revision: 0, again: 0},
      }),
      await write(hoststate, sql.hoststate_rows, 'hosts/hoststate'),
      await write(robots, sql.robots_rows, 'hosts/robots'),
      await write(hostrules, sql.hostrules_rows, 'hosts/hostrules'),
      await write(familyrules, sql.familyrules_rows, 'hosts/familyrules'),
      await write(families, sql.families_rows, 'hosts/families'),
      await write(pathstats, sql.pathstats_rows, 'hosts/pathstats'),
      await write(seeds, `SELECT * FROM (${sql.seeds_rows}) ORDER BY ALL`, 'crawldb/seeds'),
    ];
    const [totals] = await db.all<Record<'read' | 'added' | 'merged' | 'clashes' | 'links', number>>(
      sql.totals,
    );
    const {added = 0, merged = 0, clashes = 0, links = 0} = totals ?? {};
    const slots: Record<string, readonly FileRef[]> = {};
    for (const source of params.sources) {
      const snapshot = await (await openCrawl(source.dir)).at(source.manifest);
      Object.assign(slots, await copySegments(snapshot, source.segments, source, ctx));
    }
    return {
      files: [...files, ...Object.values(slots).flat()],
      counters: {
        rows_added_total: added,
        urls_merged_total: merged,
        rows_refused_total: clashes,
        links_total: links,
      },
      reasons: clashes > 0 ? {key_clash: clashes} : {},
      facts: {summary: {...summary, links}, slots: slots satisfies SlotFiles},
    };
  } finally {
    await db.close();
  }
}

/**
 * Makes views other_crawldb and so on, over files of this attempt that hold the tables of all the other crawls. These
 * are read by instances of their own, one after another, while ours, which has only views so far, holds nothing.
 */
async function exportSources(
  db: Database,
  {sources, database: {memory, threads, spill}}: MergeParams,
  ctx: TaskContext,
): Promise<void> {
  const scratch = await ctx.store.scratch();
  const files = new Map<string, string[]>(readTables.map((name) => [name, []]));
  for (const [index, source] of sources.entries()) {
    const snapshot = await (await openCrawl(source.dir)).at(source.manifest);
    const other = await openDatabase({
      memoryBytes: memory,
      ...(threads !== undefined && {threads}),
      spillDir: spill === undefined ? join(scratch, 'other') : await spillFolder(ctx.store.dir, spill),
      signal: ctx.signal,
    });
    try {
      await bindSnapshot(other, snapshot);
      for (const name of readTables) {
        const file = join(scratch, `${name}-${index}.parquet`);
        const number = name === 'robots' ? 'origin_number' : 'origin'; // robots has a column origin
        await other.run(
          `COPY (SELECT *${renamedColumns(name, source.renames)}, ${index + 1} AS ${number} FROM ${name === 'linkdb' ? 'linkdb_all' : name}) TO ${sqlString(file)} (FORMAT parquet)`,
        );
        files.get(name)!.push(file);
      }
    } finally {
      await other.close();
    }
  }
  for (const [name, list] of files)
    await db.run(
      `CREATE VIEW other_${name} AS SELECT * FROM read_parquet([${list.map(sqlString).join(', ')}], union_by_name = true)`,
    );
}

const segmentColumns: Readonly<Record<string, readonly string[]>> = {
  crawldb: ['fetch_segment', 'last_success_segment', 'updated_segment'],
  linkdb: ['segment'],
  hoststate: ['updated_segment'],
};

/** ` REPLACE (…)` that gives segments their new names. */
function renamedColumns(table: string, renames: Renames): string {
  const pairs = Object.entries(renames);
  const columns = segmentColumns[table] ?? [];
  if (pairs.length === 0 || columns.length === 0) return '';
  const map = `MAP {${pairs.map(([from, to]) => `${sqlString(from)}: ${sqlString(to)}`).join(', ')}}`;
  return ` REPLACE (${columns.map((name) => `coalesce(${map}[${name}], ${name}) AS ${name}`).join(', ')})`;
}
