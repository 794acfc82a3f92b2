import {content} from '../../lib/schema/content.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {outlinks} from '../../lib/schema/outlinks.ts';
import {parse} from '../../lib/schema/parse.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import type {TableFile} from '../../lib/store/store.ts';
import type {TaskContext} from '../job.ts';

/** A row that stays. */
export interface KeptRow {
  /** Its place in its file, from 0. */
  readonly place: number;
  /** The segment that has it from now on. */
  readonly name: string;
  /** Of a capture: the segment that has its payload. */
  readonly holder?: string | null;
}

/** A file is ended at this size: DESIGN, ceil(bytes / 256 MB) files a part. */
const fileBytes = 256 * 2 ** 20;
/** The same for rows that are small: chosen, some hundred bytes each. */
export const fileRows = 1_000_000;

interface OpenFile {
  readonly slot: string;
  readonly file: TableFile<Table>;
  facts: NonNullable<FileRef['facts']>;
  rows: number;
  bytes: number;
}

export interface WriterRules {
  /** Versions of the slots `segments/ID/fetch` so far. */
  readonly versions: Readonly<Record<string, number>>;
  /** Parts, as `parse/NAME`, that have all captures of all segments that are merged. */
  readonly whole: ReadonlySet<string>;
}

/**
 * Files of the segments that come out, by slot. Rows are copied as they are read; which ones comes from a query over the
 * same file, in its order. Memory: a row group.
 */
export class SegmentsWriter {
  readonly #ctx: TaskContext;
  readonly #rules: WriterRules;
  readonly #open = new Map<string, OpenFile>();
  readonly #slots: Record<string, FileRef[]> = {};
  readonly #ranks = new Map<string, number>();

  constructor(ctx: TaskContext, rules: WriterRules) {
    this.#ctx = ctx;
    this.#rules = rules;
  }

  /**
   * Copies the rows of a file that stay, with changes.
   *
   * @param part as `fetch` or `parse/NAME`
   * @param kept in order of place
   * @param facts to keep with the file; rows of files with other facts lie in another one
   */
  async copy<T extends Table>(
    table: T,
    part: string,
    file: FileRef,
    kept: AsyncIterable<readonly KeptRow[]>,
    change: (kept: KeptRow, row: Row<T>) => Partial<Row<T>> = () => ({}),
    facts: NonNullable<FileRef['facts']> = {},
  ): Promise<void> {
    const places = new Places(kept);
    try {
      let first = 0;
      for await (const rows of readTable(table, this.#ctx.store.path(file))) {
        this.#ctx.signal.throwIfAborted();
        const groups = new Map<string, Row<T>[]>();
        for (const to of await places.before(first + rows.length)) {
          const row = rows[to.place - first] as Row<T>;
          const list = groups.get(to.name) ?? [];
          list.push({...row, segment: to.name, ...change(to, row)});
          groups.set(to.name, list);
        }
        first += rows.length;
        for (const [name, list] of groups) await this.write(table, `segments/${name}/${part}`, list, facts);
      }
    } finally {
      await places.close();
    }
  }

  /** Lines of a fetchlist, numbered anew. */
  async copyList(
    file: FileRef,
    kept: AsyncIterable<readonly KeptRow[]>,
    change: (row: Row<typeof fetchlist>) => Partial<Row<typeof fetchlist>>,
  ): Promise<void> {
    await this.copy(fetchlist, 'fetchlist', file, kept, ({name}, row) => {
      const rank = (this.#ranks.get(name) ?? 0) + 1;
      this.#ranks.set(name, rank);
      return {...change(row), partition: 0, rank};
    });
  }

  /** Adds rows to a slot, which has a file from then on. */
  async write<T extends Table>(
    table: T,
    slot: string,
    rows: readonly Row<T>[],
    {planned_time, ...facts}: NonNullable<FileRef['facts']> = {},
  ): Promise<void> {
    const key = `${slot} ${JSON.stringify(facts)}`;
    let open = this.#open.get(key);
    if (open === undefined) {
      open = {slot, file: await this.#ctx.store.create<Table>(table, slot), facts, rows: 0, bytes: 0};
      this.#open.set(key, open);
    }
    if (planned_time !== undefined)
      open.facts = {
        ...facts,
        planned_time: Math.max(Number(planned_time), Number(open.facts.planned_time ?? 0)),
      };
    await open.file.write(rows);
    open.rows += rows.length;
    for (const row of rows) open.bytes += Number(row.content_length ?? 0);
    if (open.rows >= fileRows || (table.name === content.name && open.bytes >= fileBytes))
      await this.#end(key, open);
  }

  /** Adds a whole file to a slot, written by `by`, which keeps the facts with it. */
  async fill<T extends Table>(
    table: T,
    slot: string,
    by: (file: TableFile<T>, facts: NonNullable<FileRef['facts']>) => Promise<FileRef>,
  ): Promise<void> {
    this.#keep(slot, await by(await this.#ctx.store.create(table, slot), this.#factsOf(slot)));
  }

  async #end(key: string, {slot, file, facts}: OpenFile): Promise<void> {
    this.#open.delete(key);
    this.#keep(slot, await file.close({...facts, ...this.#factsOf(slot)}));
  }

  #keep(slot: string, file: FileRef): void {
    this.#slots[slot] = [...(this.#slots[slot] ?? []), file];
  }

  /** Of a part that has all captures: the version of the fetch slot that this is so for. */
  #factsOf(slot: string): NonNullable<FileRef['facts']> {
    const [, id, ...part] = slot.split('/');
    return this.#rules.whole.has(part.join('/')) ? {fetch_version: (this.#rules.versions[id!] ?? 0) + 1} : {};
  }

  /**
   * Ends all files; parts that every segment has are there, with no rows if need be.
   *
   * @param names of the segments that come out
   * @param current name of their current parse
   */
  async close(
    names: readonly string[],
    current: string | null,
  ): Promise<Readonly<Record<string, readonly FileRef[]>>> {
    const parts: (readonly [Table, string])[] = [
      [fetchlist, 'fetchlist'],
      [fetch, 'fetch'],
      [content, 'content'],
    ];
    if (current !== null) parts.push([parse, `parse/${current}`], [outlinks, `outlinks/${current}`]);
    for (const name of names)
      for (const [table, part] of parts) {
        const slot = `segments/${name}/${part}`;
        if (this.#slots[slot] === undefined) await this.write(table, slot, []);
      }
    for (const [key, open] of this.#open) await this.#end(key, open);
    return this.#slots;
  }
}

/** Rows that stay, taken piece by piece. */
class Places {
  readonly #batches: AsyncIterator<readonly KeptRow[]>;
  #rest: readonly KeptRow[] = [];

  constructor(kept: AsyncIterable<readonly KeptRow[]>) {
    this.#batches = kept[Symbol.asyncIterator]();
  }

  /** Those before a place that were not taken yet. */
  async before(end: number): Promise<readonly KeptRow[]> {
    const taken: KeptRow[] = [];
    while (true) {
      const beyond = this.#rest.findIndex(({place}) => place >= end);
      const here = beyond < 0 ? this.#rest : this.#rest.slice(0, beyond);
      for (const row of here) taken.push(row);
      this.#rest = this.#rest.slice(here.length);
      if (beyond >= 0) return taken;
      const next = await this.#batches.next();
      if (next.done === true) return taken;
      this.#rest = next.value;
    }
  }

  /** Ends the query, whether all was taken or not. */
  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}
