import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {join} from 'node:path';
import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBInstance,
  DuckDBPreparedStatement,
  DuckDBResult,
} from '@duckdb/node-api';
import {CrawlError} from '../errors.ts';
import type {Table} from '../schema/table.ts';
import {type AppendColumns, appendRows} from './duckdb-append.ts';
import {type CopyOptions, castColumns, copyOptions} from './duckdb-copy.ts';
import {duckdbError, plainValue} from './duckdb-values.ts';
import type {FileRef} from './manifest-types.ts';
import {sqlName, sqlString} from './sql-types.ts';
import type {TableFile} from './store.ts';

export {sqlName, sqlString} from './sql-types.ts';

/** bigint binds as UBIGINT, a whole number as BIGINT, another as DOUBLE, Date as TIMESTAMPTZ. */
export type SqlValue = string | number | bigint | boolean | Uint8Array | Date | null;
export type SqlParameters = Readonly<Record<string, SqlValue>>;
export type SqlRow = Record<string, unknown>;

/**
 * A function of SQL that is computed here, on the thread of JavaScript, a vector at a time; so it takes much longer
 * than one of DuckDB's own. Null arguments come as null. What it throws fails the query.
 */
export interface SqlFunction {
  readonly name: string;
  readonly parameters: readonly ('BLOB' | 'VARCHAR')[];
  /** The result is a BLOB: the library cuts a text at its first NUL. `decode` makes a text of it. */
  call(...args: (Uint8Array | string | null)[]): Uint8Array | null;
}

/** One DuckDB instance in memory. Close it. */
export interface Database {
  /** One or more statements. Named parameters ($name) in each. */
  run(sql: string, params?: SqlParameters): Promise<void>;
  /** All rows: UBIGINT as bigint, other integers as number where safe, TIMESTAMPTZ as Date, BLOB as Uint8Array. */
  all<R extends Readonly<SqlRow>>(sql: string, params?: SqlParameters): Promise<R[]>;
  /**
   * Rows in batches, on a connection of its own (so without the temporary tables and variables of `run`).
   * Throws RESULT_INCOMPLETE when the rows so far are not all.
   */
  stream(sql: string, params?: SqlParameters): AsyncIterable<SqlRow[]>;
  /**
   * The same for columns of integers or doubles without nulls, a column an array: some 20 ns a value, where rows take
   * 300. Throws INTERNAL for a null.
   */
  numbers(sql: string, params?: SqlParameters): AsyncIterable<Float64Array[]>;
  /** Names and DuckDB types of a query's columns, without running it. */
  describe(sql: string, params?: SqlParameters): Promise<{name: string; type: string}[]>;
  /** Kinds of the statements in a text, as `SELECT` and `COPY`, without running any. For SQL that a person typed. */
  statementKinds(sql: string): Promise<string[]>;
  /** Makes a function for all queries of this instance. */
  define(fn: SqlFunction): Promise<void>;
  /** Writes the rows of `select` (its order kept) as a file of the table, each column cast to its declared type. */
  copy<T extends Table>(
    select: string,
    params: SqlParameters,
    file: TableFile<T>,
    options?: CopyOptions,
  ): Promise<FileRef>;
  /**
   * Adds rows to a table of this database, whose columns these are, in its order. As one JSON parameter a row of the
   * crawldb takes 0.15 ms, and 2,000 rows 120 MB; this way it takes 0.02 ms and 2 KB (measured 2026-11).
   */
  insert(
    table: string,
    columns: AppendColumns,
    rows: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** DuckDB's memory limit. It is the instance's own: the executor divides what there is. */
  readonly memoryBytes: number;
  readonly threads?: number;
  /** The instance makes a folder of its own in it: two instances with one folder corrupt each other's spill. */
  readonly spillDir: string;
  /** Aborting interrupts what runs, within milliseconds. */
  readonly signal?: AbortSignal;
}

/**
 * The library, loaded with the first database: 0.4 s of processor time (measured 2026-11) that `crawl COMMAND --help`, usage errors
 * and jobs with nothing to do need not wait for.
 */
let api: typeof import('@duckdb/node-api');

/** The one place where DuckDB instances are made. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  api = await import('@duckdb/node-api');
  await mkdir(options.spillDir, {recursive: true});
  const spill = await mkdtemp(join(options.spillDir, 'duckdb-'));
  const instance = await api.DuckDBInstance.create(':memory:', {
    memory_limit: `${Math.max(1, Math.floor(options.memoryBytes / 1024))}KiB`,
    temp_directory: spill,
    // Nothing is ever loaded from the network.
    autoinstall_known_extensions: 'false',
    ...(options.threads !== undefined && {threads: `${options.threads}`}),
  });
  const database = new DuckDatabase(instance, spill, options.signal);
  // Files never change, so a footer is read once: that of a bucket takes 3 ms a query (docs/decisions/0214)
  await database.run("SET GLOBAL TimeZone = 'UTC'; SET GLOBAL parquet_metadata_cache = true");
  return database;
}

/** While an abort waits for running queries: an interrupt that comes between two of them is lost. */
const interruptAgainMs = 20;

class DuckDatabase implements Database {
  readonly #instance: DuckDBInstance;
  readonly #spill: string;
  readonly #signal: AbortSignal | undefined;
  readonly #connections = new Set<DuckDBConnection>();
  #main: Promise<DuckDBConnection> | undefined;
  #running = 0;
  #closed = false;

  constructor(instance: DuckDBInstance, spill: string, signal: AbortSignal | undefined) {
    this.#instance = instance;
    this.#spill = spill;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#interrupt, {once: true});
  }

  async run(sql: string, params: SqlParameters = {}): Promise<void> {
    await this.#guard(sql, async () => {
      await this.#result(sql, params);
    });
  }

  async all<R extends Readonly<SqlRow>>(sql: string, params: SqlParameters = {}): Promise<R[]> {
    return this.#guard(sql, async () => {
      const result = await this.#result(sql, params);
      const rows: SqlRow[] = [];
      for (const chunk of (await result?.fetchAllChunks()) ?? [])
        for (const row of chunkRows(result!, chunk)) rows.push(row);
      return rows as R[]; // the caller knows the columns of its query
    });
  }

  /**
   * The result of the last statement, whole. Statements without parameters are not prepared: that plans most of them
   * twice, a tenth of the processor time of a small round (measured 2026-11).
   */
  async #result(sql: string, params: SqlParameters): Promise<DuckDBResult | undefined> {
    const connection = await this.#connection();
    if (Object.keys(params).length === 0) return connection.run(sql);
    const last = await prepareLast(connection, sql, params);
    try {
      return await last?.run();
    } finally {
      last?.destroySync();
    }
  }

  async insert(
    table: string,
    columns: AppendColumns,
    rows: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.#guard(`INSERT INTO ${sqlName(table)}`, async () => {
      const appender = await (await this.#connection()).createAppender(table);
      try {
        appendRows(appender, columns, rows, (micros) => new api.DuckDBTimestampTZValue(micros));
        appender.flushSync();
      } finally {
        appender.closeSync();
      }
    });
  }

  stream(sql: string, params: SqlParameters = {}): AsyncGenerator<SqlRow[]> {
    return this.#chunks(sql, params, chunkRows);
  }

  numbers(sql: string, params: SqlParameters = {}): AsyncGenerator<Float64Array[]> {
    return this.#chunks(sql, params, (_result, chunk) => chunkNumbers(chunk));
  }

  async *#chunks<R>(
    sql: string,
    params: SqlParameters,
    read: (result: DuckDBResult, chunk: DuckDBDataChunk) => R,
  ): AsyncGenerator<R> {
    const connection = await this.#connect();
    let statement: DuckDBPreparedStatement | undefined;
    try {
      const result = await this.#guard(sql, async () => {
        await connection.run('BEGIN TRANSACTION');
        statement = await prepareLast(connection, sql, params);
        return statement?.stream();
      });
      if (result === undefined) return;
      while (true) {
        const chunk = await this.#guard(sql, () => result.fetchChunk());
        if (chunk === null || chunk.rowCount === 0) break;
        yield read(result, chunk);
      }
      await this.#checkWhole(connection, sql);
    } finally {
      statement?.destroySync();
      this.#disconnect(connection);
    }
  }

  async describe(sql: string, params: SqlParameters = {}): Promise<{name: string; type: string}[]> {
    const rows = await this.all<{column_name: string; column_type: string}>(`DESCRIBE ${sql}`, params);
    return rows.map((row) => ({name: row.column_name, type: row.column_type}));
  }

  async statementKinds(sql: string): Promise<string[]> {
    return this.#guard(sql, async () => {
      const statements = await (await this.#connection()).extractStatements(sql);
      const kinds: string[] = [];
      for (let i = 0; i < statements.count; i++) {
        const statement = await statements.prepare(i);
        kinds.push(api.StatementType[statement.statementType] ?? 'INVALID');
        statement.destroySync();
      }
      return kinds;
    });
  }

  async define({name, parameters, call}: SqlFunction): Promise<void> {
    const scalar = api.DuckDBScalarFunction.create({
      name,
      parameterTypes: parameters.map((type) => api[type]),
      returnType: api.BLOB,
      specialHandling: true, // of nulls: they are passed on
      mainFunction: (_info, chunk, output) => {
        const columns = parameters.map((_type, at) => chunk.getColumnVector(at));
        for (let row = 0; row < chunk.rowCount; row++) {
          const result = call(...columns.map((column) => plainValue(column.getItem(row), false) as string)); // as declared
          output.setItem(row, result === null ? null : new api.DuckDBBlobValue(result));
        }
        output.flush();
      },
    });
    (await this.#connection()).registerScalarFunction(scalar);
  }

  async copy<T extends Table>(
    select: string,
    params: SqlParameters,
    file: TableFile<T>,
    options: CopyOptions = {},
  ): Promise<FileRef> {
    try {
      const query = select.replace(/;\s*$/, '');
      const projection = castColumns(file.table, await this.describe(query, params));
      const target = `${sqlString(file.path)} (${copyOptions(file.table, options)})`;
      await this.run(`COPY (SELECT ${projection} FROM (\n${query}\n)) TO ${target}`, params);
      return await file.finish(options.facts);
    } catch (error) {
      await file.discard();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#signal?.removeEventListener('abort', this.#interrupt);
    for (const connection of this.#connections) connection.interrupt();
    for (const connection of this.#connections) this.#disconnect(connection);
    this.#instance.closeSync();
    await rm(this.#spill, {recursive: true, force: true});
  }

  #connection(): Promise<DuckDBConnection> {
    this.#main ??= this.#connect();
    return this.#main;
  }

  async #connect(): Promise<DuckDBConnection> {
    const connection = await this.#instance.connect();
    this.#connections.add(connection);
    return connection;
  }

  #disconnect(connection: DuckDBConnection): void {
    if (this.#connections.delete(connection)) connection.disconnectSync();
  }

  /** Runs a call of DuckDB: its errors become ours, and an abort ends it. */
  async #guard<R>(sql: string, call: () => Promise<R>): Promise<R> {
    if (this.#signal?.aborted) throw new CrawlError('INTERRUPTED', 'the query was stopped');
    this.#running++;
    try {
      return await call();
    } catch (error) {
      throw duckdbError(error, sql, this.#signal?.aborted === true);
    } finally {
      this.#running--;
    }
  }

  readonly #interrupt = (): void => {
    for (const connection of this.#connections) connection.interrupt();
    if (this.#running > 0) setTimeout(this.#interrupt, interruptAgainMs).unref();
  };

  /**
   * DuckDB ends a stream in silence when the query fails in the middle: 636,928 of 700,000 rows and no
   * exception (measured 2026-11). But the failure aborts the transaction around it, and any further statement says so.
   */
  async #checkWhole(connection: DuckDBConnection, sql: string): Promise<void> {
    try {
      await connection.run('SELECT 1');
    } catch (error) {
      if (this.#signal?.aborted) throw new CrawlError('INTERRUPTED', 'the query was stopped', {cause: error});
      throw new CrawlError('RESULT_INCOMPLETE', 'the query failed while its rows were being read', {
        facts: {sql},
        cause: error,
      });
    }
  }
}

/** Runs all statements but the last and prepares that one; undefined if there is none. */
async function prepareLast(
  connection: DuckDBConnection,
  sql: string,
  params: SqlParameters,
): Promise<DuckDBPreparedStatement | undefined> {
  const statements = await connection.extractStatements(sql);
  for (let i = 0; i < statements.count; i++) {
    const statement = await statements.prepare(i);
    bind(statement, params);
    if (i === statements.count - 1) return statement;
    try {
      await statement.run();
    } finally {
      statement.destroySync();
    }
  }
  return undefined;
}

function bind(statement: DuckDBPreparedStatement, params: SqlParameters): void {
  for (let i = 1; i <= statement.parameterCount; i++) {
    const name = statement.parameterName(i);
    const value = params[name];
    if (value === undefined) throw new CrawlError('INTERNAL', `the query’s parameter $${name} has no value`);
    if (value === null) statement.bindNull(i);
    else if (typeof value === 'string') statement.bindVarchar(i, value);
    else if (typeof value === 'bigint') statement.bindUBigInt(i, value);
    else if (typeof value === 'boolean') statement.bindBoolean(i, value);
    else if (typeof value === 'number')
      if (Number.isSafeInteger(value)) statement.bindBigInt(i, BigInt(value));
      else statement.bindDouble(i, value);
    else if (value instanceof Date)
      statement.bindTimestampTZ(i, new api.DuckDBTimestampTZValue(BigInt(value.getTime()) * 1000n));
    else statement.bindBlob(i, value);
  }
}

function chunkRows(result: DuckDBResult, chunk: DuckDBDataChunk): SqlRow[] {
  const names = result.deduplicatedColumnNames();
  const rows: SqlRow[] = Array.from({length: chunk.rowCount}, () => ({}));
  for (const [column, name] of names.entries()) {
    const isKey = result.columnTypeId(column) === api.DuckDBTypeId.UBIGINT;
    chunk.visitColumnValues(column, (value, row) => {
      rows[row]![name] = plainValue(value, isKey);
    });
  }
  return rows;
}

function chunkNumbers(chunk: DuckDBDataChunk): Float64Array[] {
  return Array.from({length: chunk.columnCount}, (_, column) => {
    const vector = chunk.getColumnVector(column);
    const values = new Float64Array(chunk.rowCount);
    for (let row = 0; row < values.length; row++) {
      const value = vector.getItem(row);
      if (typeof value !== 'number')
        throw new CrawlError('INTERNAL', `column ${column} of a query for numbers holds ${String(value)}`);
      values[row] = value;
    }
    return values;
  });
}
