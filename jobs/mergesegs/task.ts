import {newSegmentIds} from '../../lib/crawldb/segment-id.ts';
import {tableOf} from '../../lib/extract/declaration.ts';
import {content} from '../../lib/schema/content.ts';
import {extractions} from '../../lib/schema/extractions.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {outlinks} from '../../lib/schema/outlinks.ts';
import {parse} from '../../lib/schema/parse.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {declarationOf} from '../../lib/store/extract-views.ts';
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
import {askScope, inNewForm, readForms, type UrlRules} from './forms.ts';
import {copyLinks, copyRefusals, type ParseLinks} from './links.ts';
import {type KeptRow, SegmentsWriter} from './writer.ts';

const sql = readSql(import.meta.url, './mergesegs.sql', [
  'urls',
  'forms',
  'scoped',
  'accepted',
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

/** Files of a parse, or of what stands beside one. */
export interface PartFiles {
  /** `parse`, `outlinks`, `extract/NAME` or `extractions/NAME`. */
  readonly part: string;
  /** Name of the parse. */
  readonly parse: string;
  readonly files: readonly FileRef[];
}

/** A segment that is merged, with its files. Plain data. */
export interface SourceSegment {
  readonly id: string;
  readonly current: string | null;
  readonly fetchlist: readonly FileRef[];
  readonly fetch: readonly FileRef[];
  readonly content: readonly FileRef[];
  readonly refusals: readonly FileRef[];
  readonly parts: readonly PartFiles[];
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
  /** --filter and --normalize; null for neither. */
  readonly rules: UrlRules | null;
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

/**
 * Chooses by sets, in tables of DuckDB, which spills; then copies rows as they are read, links by DuckDB. Memory: a row
 * group, and DuckDB's.
 */
export async function mergeSegments(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as MergesegsParams; // made by plan
  const inputs = task.inputs.filter(({table}) => table !== 'inlinks');
  const tables = ['crawldb', 'fetch', 'parse', 'seeds', ...countTables] as const;
  const db = await openTaskDatabase({...task, inputs}, ctx, params.database, tables);
  try {
    const parts = (part: 'fetchlist' | 'content' | 'refusals') =>
      params.sources.flatMap((source) => source[part]);
    const sources = {
      fetchlist: parts('fetchlist'),
      content: parts('content'),
      refusals: parts('refusals'),
    };
    await bindTables(db, ctx.store, sources, {asViews: true});
    const names = await choose(db, ctx, params);
    const writer = new SegmentsWriter(ctx, {versions: params.versions, whole: wholeParts(params)});
    await copyAll(db, ctx, params, names.at(-1)!, writer);
    const links = linksOf(params);
    if (params.rules?.normalize !== true) await copyLinks(db, ctx, links, names.at(-1)!, writer);
    await copyRefusals(db, ctx, links, names.at(-1)!, writer);
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
async function choose(db: Database, ctx: TaskContext, params: MergesegsParams): Promise<readonly string[]> {
  const {sources, where, all, slice, existing, now, rules} = params;
  const chosen = await rowsTable(db, 'chosen', {segment: {type: 'text'}});
  await chosen.insert(sources.map(({id}) => ({segment: id})));
  await readForms(db, ctx, sql.urls, rules);
  await db.run(rules?.normalize === true ? sql.forms : 'CREATE VIEW list_line AS FROM fetchlist');
  if (rules?.filter === true) await askScope(db, ctx, sql.scoped, rules);
  if (rules !== null) await db.run(sql.accepted);
  const accepted = rules === null ? '' : 'SEMI JOIN accepted USING (segment, capture_id)';
  const condition = where === null ? '' : ` WHERE (${where}\n)`;
  await db.run(
    `CREATE VIEW candidate AS SELECT * FROM (${describedCaptures}) SEMI JOIN chosen USING (segment) ${accepted}${condition}`,
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
  params: MergesegsParams,
  newest: string,
  writer: SegmentsWriter,
): Promise<void> {
  const {sources} = params;
  const inForm = inNewForm(params.rules);
  for (const [done, source] of sources.toReversed().entries()) {
    ctx.signal.throwIfAborted();
    const kept = (query: string, table: Table, file: FileRef) =>
      keptRows(db, ctx, query, source.id, table, file);
    for (const file of source.fetchlist)
      await writer.copyList(file, kept(sql.lines, fetchlist, file), inForm);
    for (const file of source.fetch)
      await writer.copy(fetch, 'fetch', file, kept(sql.captures, fetch, file), (to, row) => ({
        ...inForm(row),
        ...payloadAt(to),
      }));
    for (const file of source.content)
      await writer.copy(content, 'content', file, kept(sql.payloads, content, file));
    for (const {part, parse: name, files} of source.parts) {
      const to = parseAfter(params, source, name);
      if (to === undefined || (part === 'outlinks' && params.rules?.normalize !== true)) continue;
      for (const file of files) {
        const table = tableOfPart(part, file);
        const {fetch_version: _, ...facts} = part.startsWith('extract') ? (file.facts ?? {}) : {};
        await writer.write(table, `segments/${newest}/${part}/${to}`, [], facts);
        const change = (_to: KeptRow, row: Row<Table>) => ({...inForm(row), parse_id: to});
        await writer.copy(table, `${part}/${to}`, file, kept(sql.captures, table, file), change, facts);
      }
    }
    ctx.progress({done: done + 1, total: sources.length, unit: 'segments'});
  }
}

/** Outlinks of the parses that stay, newest first as all else. */
function linksOf(params: MergesegsParams): readonly ParseLinks[] {
  return params.sources.toReversed().flatMap((source) =>
    source.parts.flatMap(({part, parse: name, files}) => {
      const to = part === 'outlinks' ? parseAfter(params, source, name) : undefined;
      return to === undefined ? [] : [{segment: source.id, to, files}];
    }),
  );
}

/** The name of a parse from now on; undefined for a side parse whose name the current one has now. */
function parseAfter(
  {parse: current}: MergesegsParams,
  source: SourceSegment,
  name: string,
): string | undefined {
  if (name === source.current) return current!;
  return name === current ? undefined : name;
}

/** `parse`, `outlinks`, `extractions/NAME`, or the table that an extractor has declared. */
function tableOfPart(part: string, file: FileRef): Table {
  if (part === 'parse') return parse;
  if (part === 'outlinks') return outlinks;
  return part.startsWith('extractions/') ? extractions : tableOf(declarationOf(file));
}

/** Parts that every segment has, and of all its captures. */
function wholeParts(params: MergesegsParams): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const source of params.sources)
    for (const {part, parse: name, files} of source.parts) {
      const to = parseAfter(params, source, name);
      const version = params.versions[source.id];
      const all = files.every(({facts}) => facts?.fetch_version === version && facts?.where === undefined);
      if (to !== undefined && all) counts.set(`${part}/${to}`, (counts.get(`${part}/${to}`) ?? 0) + 1);
    }
  return new Set([...counts].filter(([, n]) => n === params.sources.length).map(([part]) => part));
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
