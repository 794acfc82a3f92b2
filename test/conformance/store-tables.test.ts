import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {describe, type TestContext, test} from 'node:test';
import {decompress} from 'fzstd';
import type {Column, Table} from '../../lib/schema/table.ts';
import {tables} from '../../lib/schema/tables.ts';
import {openDatabase, sqlName, sqlString} from '../../lib/store/duckdb.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {duckdbType} from '../../lib/store/sql-types.ts';
import {comparable, sampleRows} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/**
 * Each declared table, written by both of our writers (rows through hyparquet-writer, queries through DuckDB's
 * COPY), must be what the declaration says to three readers: DuckDB, hyparquet, and parquetjs, which many Node
 * programs have.
 */
const rowCount = 50;

async function setUp(t: TestContext) {
  const dir = await temporaryFolder(t);
  const db = await openDatabase({memoryBytes: 500e6, spillDir: join(dir, 'spill')});
  t.after(() => db.close());
  return {dir, db};
}

for (const table of Object.values(tables) as Table[])
  describe(`table ${table.name}`, () => {
    test('round trip of every column, all nulls included, by both writers and all readers', async (t) => {
      const {dir, db} = await setUp(t);
      const rows = sampleRows(table, rowCount);
      const expected = comparable(rows);

      const ours = createTableFile(table, join(dir, 'rows.parquet'), {key: 'rows'});
      await ours.write(rows.slice(0, 20));
      await ours.write(rows.slice(20));
      const written = await ours.close();
      assert.equal(written.rows, rowCount);

      const theirs = createTableFile(table, join(dir, 'copy.parquet'), {key: 'copy'});
      const copied = await db.copy(`SELECT * FROM ${sqlString(ours.path)}`, {}, theirs);
      assert.equal(copied.rows, rowCount);
      assert.deepEqual(copied.range, written.range);

      for (const path of [ours.path, theirs.path]) {
        assert.deepEqual(
          await db.describe(`FROM ${sqlString(path)}`),
          Object.entries(table.columns).map(([name, column]) => ({name, type: duckdbType(column)})),
        );
        const [ids] = await db.all<{ids: (number | null)[]}>(
          `SELECT list(field_id ORDER BY field_id) AS ids FROM parquet_schema(${sqlString(path)}) WHERE type IS NOT NULL`,
        );
        assert.deepEqual(
          ids!.ids,
          Object.keys(table.columns).map((_, i) => i + 1),
        );
        assert.deepEqual(comparable(await readAll(table, path)), expected, `hyparquet, ${path}`);
        assert.deepEqual(await duckdbRows(db, table, path), duckdbExpected(table, rows), `DuckDB, ${path}`);
        assert.deepEqual(await parquetjsRows(table, path), expected, `parquetjs, ${path}`);
      }
    });

    test('without rows', async (t) => {
      const {dir, db} = await setUp(t);
      const ours = createTableFile(table, join(dir, 'rows.parquet'), {key: 'rows'});
      const written = await ours.close();
      assert.equal(written.rows, 0);
      assert.equal(written.range, undefined);
      const theirs = createTableFile(table, join(dir, 'copy.parquet'), {key: 'copy'});
      assert.equal((await db.copy(`SELECT * FROM ${sqlString(ours.path)}`, {}, theirs)).rows, 0);
      for (const path of [ours.path, theirs.path]) {
        assert.deepEqual(await readAll(table, path), []);
        assert.deepEqual(await db.all(`FROM ${sqlString(path)}`), []);
        assert.deepEqual(await parquetjsRows(table, path), []);
      }
    });
  });

async function readAll(table: Table, path: string): Promise<Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  for await (const batch of readTable(table, path)) rows.push(...batch);
  return rows;
}

/** Texts as hex: DuckDB's binding for Node drops a leading U+FEFF, its files do not. */
async function duckdbRows(
  db: Awaited<ReturnType<typeof openDatabase>>,
  table: Table,
  path: string,
): Promise<string[]> {
  const columns = Object.entries(table.columns).map(([name, column]) =>
    isText(column) ? `hex(encode(${sqlName(name)})) AS ${sqlName(name)}` : sqlName(name),
  );
  return comparable(await db.all(`SELECT ${columns.join(', ')} FROM ${sqlString(path)}`));
}

function duckdbExpected(table: Table, rows: readonly Record<string, unknown>[]): string[] {
  return comparable(
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          isText(table.columns[name]!) && typeof value === 'string'
            ? Buffer.from(value).toString('hex').toUpperCase()
            : value,
        ]),
      ),
    ),
  );
}

function isText(column: Column): boolean {
  return column.type === 'text' || column.type === 'json';
}

interface ParquetjsReader {
  getCursor(): {next(): Promise<Record<string, unknown> | null>};
  close(): Promise<void>;
}

const require = createRequire(import.meta.url);
const {ParquetReader} = require('@dsnp/parquetjs') as {
  ParquetReader: {openFile(path: string): Promise<ParquetjsReader>};
};
// parquetjs knows no zstd, in which DuckDB writes: its users add it in one line, as here. Everything else must be right as it is.
const compression = require('@dsnp/parquetjs/dist/lib/compression.js') as {
  PARQUET_COMPRESSION_METHODS: Record<string, {inflate(value: Buffer): Buffer}>;
};
compression.PARQUET_COMPRESSION_METHODS.ZSTD = {inflate: (value) => Buffer.from(decompress(value))};

async function parquetjsRows(table: Table, path: string): Promise<string[]> {
  const reader = await ParquetReader.openFile(path);
  try {
    const rows: Record<string, unknown>[] = [];
    const cursor = reader.getCursor();
    for (let row = await cursor.next(); row !== null; row = await cursor.next())
      rows.push(
        Object.fromEntries(
          Object.entries(table.columns).map(([name, column]) => [name, fromParquetjs(column, row![name])]),
        ),
      );
    return comparable(rows);
  } finally {
    await reader.close();
  }
}

/** parquetjs leaves nulls out and gives 64-bit numbers as bigint or number by its own rules. */
function fromParquetjs(column: Column, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  switch (column.type) {
    case 'key':
      return BigInt.asUintN(64, BigInt(value as bigint));
    case 'count':
      return Number(value);
    case 'timestamp':
      return value instanceof Date ? value : new Date(Number(value));
    default:
      return value;
  }
}
