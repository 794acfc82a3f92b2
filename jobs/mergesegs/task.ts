import {newSegmentIds} from '../../lib/crawldb/segment-id.ts';
import {content} from '../../lib/schema/content.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {outlinks} from '../../lib/schema/outlinks.ts';
import {parse} from '../../lib/schema/parse.ts';
import type {Table} from '../../lib/schema/table.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {bindNumbered, bindTables} from '../../lib/store/views.ts';
import {
  countTables,
  type DatabaseParams,
  openTaskDatabase,
  rowsTable,
  writeDelta,
} from '../crawldb/writer.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {describedCaptures} from '../read/capture-where.ts';
import {readSql} from '../runner/sql-file.ts';
import {type KeptRow, SegmentsWriter} from './writer.ts';

const sql = readSql(import.meta.url, './mergesegs.sql', [
  'unchanged',
  'kept',
  'payload',
  'places',
  'captures',
  'payloads',
  'lines',
  'listed',
  'redirected',
  'others',
  'delta',
  'totals',
]);

/** A segment that is merged, with its files. Plain data. */
export interface SourceSegment {
  readonly id: string;
  readonly current: string | null;
  readonly fetchlist: readonly FileRef[];
  readonly fetch: readonly FileRef[];
  readonly content: readonly FileRef[];
  readonly parses: Readonly<
    Record<string, {readonly parse: readonly FileRef[]; readonly outlinks: readonly FileRef[]}>
  >;
}

export interface MergesegsParams {
  /** Oldest first. */
  readonly sources: readonly SourceSegment[];
  /** Fetch files of all other segments. */
  readonly others: Readonly<Record<string, readonly FileRef[]>>;
  readonly existing: readonly string[];
  /** Versions of the slots `segments/ID/fetch` of the sources; parses name the one that they are whole for. */
  readonly versions: Readonly<Record<string, number>>;
  /** Name of the current parse from now on: that of the newest segment; null where that one is not parsed. */
  readonly parse: string | null;
  readonly all: boolean;
  readonly where: string | null;
  /** Captures a slice; 0 for one slice. */
  readonly slice: number;
  readonly now: number;
  readonly revision: number;
  readonly database: DatabaseParams;
}

/** A segment that comes out. */
export interface MergedSegment {
  readonly id: string;
  readonly urls: number;
  readonly hosts: number;
}

/** Chooses by sets, in tables of DuckDB, which spills; then copies rows as they are read. Memory: a row group. */
export async function mergeSegments(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as MergesegsParams; // made by plan
  const inputs = task.inputs.filter(({table}) => table !== 'inlinks');
  const tables = ['crawldb', 'fetch', 'parse', ...countTables] as const;
  const db = await openTaskDatabase({...task, inputs}, ctx, params.database, tables);
  try {
    const parts = (part: 'fetchlist' | 'content') => params.sources.flatMap((source) => source[part]);
    const sources = {fetchlist: parts('fetchlist'), content: parts('content')};
    await bindTables(db, ctx.store, sources, {asViews: true});
    const names = await choose(db, params);
    const writer = new SegmentsWriter(ctx, params.versions);
    await copyAll(db, ctx, params, writer);
    await redirectOthers(db, ctx, params, writer);
    await db.run(sql.delta);
    const {files} = await writeDelta(db, ctx, params.revision);
    const slots = await writer.close(names, params.parse);
    const [totals] = await db.all<{captures: number; kept: number}>(sql.totals);
    const {captures = 0, kept = 0} = totals ?? {};
    return {
      files: [...files, ...Object.values(slots).flat()],
      counters: {captures_kept_total: kept, captures_dropped_total: captures - kept},
      reasons: {},
      facts: {slots, merged: await mergedSegments(db, names)},
    };
  } finally {
    await db.close();
  }
}

/** Makes the tables of mergesegs.sql; the names of the segments that come out, in order of slice. */
async function choose(db: Database, params: MergesegsParams): Promise<readonly string[]> {
  const {sources, where, all, slice, existing, now} = params;
  const chosen = await rowsTable(db, 'chosen', {segment: {type: 'text'}});
  await chosen.insert(sources.map(({id}) => ({segment: id})));
  const condition = where === null ? '' : ` WHERE (${where}\n)`;
  await db.run(
    `CREATE VIEW candidate AS SELECT * FROM (${describedCaptures}) SEMI JOIN chosen USING (segment)${condition}`,
  );
  await db.run(sql.unchanged);
  await db.run(sql.kept, {all, slice});
  const [totals] = await db.all<{slices: number}>(sql.totals);
  const slices = totals?.slices ?? 1;
  const old = sources.map(({id}) => id);
  const more = Math.max(0, slices - old.length);
  const names = [...old.slice(-slices), ...(more > 0 ? newSegmentIds(existing, now, more) : [])];
  await db.run(sql.payload, {last: slices - 1});
  const table = await rowsTable(db, 'slice_name', {slice: {type: 'int32'}, name: {type: 'text'}});
  await table.insert(names.map((name, at) => ({slice: at, name})));
  await db.run(sql.places);
  return names;
}

/** Newest first: so the lines of fetchlists come in that order. */
async function copyAll(
  db: Database,
  ctx: TaskContext,
  {sources, parse: current}: MergesegsParams,
  writer: SegmentsWriter,
): Promise<void> {
  for (const [done, source] of sources.toReversed().entries()) {
    ctx.signal.throwIfAborted();
    const kept = (query: string, table: Table, file: FileRef) =>
      keptRows(db, ctx, query, source.id, table, file);
    for (const file of source.fetchlist) await writer.copyList(file, kept(sql.lines, fetchlist, file));
    for (const file of source.fetch)
      await writer.copy(fetch, 'fetch', file, kept(sql.captures, fetch, file), payloadAt);
    for (const file of source.content)
      await writer.copy(content, 'content', file, kept(sql.payloads, content, file));
    for (const [name, files] of Object.entries(source.parses)) {
      if (name === current && name !== source.current) continue; // another one takes its place
      const to = name === source.current ? current! : name;
      const named = () => ({parse_id: to});
      for (const file of files.parse)
        await writer.copy(parse, `parse/${to}`, file, kept(sql.captures, parse, file), named);
      for (const file of files.outlinks)
        await writer.copy(outlinks, `outlinks/${to}`, file, kept(sql.captures, outlinks, file), named);
    }
    ctx.progress({done: done + 1, total: sources.length, unit: 'segments'});
  }
}

const payloadAt = ({holder}: KeptRow) => ({content_segment: holder ?? null});

/** Captures of other segments that share a payload with these name the segment that has it from now on. */
async function redirectOthers(
  db: Database,
  ctx: TaskContext,
  {others}: MergesegsParams,
  writer: SegmentsWriter,
): Promise<void> {
  for (const {segment} of await db.all<{segment: string}>(sql.others))
    for (const file of others[segment] ?? [])
      await writer.copy(
        fetch,
        'fetch',
        file,
        keptRows(db, ctx, sql.redirected, segment, fetch, file),
        payloadAt,
      );
}

/** What becomes of the rows of a file, by a query over the view `file_row`. */
async function* keptRows(
  db: Database,
  ctx: TaskContext,
  query: string,
  segment: string,
  table: Table,
  file: FileRef,
): AsyncGenerator<readonly KeptRow[]> {
  await bindNumbered(db, ctx.store, 'file_row', table, file);
  for await (const rows of db.stream(query, {segment})) yield rows as unknown as KeptRow[]; // its columns
}

async function mergedSegments(db: Database, names: readonly string[]): Promise<readonly MergedSegment[]> {
  const rows = await db.all<{name: string; urls: number; hosts: number}>(sql.listed);
  return names.map((id) => {
    const {urls = 0, hosts = 0} = rows.find(({name}) => name === id) ?? {};
    return {id, urls, hosts};
  });
}
