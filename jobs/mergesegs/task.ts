import {newSegmentIds} from '../../lib/crawldb/segment-id.ts';
import {content} from '../../lib/schema/content.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {outlinks} from '../../lib/schema/outlinks.ts';
import {parse} from '../../lib/schema/parse.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import type {TableFile} from '../../lib/store/store.ts';
import {type DatabaseParams, openTaskDatabase, rowsTable, writeDelta} from '../crawldb/writer.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {describedCaptures} from '../read/capture-where.ts';
import {readSql} from '../runner/sql-file.ts';

const sql = readSql(import.meta.url, './mergesegs.sql', [
  'kept',
  'payload',
  'places',
  'captures',
  'listed',
  'payloads',
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
  /** Versions of the slots `segments/ID/fetch`; parses name the one that they are whole for. */
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

/**
 * Chooses by sets, then copies rows as they are read. Held in memory: the capture ids of one old segment at a time, the
 * digests of payloads that are kept, and the URLs of fetchlists that are.
 */
export async function mergeSegments(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as MergesegsParams; // made by plan
  const inputs = task.inputs.filter(({table}) => table !== 'inlinks');
  const tables = ['crawldb', 'fetch', 'parse', 'hoststats', 'seedstats'] as const;
  const db = await openTaskDatabase({...task, inputs}, ctx, params.database, tables);
  try {
    const names = await choose(db, params);
    const writer = new SegmentsWriter(ctx, params, names);
    await copyAll(db, ctx, params, writer);
    await redirectOthers(db, params, writer);
    await db.run(sql.delta);
    const {files} = await writeDelta(db, ctx, params.revision);
    const slots = await writer.close();
    const [totals] = await db.all<{captures: number; kept: number}>(sql.totals);
    const {captures = 0, kept = 0} = totals ?? {};
    return {
      files: [...files, ...Object.values(slots).flat()],
      counters: {captures_kept_total: kept, captures_dropped_total: captures - kept},
      reasons: {},
      facts: {slots, merged: writer.merged()},
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

type Place = {
  readonly name: string | null;
  readonly holder: string;
};

/** Where the captures of an old segment are from now on, and where their payloads are. */
async function placesOf(db: Database, segment: string): Promise<ReadonlyMap<string, Place>> {
  const rows = await db.all<Place & {readonly capture_id: string}>(sql.captures, {segment});
  return new Map(rows.map(({capture_id, ...place}) => [capture_id, place]));
}

/** Newest first, so that of equal lines of fetchlists the newest stays. */
async function copyAll(
  db: Database,
  ctx: TaskContext,
  {sources, parse: current}: MergesegsParams,
  writer: SegmentsWriter,
): Promise<void> {
  const wanted = new Map(
    (await db.all<{content_sha256: string; name: string}>(sql.payloads)).map((row) => [
      row.content_sha256,
      row.name,
    ]),
  );
  for (const [done, source] of sources.toReversed().entries()) {
    ctx.signal.throwIfAborted();
    const places = await placesOf(db, source.id);
    const nameOf = ({capture_id}: {readonly capture_id: string}) => places.get(capture_id)?.name ?? null;
    await writer.copyList(source.fetchlist, await listedOf(db, source.id));
    await writer.copy(fetch, 'fetch', source.fetch, nameOf, ({capture_id, content_segment}) =>
      content_segment === null ? {} : {content_segment: places.get(capture_id)!.holder},
    );
    await writer.copy(content, 'content', source.content, ({content_sha256}) => {
      const name = wanted.get(content_sha256) ?? null;
      wanted.delete(content_sha256); // once
      return name;
    });
    for (const [name, files] of Object.entries(source.parses)) {
      if (name === current && name !== source.current) continue; // another one takes its place
      const to = name === source.current ? current! : name;
      await writer.copy(parse, `parse/${to}`, files.parse, nameOf, () => ({parse_id: to}));
      await writer.copy(outlinks, `outlinks/${to}`, files.outlinks, nameOf, () => ({parse_id: to}));
    }
    ctx.progress({done: done + 1, total: sources.length, unit: 'segments'});
  }
}

async function listedOf(db: Database, segment: string): Promise<ReadonlyMap<string, string>> {
  const rows = await db.all<{host_key: bigint; url_key: bigint; name: string}>(sql.listed, {segment});
  return new Map(rows.map(({host_key, url_key, name}) => [`${host_key} ${url_key}`, name]));
}

/** Captures of other segments that share a payload with these name the segment that has it from now on. */
async function redirectOthers(
  db: Database,
  {others}: MergesegsParams,
  writer: SegmentsWriter,
): Promise<void> {
  for (const {segment} of await db.all<{segment: string}>(sql.others)) {
    const places = await placesOf(db, segment);
    await writer.copy(
      fetch,
      'fetch',
      others[segment] ?? [],
      () => segment,
      ({capture_id}) => {
        const place = places.get(capture_id);
        return place === undefined ? {} : {content_segment: place.holder};
      },
    );
  }
}

/** A file is ended at this size: DESIGN, ceil(bytes / 256 MB) files a part. */
const fileBytes = 256 * 2 ** 20;
/** The same for rows that are small: chosen, some hundred bytes each. */
const fileRows = 1_000_000;

interface OpenFile {
  readonly file: TableFile<Table>;
  rows: number;
  bytes: number;
}

/** Files of the segments that come out, by slot. */
class SegmentsWriter {
  readonly #ctx: TaskContext;
  readonly #params: MergesegsParams;
  readonly #names: readonly string[];
  readonly #open = new Map<string, OpenFile>();
  readonly #slots: Record<string, FileRef[]> = {};
  readonly #listed = new Map<string, {rank: number; hosts: Set<bigint>}>();
  readonly #seen = new Set<string>();

  constructor(ctx: TaskContext, params: MergesegsParams, names: readonly string[]) {
    this.#ctx = ctx;
    this.#params = params;
    this.#names = names;
  }

  /**
   * Copies rows into the part of the segment that `nameOf` gives, null for none, with changes.
   *
   * @param part as `fetch` or `parse/NAME`
   */
  async copy<T extends Table>(
    table: T,
    part: string,
    files: readonly FileRef[],
    nameOf: (row: Row<T>) => string | null,
    change: (row: Row<T>) => Partial<Row<T>> = () => ({}),
  ): Promise<void> {
    for (const file of files)
      for await (const rows of readTable(table, this.#ctx.store.path(file))) {
        this.#ctx.signal.throwIfAborted();
        const groups = new Map<string, Row<T>[]>();
        for (const row of rows as Row<T>[]) {
          const name = nameOf(row);
          if (name === null) continue;
          const list = groups.get(name) ?? [];
          list.push({...row, segment: name, ...change(row)});
          groups.set(name, list);
        }
        for (const [name, list] of groups) await this.#write(table, `segments/${name}/${part}`, list);
      }
  }

  /** Lines of a fetchlist, each URL once, numbered anew. */
  async copyList(files: readonly FileRef[], listed: ReadonlyMap<string, string>): Promise<void> {
    const keyOf = (row: Row<typeof fetchlist>) => `${row.host_key} ${row.url_key}`;
    await this.copy(
      fetchlist,
      'fetchlist',
      files,
      (row) => (this.#seen.has(keyOf(row)) ? null : (listed.get(keyOf(row)) ?? null)),
      (row) => {
        const name = listed.get(keyOf(row))!; // or it had no place
        this.#seen.add(keyOf(row));
        const list = this.#listed.get(name) ?? {rank: 0, hosts: new Set()};
        this.#listed.set(name, list);
        list.hosts.add(row.host_key);
        return {partition: 0, rank: ++list.rank};
      },
    );
  }

  async #write<T extends Table>(table: T, slot: string, rows: readonly Row<T>[]): Promise<void> {
    let open = this.#open.get(slot);
    if (open === undefined) {
      open = {file: await this.#ctx.store.create<Table>(table, slot), rows: 0, bytes: 0};
      this.#open.set(slot, open);
    }
    await open.file.write(rows);
    open.rows += rows.length;
    for (const row of rows) open.bytes += Number(row.content_length ?? 0);
    if (open.rows >= fileRows || (table.name === content.name && open.bytes >= fileBytes))
      await this.#end(slot, open);
  }

  async #end(slot: string, {file}: OpenFile): Promise<void> {
    this.#open.delete(slot);
    const [, id, part] = slot.split('/');
    const fetchVersion = (this.#params.versions[id!] ?? 0) + 1;
    const done = await file.close(part === 'parse' ? {fetch_version: fetchVersion} : undefined);
    this.#slots[slot] = [...(this.#slots[slot] ?? []), done];
  }

  /** Ends all files; parts that every segment has are there, with no rows if need be. */
  async close(): Promise<Readonly<Record<string, readonly FileRef[]>>> {
    const {parse: current} = this.#params;
    const parts: (readonly [Table, string])[] = [
      [fetchlist, 'fetchlist'],
      [fetch, 'fetch'],
      [content, 'content'],
    ];
    if (current !== null) parts.push([parse, `parse/${current}`], [outlinks, `outlinks/${current}`]);
    for (const name of this.#names)
      for (const [table, part] of parts) await this.#write(table, `segments/${name}/${part}`, []);
    for (const [slot, open] of this.#open) await this.#end(slot, open);
    return this.#slots;
  }

  merged(): readonly MergedSegment[] {
    return this.#names.map((id) => {
      const {rank = 0, hosts = new Set()} = this.#listed.get(id) ?? {};
      return {id, urls: rank, hosts: hosts.size};
    });
  }
}
