import {createHash} from 'node:crypto';
import {type FileHandle, open, rm} from 'node:fs/promises';
import {dirname} from 'node:path';
import {CrawlError} from '../errors.ts';
import type {Row, Table} from '../schema/table.ts';
import {syncFolder} from './durable.ts';
import type {FileRef} from './manifest-types.ts';
import {type Codec, ParquetOutput} from './parquet-output.ts';
import {TableReader} from './parquet-read.ts';
import {RowGroup} from './row-group.ts';
import type {TableFile} from './store.ts';
import {fileDigest, fileError, syncFile} from './table-io.ts';

/**
 * Rows of a group are held until their values come to this many bytes. Measured 2026-11: reading payloads
 * from groups of 8, 16, 64 MB ran at 623, 529, 565 MB/s with 105, 142, 233 MB of memory; parsing in two threads
 * took 430 MB with groups of 8, 530 with groups of 16.
 */
const groupBytes = 8 * 2 ** 20;
/** Chosen: DuckDB's own number of rows in a group. */
const groupRows = 122_880;

/** Rows taken over at a time: so many may come above {@link groupBytes}. Chosen: links of a page. Of payloads one. */
const rowsAtOnce = 64;

/**
 * Columns kept as they are, since most payloads are compressed already and none is ever compared: PLAIN,
 * UNCOMPRESSED, without statistics.
 */
const rawColumns: ReadonlySet<string> = new Set(['payload']);

/**
 * Columns of prose and headers: long, many, few equal. PLAIN, since a dictionary of them is built for nothing; BROTLI, which at
 * its fastest takes a third of gzip's time and 2 % more space; see docs/decisions/0010.
 */
const proseColumns: ReadonlySet<string> = new Set([
  'text',
  'main_text',
  'title',
  'description',
  'href',
  'anchor',
  'request_header',
  'response_header',
]);

/**
 * A new file of `table` at `path`.
 *
 * @param options.key path that the file will have in the crawl folder, with `/`
 */
export function createTableFile<T extends Table>(
  table: T,
  path: string,
  options: {readonly key: string},
): TableFile<T> {
  return new ParquetTableFile(table, path, options.key);
}

class ParquetTableFile<T extends Table> implements TableFile<T> {
  readonly table: T;
  readonly path: string;
  readonly #key: string;
  readonly #names: readonly string[];
  readonly #codecs: readonly Codec[];
  /** First column that holds keys: its range is kept in the FileRef. */
  readonly #keyColumn: string | undefined;
  #handle: FileHandle | undefined;
  #output: ParquetOutput | undefined;
  readonly #hash = createHash('sha256');
  #size = 0;
  #rows = 0;
  readonly #rowsAtOnce: number;
  #least: bigint | undefined;
  #greatest: bigint | undefined;
  readonly #group: RowGroup<T>;

  constructor(table: T, path: string, key: string) {
    this.table = table;
    this.path = path;
    this.#key = key;
    this.#names = Object.keys(table.columns);
    this.#codecs = this.#names.map(codecOf);
    this.#keyColumn = keyColumn(table);
    this.#group = new RowGroup(table, proseColumns);
    this.#rowsAtOnce = this.#names.some((name) => rawColumns.has(name)) ? 1 : rowsAtOnce;
  }

  async write(rows: readonly Row<T>[]): Promise<void> {
    for (let from = 0; from < rows.length; from += this.#rowsAtOnce) {
      const some = rows.length <= this.#rowsAtOnce ? rows : rows.slice(from, from + this.#rowsAtOnce);
      this.#group.add(some);
      this.#widenRange(some);
      if (this.#group.bytes >= groupBytes || this.#group.rows >= groupRows) await this.#flush();
    }
  }

  async close(facts?: FileRef['facts']): Promise<FileRef> {
    await this.#flush(true);
    const handle = this.#handle!; // opened by the flush
    try {
      await handle.sync();
    } catch (error) {
      throw fileError(error, this.path);
    } finally {
      await handle.close();
      this.#handle = undefined;
    }
    await syncFolder(dirname(this.path));
    return this.#ref(
      {rows: this.#rows, bytes: this.#size, sha256: this.#hash.digest('hex')},
      this.#least === undefined ? undefined : [`${this.#least}`, `${this.#greatest}`],
      facts,
    );
  }

  async finish(facts?: FileRef['facts']): Promise<FileRef> {
    const reader = await TableReader.open(this.table, this.path);
    reader.close();
    checkNulls(this.table, reader);
    await syncFile(this.path);
    await syncFolder(dirname(this.path));
    const digest = await fileDigest(this.path);
    return this.#ref(
      {rows: Number(reader.metadata.num_rows), ...digest},
      keyRange(reader, this.#keyColumn),
      facts,
    );
  }

  async discard(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    this.#group.clear();
    await rm(this.path, {force: true});
  }

  #ref(
    digest: {rows: number; bytes: number; sha256: string},
    range: readonly [string, string] | undefined,
    facts: FileRef['facts'],
  ): FileRef {
    return {
      table: this.table.name,
      version: this.table.version,
      key: this.#key,
      ...digest,
      ...(range && {range}),
      ...(facts && {facts}),
    };
  }

  #widenRange(rows: readonly Row<T>[]): void {
    if (this.#keyColumn === undefined) return;
    let last: unknown;
    for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
      const key = row[this.#keyColumn];
      if (typeof key !== 'bigint' || key === last) continue;
      last = key;
      if (this.#least === undefined || key < this.#least) this.#least = key;
      if (this.#greatest === undefined || key > this.#greatest) this.#greatest = key;
    }
  }

  async #flush(last = false): Promise<void> {
    const output = await this.#open();
    const {rows, columns} = this.#group;
    if (rows > 0) {
      for (const [at, column] of columns.entries()) output.column(column.chunk(), this.#codecs[at]!);
      output.endGroup(rows);
      this.#rows += rows;
      this.#group.clear();
    }
    if (last) output.finish();
    await this.#drain(output);
  }

  async #open(): Promise<ParquetOutput> {
    if (this.#output !== undefined) return this.#output;
    try {
      this.#handle = await open(this.path, 'wx');
    } catch (error) {
      throw fileError(error, this.path);
    }
    this.#output = new ParquetOutput(this.table);
    return this.#output;
  }

  /** Hands what has been made to the file. */
  async #drain(output: ParquetOutput): Promise<void> {
    const {bytes} = output;
    this.#hash.update(bytes);
    try {
      let done = 0;
      while (done < bytes.length) done += (await this.#handle!.write(bytes, done)).bytesWritten;
    } catch (error) {
      throw fileError(error, this.path);
    }
    this.#size += bytes.length;
    output.taken();
  }
}

function codecOf(column: string): Codec {
  if (rawColumns.has(column)) return 'UNCOMPRESSED';
  return proseColumns.has(column) ? 'BROTLI' : 'GZIP';
}

/** First column of the table's key that holds keys, else the first such column at all. */
function keyColumn(table: Table): string | undefined {
  const isKey = (name: string) => table.columns[name]?.type === 'key';
  return table.key.find(isKey) ?? Object.keys(table.columns).find(isKey);
}

/** Least and greatest value of a key column, from the statistics of the row groups. */
function keyRange(reader: TableReader<Table>, column: string | undefined): [string, string] | undefined {
  if (column === undefined) return undefined;
  let least: bigint | undefined;
  let greatest: bigint | undefined;
  for (const group of reader.metadata.row_groups) {
    const statistics = group.columns.find((chunk) => chunk.meta_data?.path_in_schema[0] === column)?.meta_data
      ?.statistics;
    const min = statistics?.min_value ?? statistics?.min;
    const max = statistics?.max_value ?? statistics?.max;
    if (typeof min !== 'bigint' || typeof max !== 'bigint') return undefined;
    if (least === undefined || min < least) least = min;
    if (greatest === undefined || max > greatest) greatest = max;
  }
  return least === undefined ? undefined : [`${least}`, `${greatest}`];
}

/** DuckDB writes every column as optional: a null where the declaration has none is a defect of the query. */
function checkNulls(table: Table, reader: TableReader<Table>): void {
  for (const group of reader.metadata.row_groups)
    for (const chunk of group.columns) {
      const name = chunk.meta_data?.path_in_schema[0];
      if (name === undefined || table.columns[name] === undefined || table.columns[name].nullable) continue;
      const nulls = chunk.meta_data?.statistics?.null_count;
      if (nulls !== undefined && nulls > 0n)
        throw new CrawlError('INTERNAL', `${reader.path}: ${nulls} rows of ${table.name} have no ${name}`);
    }
}
