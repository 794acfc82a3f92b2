import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {chmod, readdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, type TestContext, test} from 'node:test';
import {Worker} from 'node:worker_threads';
import {CrawlError, type ErrorCode} from '../../lib/errors.ts';
import {type ContentRow, content} from '../../lib/schema/content.ts';
import {hoststate} from '../../lib/schema/hostdb.ts';
import {type Column, type Row, type Table, table} from '../../lib/schema/table.ts';
import {openDatabase, sqlString} from '../../lib/store/duckdb.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {readTable, rowGroupsOf} from '../../lib/store/parquet-read.ts';
import {fileDigest} from '../../lib/store/table-io.ts';
import {readPayloads} from '../../lib/store/table-payloads.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {comparable, sampleRow, sampleRows} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

function code(expected: ErrorCode, words?: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CrawlError, `${error}`);
    assert.equal(error.code, expected, error.message);
    if (words) assert.match(error.message, words);
    return true;
  };
}

async function readAll<T extends Table>(declared: T, path: string): Promise<Row<T>[]> {
  const rows: Row<T>[] = [];
  for await (const batch of readTable(declared, path)) rows.push(...(batch as Row<T>[]));
  return rows;
}

function payloadRow(i: number, bytes: number): ContentRow {
  const payload = Buffer.alloc(bytes);
  for (let k = 0; k < bytes; k += 4)
    payload.writeUInt32LE(Math.imul(i + k, 2654435761) >>> 0, Math.min(k, bytes - 4));
  const content_sha256 = createHash('sha256').update(payload).digest('hex');
  return {segment: 's', content_sha256, content_digest: `D${i}`, content_length: bytes, payload};
}

async function contentFile(t: TestContext, rows: readonly ContentRow[]) {
  const dir = await temporaryFolder(t);
  const file = createTableFile(content, join(dir, 'c.parquet'), {key: 'segments/s/content/c.parquet'});
  await file.write(rows);
  return {dir, path: file.path, ref: await file.close({part: 3})};
}

describe('writing', () => {
  test('describes the file as it is on disk', async (t) => {
    const {path, ref} = await contentFile(t, [payloadRow(1, 1000)]);
    assert.deepEqual(ref, {
      table: 'content',
      version: 1,
      key: 'segments/s/content/c.parquet',
      rows: 1,
      bytes: (await stat(path)).size,
      sha256: createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
      facts: {part: 3},
    });
  });

  test('keeps the range of the first key column, unsigned', async (t) => {
    const dir = await temporaryFolder(t);
    const file = createTableFile(hoststate, join(dir, 'h.parquet'), {key: 'h'});
    const keys = [2n ** 63n + 5n, 7n, 2n ** 64n - 1n];
    await file.write(keys.map((host_key, i) => ({...sampleRow(hoststate, i), host_key})));
    assert.deepEqual((await file.close()).range, ['7', `${2n ** 64n - 1n}`]);
  });

  test('cuts row groups near 8 MB of payload and writes bodies as they are', async (t) => {
    const rows = Array.from({length: 90}, (_, i) => payloadRow(i, 500_000));
    const {path, ref} = await contentFile(t, rows);
    const groups = await rowGroupsOf(content, path);
    assert.deepEqual(
      groups.map((group) => group.rows),
      [17, 17, 17, 17, 17, 5],
    );
    assert.deepEqual(
      groups.map((group) => group.firstRow),
      [0, 17, 34, 51, 68, 85],
    );
    assert.ok(ref.bytes > 45_000_000 && ref.bytes < 45_100_000);
    let i = 0;
    for await (const batch of readTable(content, path, {columns: ['payload']}))
      for (const row of batch) assert.deepEqual(Buffer.from(row.payload), rows[i++]!.payload);
    const db = await openDatabase({memoryBytes: 500e6, spillDir: await temporaryFolder(t)});
    t.after(() => db.close());
    const facts = await db.all(
      `SELECT DISTINCT compression, encodings, stats_min_value AS stats FROM parquet_metadata(${sqlString(path)}) WHERE path_in_schema = 'payload'`,
    );
    assert.deepEqual(facts, [{compression: 'UNCOMPRESSED', encodings: 'PLAIN', stats: null}]);
    assert.deepEqual(
      await db.all(`SELECT count(*) AS n FROM ${sqlString(path)} WHERE sha256(payload) = content_sha256`),
      [{n: 90}],
    );
  });

  test('refuses a row without a value that must be there', async (t) => {
    const dir = await temporaryFolder(t);
    const file = createTableFile(content, join(dir, 'c.parquet'), {key: 'c'});
    await assert.rejects(
      file.write([{...payloadRow(1, 10), segment: null as never}]),
      code('INTERNAL', /segment/),
    );
    await assert.rejects(
      file.write([{...payloadRow(1, 10), payload: undefined as never}]),
      code('INTERNAL', /payload/),
    );
    await file.discard();
    assert.deepEqual(await readdir(dir), []);
  });

  test('never writes over a file', async (t) => {
    const {dir, path} = await contentFile(t, [payloadRow(1, 10)]);
    const before = await readFile(path);
    const again = createTableFile(content, path, {key: 'c'});
    await again.write([payloadRow(2, 10)]);
    await assert.rejects(again.close(), /EEXIST/);
    assert.deepEqual(await readFile(join(dir, 'c.parquet')), before);
  });

  test('a folder that is not there, or may not be written to, is named', async (t) => {
    const dir = await temporaryFolder(t);
    await assert.rejects(
      createTableFile(content, join(dir, 'no', 'c.parquet'), {key: 'c'}).close(),
      code('FILE_MISSING', /no\/c\.parquet/),
    );
    if (process.getuid?.() === 0) return; // root may write anywhere
    await chmod(dir, 0o500);
    await assert.rejects(
      createTableFile(content, join(dir, 'c.parquet'), {key: 'c'}).close(),
      code('NOT_WRITABLE'),
    );
    await chmod(dir, 0o700);
  });
});

const older = table({
  name: 'grown',
  version: 1,
  doc: 'For tests.',
  key: ['id'],
  columns: {id: {type: 'key', doc: 'Key.'}, text: {type: 'text', doc: 'Text.'}},
});
const newer = table({
  ...older,
  version: 2,
  key: ['id'],
  columns: {...older.columns, more: {type: 'int32', nullable: true, since: 2, doc: 'Added.'}},
});

describe('versions', () => {
  test('a file of a newer version is refused by name', async (t) => {
    const dir = await temporaryFolder(t);
    const file = createTableFile(newer, join(dir, 'n.parquet'), {key: 'n'});
    await file.write([{id: 1n, text: 'a', more: 5}]);
    await file.close();
    await assert.rejects(
      readAll(older, file.path),
      code('VERSION_NEWER', /n\.parquet has version 2.*knows version 1/),
    );
  });

  test('a file of an older version reads with nulls', async (t) => {
    const dir = await temporaryFolder(t);
    const file = createTableFile(older, join(dir, 'o.parquet'), {key: 'o'});
    await file.write([{id: 2n ** 64n - 1n, text: 'a'}]);
    await file.close();
    assert.deepEqual(await readAll(newer, file.path), [{id: 2n ** 64n - 1n, text: 'a', more: null}]);
    for await (const batch of readTable(newer, file.path, {columns: ['more']}))
      assert.deepEqual(batch, [{more: null}]);
  });
});

describe('damage', () => {
  test('a file without field ids, table name or the right columns is refused', async (t) => {
    const dir = await temporaryFolder(t);
    const db = await openDatabase({memoryBytes: 500e6, spillDir: join(dir, 'spill')});
    t.after(() => db.close());
    const path = join(dir, 'x.parquet');
    const select = "SELECT 1::UBIGINT AS id, 'a' AS text";
    const mark = "KV_METADATA {crawl_table: 'grown', crawl_version: '1'}";
    const cases: [string, string, RegExp][] = [
      [select, 'FIELD_IDS {id: 1, text: 2}', /does not say which table/],
      [select, mark, /no field id 1/],
      [select, `${mark}, FIELD_IDS {id: 2, text: 1}`, /no field id 1/],
      ['SELECT 1::UBIGINT AS id', `${mark}, FIELD_IDS {id: 1}`, /lacks the column text/],
      [
        "SELECT 1::BIGINT AS id, 'a' AS text",
        `${mark}, FIELD_IDS {id: 1, text: 2}`,
        /another type at the column id/,
      ],
      [
        "SELECT 1::DOUBLE AS id, 'a' AS text",
        `${mark}, FIELD_IDS {id: 1, text: 2}`,
        /another type at the column id/,
      ],
      [
        select,
        "KV_METADATA {crawl_table: 'other', crawl_version: '1'}, FIELD_IDS {id: 1, text: 2}",
        /of the table other/,
      ],
    ];
    for (const [query, options, words] of cases) {
      await db.run(`COPY (${query}) TO ${sqlString(path)} (FORMAT parquet, ${options})`);
      await assert.rejects(readAll(older, path), code('FILE_DAMAGED', words));
    }
    await db.run(
      `COPY (${select}) TO ${sqlString(path)} (FORMAT parquet, ${mark}, FIELD_IDS {id: 1, text: 2})`,
    );
    assert.deepEqual(await readAll(older, path), [{id: 1n, text: 'a'}]);
  });

  test('a missing file is told from a damaged one', async (t) => {
    await assert.rejects(
      readAll(older, join(await temporaryFolder(t), 'none.parquet')),
      code('FILE_MISSING', /none\.parquet/),
    );
  });

  test('a file cut anywhere is damaged, never short', async (t) => {
    const {dir, path} = await contentFile(t, sampleRows(content, 40));
    const whole = await readFile(path);
    const cut = join(dir, 'cut.parquet');
    for (let length = 0; length < whole.length; length += 97) {
      await writeFile(cut, whole.subarray(0, length));
      await assert.rejects(readAll(content, cut), code('FILE_DAMAGED', /cut\.parquet/), `${length} bytes`);
    }
  });

  test('a flipped byte in a payload is not noticed by reading, and is by the digest', async (t) => {
    const {path, ref} = await contentFile(t, [payloadRow(1, 5000)]);
    const bytes = await readFile(path);
    bytes[2500] = bytes[2500]! ^ 1;
    await writeFile(path, bytes);
    const [row] = await readAll(content, path);
    assert.notEqual(createHash('sha256').update(row!.payload).digest('hex'), row!.content_sha256);
    assert.equal((await fileDigest(path)).bytes, ref.bytes);
    assert.notEqual((await fileDigest(path)).sha256, ref.sha256);
  });

  test('the damaged files of the Parquet project are refused', {
    skip: withoutCorpus('parquet/parquet-testing'),
  }, async () => {
    const dir = corpus('parquet/parquet-testing')!;
    const names = await readdir(dir);
    assert.ok(names.length >= 8);
    for (const name of names)
      await assert.rejects(readAll(content, join(dir, name)), code('FILE_DAMAGED'), name);
  });

  test('bytes changed anywhere give an error or rows, never another exception', async (t) => {
    const {dir, path} = await contentFile(t, sampleRows(content, 30));
    const whole = await readFile(path);
    const mutated = join(dir, 'm.parquet');
    let refused = 0;
    for (let i = 0; i < 300; i++) {
      const bytes = Buffer.from(whole);
      for (let k = 0; k < 3; k++) bytes[(i * 7919 + k * 104729) % bytes.length] = (i * 31 + k * 17) & 255;
      await writeFile(mutated, bytes);
      try {
        await readAll(content, mutated);
      } catch (error) {
        refused++;
        assert.ok(error instanceof CrawlError, `${i}: ${error}`);
      }
    }
    assert.ok(refused > 50);
  });
});

describe('reading', () => {
  test('some columns of some row groups', async (t) => {
    const rows = Array.from({length: 70}, (_, i) => payloadRow(i, 500_000));
    const {path} = await contentFile(t, rows);
    const found: string[] = [];
    for await (const batch of readTable(content, path, {columns: ['content_digest'], rowGroups: [2, 0]}))
      for (const row of batch) {
        assert.deepEqual(Object.keys(row), ['content_digest']);
        found.push(row.content_digest);
      }
    assert.deepEqual(
      found,
      [...rows.slice(34, 51), ...rows.slice(0, 17)].map((row) => row.content_digest),
    );
  });

  test('payloads by digest, reading only their pages', async (t) => {
    const rows = Array.from({length: 70}, (_, i) => payloadRow(i, 300_000));
    const {path} = await contentFile(t, rows);
    const wanted = [rows[3]!, rows[4]!, rows[60]!];
    const found: ContentRow[] = [];
    for await (const row of readPayloads([path], [...wanted.map((row) => row.content_sha256), 'absent']))
      found.push({...row, payload: Buffer.from(row.payload)});
    assert.deepEqual(comparable(found), comparable(wanted));
  });

  test('in a worker thread, without DuckDB', async (t) => {
    const {path} = await contentFile(t, sampleRows(content, 9));
    const source = `
      const {parentPort, workerData} = require('node:worker_threads');
      (async () => {
        const {register} = await import(workerData.tsx);
        register();
        const {readTable} = await import(workerData.reader);
        const {content} = await import(workerData.table);
        let rows = 0;
        for await (const batch of readTable(content, workerData.path)) rows += batch.length;
        const {createRequire} = await import('node:module');
        const loaded = Object.keys(createRequire(workerData.reader).cache).filter((name) => name.includes('duckdb'));
        parentPort.postMessage({rows, loaded});
      })();`;
    const worker = new Worker(source, {
      eval: true,
      workerData: {
        path,
        tsx: import.meta.resolve('tsx/esm/api'),
        reader: new URL('../../lib/store/parquet-read.ts', import.meta.url).href,
        table: new URL('../../lib/schema/content.ts', import.meta.url).href,
      },
    });
    const answer = await new Promise((resolve, reject) =>
      worker.once('message', resolve).once('error', reject),
    );
    assert.deepEqual(answer, {rows: 9, loaded: []});
    await worker.terminate();
  });
});

test('every column type is in some table, so that the round trips cover it', async () => {
  const {tables} = await import('../../lib/schema/tables.ts');
  const types = new Set(
    Object.values(tables).flatMap((one: Table) =>
      Object.values(one.columns).map((column: Column) => column.type),
    ),
  );
  assert.equal(types.size, 10);
});
