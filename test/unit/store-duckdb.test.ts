import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {readdir, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, type TestContext, test} from 'node:test';
import {CrawlError, type ErrorCode} from '../../lib/errors.ts';
import {hoststate} from '../../lib/schema/hostdb.ts';
import {table} from '../../lib/schema/table.ts';
import {type Database, openDatabase, sqlString} from '../../lib/store/duckdb.ts';
import {createSql} from '../../lib/store/duckdb-append.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {tableDdl} from '../../lib/store/sql-types.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const small = table({
  name: 'small',
  version: 1,
  doc: 'For tests.',
  key: ['id'],
  columns: {
    id: {type: 'key', doc: 'Key.'},
    requests: {type: 'count', doc: 'Count.'},
    note: {type: 'text', nullable: true, doc: 'Text.'},
  },
});

function code(expected: ErrorCode, words?: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CrawlError, `${error}`);
    assert.equal(error.code, expected, error.message);
    if (words) assert.match(error.message, words);
    return true;
  };
}

async function database(
  t: TestContext,
  options: {memoryBytes?: number; threads?: number; signal?: AbortSignal} = {},
): Promise<{db: Database; dir: string}> {
  const dir = await temporaryFolder(t);
  const db = await openDatabase({memoryBytes: 500e6, spillDir: join(dir, 'spill'), ...options});
  t.after(() => db.close());
  return {db, dir};
}

async function count(batches: AsyncIterable<readonly unknown[]>): Promise<number> {
  let rows = 0;
  for await (const batch of batches) rows += batch.length;
  return rows;
}

describe('values', () => {
  test('keys above 2^63 are bound and read without loss', async (t) => {
    const {db} = await database(t);
    const keys = [0n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n];
    for (const key of keys) {
      const [row] = await db.all('SELECT $key AS key, typeof($key) AS type', {key});
      assert.deepEqual(row, {key, type: 'UBIGINT'});
    }
  });

  test('each type arrives as it left', async (t) => {
    const {db} = await database(t);
    const allBytes = Uint8Array.from({length: 256}, (_, i) => i);
    const [row] = await db.all(
      `SELECT $text AS text, $whole AS whole, $part AS part, $yes AS yes, $bytes AS bytes, $time AS time, $nothing AS nothing,
        sum(1) AS total, [1, NULL] AS list, {a: 'x', b: 2::UBIGINT} AS struct, MAP {'k': 1} AS map, DATE '2026-02-03' AS day, 1.25::DECIMAL(9, 2) AS price`,
      {
        text: 'x\uFEFF\u0000\'"',
        whole: 2 ** 40,
        part: 0.1,
        yes: true,
        bytes: allBytes,
        time: new Date(-1),
        nothing: null,
      },
    );
    assert.deepEqual(
      {...row, bytes: Uint8Array.from(row!.bytes as Uint8Array)},
      {
        text: 'x\uFEFF\u0000\'"',
        whole: 2 ** 40,
        part: 0.1,
        yes: true,
        bytes: allBytes,
        time: new Date(-1),
        nothing: null,
        total: 1,
        list: [1, null],
        struct: {a: 'x', b: 2},
        map: {k: 1},
        day: '2026-02-03',
        price: 1.25,
      },
    );
  });

  test('a leading U+FEFF is lost on the way out of DuckDB: known, of its binding', async (t) => {
    const {db} = await database(t);
    assert.deepEqual(await db.all('SELECT $text AS text, length($text) AS length', {text: '\uFEFFx'}), [
      {text: 'x', length: 2},
    ]);
  });

  test('a count beyond safe integers stays exact', async (t) => {
    const {db} = await database(t);
    assert.deepEqual(await db.all('SELECT 9007199254740993::BIGINT AS n'), [{n: 9007199254740993n}]);
  });

  test('times are UTC on every connection, whatever the session’s zone', async (t) => {
    const before = process.env.TZ;
    process.env.TZ = 'America/New_York';
    t.after(() => {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    });
    assert.notEqual(new Date(2026, 0, 1).getTimezoneOffset(), 0); // the zone is in force
    const {db} = await database(t);
    const now = new Date();
    const sql =
      "SELECT current_setting('TimeZone') AS zone, $now <= now() AS past, strftime($now, '%H') AS hour, $now AS same";
    const expected = [{zone: 'UTC', past: true, hour: `${now.getUTCHours()}`.padStart(2, '0'), same: now}];
    assert.deepEqual(await db.all(sql, {now}), expected);
    for await (const batch of db.stream(sql, {now})) assert.deepEqual(batch, expected);
  });

  test('several statements, each with its parameters', async (t) => {
    const {db} = await database(t);
    await db.run('CREATE TABLE t AS SELECT $a AS x; INSERT INTO t SELECT $b; INSERT INTO t SELECT $a', {
      a: 1,
      b: 2,
    });
    assert.deepEqual(await db.all('SELECT x FROM t ORDER BY x'), [{x: 1}, {x: 1}, {x: 2}]);
    await assert.rejects(db.run('SELECT $missing', {other: 1}), code('INTERNAL', /\$missing/));
  });
});

describe('stream', () => {
  // DuckDB's own streams end in silence in each of these cases.
  test('a query that fails late is an error, not a short result', async (t) => {
    const {db} = await database(t);
    const sql = "SELECT CASE WHEN i = 700000 THEN error('late') ELSE i END AS i FROM range(1000000) t(i)";
    await assert.rejects(count(db.stream(sql)), code('RESULT_INCOMPLETE'));
    await assert.rejects(db.all(sql), code('QUERY_FAILED', /late/));
    assert.equal(await count(db.stream('SELECT i FROM range(1000000) t(i)')), 1_000_000);
  });

  test('a file removed under the query is an error', async (t) => {
    const {db, dir} = await database(t, {threads: 1});
    const files = ['a', 'b'].map((name) => join(dir, `${name}.parquet`));
    for (const file of files)
      await db.run(
        `COPY (SELECT i FROM range(300000) t(i)) TO ${sqlString(file)} (FORMAT parquet, ROW_GROUP_SIZE 20000)`,
      );
    let rows = 0;
    await assert.rejects(async () => {
      for await (const batch of db.stream(
        `SELECT i FROM read_parquet([${files.map(sqlString).join(', ')}])`,
      )) {
        if (rows === 0) for (const file of files) await truncate(file, 1000);
        rows += batch.length;
      }
    }, code('RESULT_INCOMPLETE'));
    assert.ok(rows > 0 && rows < 600_000);
  });

  test('an abort is an error', async (t) => {
    const abort = new AbortController();
    const {db} = await database(t, {signal: abort.signal});
    await assert.rejects(async () => {
      for await (const batch of db.stream('SELECT i FROM range(100000000) t(i)'))
        if (batch.length > 0) abort.abort();
    }, code('INTERRUPTED'));
  });

  test('can be left early', async (t) => {
    const {db} = await database(t);
    for await (const batch of db.stream('SELECT i FROM range(10000000) t(i)')) {
      assert.deepEqual(batch[0], {i: 0});
      break;
    }
    assert.deepEqual(await db.all('SELECT 1 AS one'), [{one: 1}]);
  });
});

describe('instances', () => {
  test('two with one spill folder have a folder each, gone after close', async (t) => {
    const spillDir = join(await temporaryFolder(t), 'spill');
    const open = () => openDatabase({memoryBytes: 40e6, threads: 1, spillDir});
    const databases = await Promise.all([open(), open()]);
    const folders = await Promise.all(
      databases.map(
        async (db) =>
          (await db.all<{dir: string}>("SELECT current_setting('temp_directory') AS dir"))[0]!.dir,
      ),
    );
    assert.notEqual(folders[0], folders[1]);
    for (const folder of folders) assert.equal(join(folder, '..'), spillDir);
    // Both sort more than fits at the same time, so both spill.
    const sums = await Promise.all(
      databases.map((db) =>
        db.all(`CREATE TABLE t AS SELECT hash(i) AS h, repeat('x', 40) || i AS s FROM range(600000) t(i) ORDER BY h;
        SELECT count(DISTINCT s)::INTEGER AS n FROM t`),
      ),
    );
    assert.deepEqual(sums, [[{n: 600000}], [{n: 600000}]]);
    for (const db of databases) await db.close();
    assert.deepEqual(await readdir(spillDir), []);
  });

  test('an abort interrupts a running query, and later ones don’t begin', async (t) => {
    const abort = new AbortController();
    const {db} = await database(t, {signal: abort.signal});
    const running = db.all(
      'SELECT count(*) FROM range(1000000000) a(i), range(1000) b(j) WHERE hash(i * j) = 1',
    );
    setImmediate(() => abort.abort());
    await assert.rejects(running, code('INTERRUPTED'));
    await assert.rejects(db.all('SELECT 1'), code('INTERRUPTED'));
  });
});

describe('errors', () => {
  test('say which file is missing or damaged', async (t) => {
    const {db, dir} = await database(t);
    const file = join(dir, 'x.parquet');
    await assert.rejects(
      db.all(`FROM ${sqlString(file)}`),
      (error) =>
        code('FILE_MISSING')(error) &&
        (error as CrawlError).facts.path === file &&
        (error as CrawlError).message === `${file} is missing`,
    );
    await db.run(
      `COPY (SELECT i, 'text ' || i AS s FROM range(50000) t(i)) TO ${sqlString(file)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    const whole = await readFile(file);
    for (const length of [0, 7, 100, whole.length - 5]) {
      await writeFile(file, whole.subarray(0, length));
      await assert.rejects(
        db.all(`SELECT max(s) FROM ${sqlString(file)}`),
        (error) => code('FILE_DAMAGED')(error) && (error as CrawlError).facts.path === file,
        `${length} bytes`,
      );
    }
    const middle = Buffer.from(whole);
    middle.fill(0xff, 4, 200); // a page header: of flipped values DuckDB notices nothing (store-parquet tests)
    await writeFile(file, middle);
    await assert.rejects(db.all(`SELECT max(s), sum(i) FROM ${sqlString(file)}`), code('FILE_DAMAGED'));
    const lacking = Buffer.concat([whole.subarray(0, 100), whole.subarray(-2000)]);
    await writeFile(file, lacking);
    await assert.rejects(
      db.all(`SELECT max(s), sum(i) FROM ${sqlString(file)}`),
      (error) =>
        code('FILE_DAMAGED')(error) && (error as CrawlError).message.startsWith(`${file} is damaged: `),
    );
    const footer = whole.length - 8 - whole.readUInt32LE(whole.length - 8);
    let noticed = 0;
    for (let at = footer; at < whole.length - 8; at += 7) {
      const damaged = Buffer.from(whole);
      damaged.fill(0xf7, at, at + 4);
      const copy = join(dir, `${at}.parquet`); // DuckDB keeps what it has read of a name
      await writeFile(copy, damaged);
      await db.all(`SELECT max(s), sum(i) FROM ${sqlString(copy)}`).catch((error: unknown) => {
        assert.ok(code('FILE_DAMAGED')(error), `at ${at - footer}: ${error}`);
        noticed++;
      });
    }
    assert.ok(noticed > 10, `${noticed} noticed`);
  });

  test('of a query come in DuckDB’s words', async (t) => {
    const {db} = await database(t);
    await assert.rejects(db.all('SELECT nope'), code('QUERY_FAILED', /nope/));
    await assert.rejects(db.all('SELEC 1'), code('QUERY_FAILED', /syntax/));
  });

  test('of memory are told apart', async (t) => {
    const {db} = await database(t, {memoryBytes: 20e6, threads: 1});
    await db.run("SET max_temp_directory_size = '1MB'");
    await assert.rejects(
      db.all(
        "SELECT count(*) FROM (SELECT repeat('x', 100) || i AS s, list(i) FROM range(3000000) t(i) GROUP BY s)",
      ),
      code('OUT_OF_MEMORY'),
    );
  });
});

describe('copy', () => {
  test('casts to the declared types: a sum of keys would be DOUBLE in Parquet', async (t) => {
    const {db, dir} = await database(t);
    const naive = join(dir, 'naive.parquet');
    const select =
      'SELECT max(k) AS id, sum(k % 10) AS requests, NULL AS note FROM (SELECT (18446744073709551615 - i)::UBIGINT AS k FROM range(10) t(i))';
    await db.run(`COPY (${select}) TO ${sqlString(naive)} (FORMAT parquet)`);
    assert.equal((await db.describe(`SELECT requests FROM ${sqlString(naive)}`))[0]!.type, 'DOUBLE'); // the trap is still there
    const file = createTableFile(small, join(dir, 'ours.parquet'), {key: 'small/ours.parquet'});
    const ref = await db.copy(select, {}, file);
    assert.deepEqual(await db.describe(`FROM ${sqlString(file.path)}`), [
      {name: 'id', type: 'UBIGINT'},
      {name: 'requests', type: 'BIGINT'},
      {name: 'note', type: 'VARCHAR'},
    ]);
    assert.deepEqual(await db.all(`FROM ${sqlString(file.path)}`), [
      {id: 2n ** 64n - 1n, requests: 45, note: null},
    ]);
    assert.equal(ref.rows, 1);
    assert.deepEqual(ref.range, [`${2n ** 64n - 1n}`, `${2n ** 64n - 1n}`]);
  });

  test('takes parameters, comments and an order, keeps the order, and brings columns into theirs', async (t) => {
    const {db, dir} = await database(t);
    const file = createTableFile(small, join(dir, 'o.parquet'), {key: 'o'});
    const select =
      "-- a comment\nSELECT 'n' || i AS note, i AS requests, ($top - i)::UBIGINT AS id FROM range(300000) t(i) WHERE i % $m = 0 ORDER BY id; -- the end\n";
    const ref = await db.copy(select.replace('; -- the end', ';'), {top: 1_000_000, m: 3}, file, {
      rowGroupRows: 20_480,
      facts: {kind: 'delta', revision: 7},
    });
    assert.equal(ref.rows, 100_000);
    assert.deepEqual(ref.facts, {kind: 'delta', revision: 7});
    const rows = await db.all<{id: bigint}>(`SELECT id FROM ${sqlString(file.path)}`);
    assert.ok(rows.every((row, i) => i === 0 || rows[i - 1]!.id < row.id));
  });

  test('refuses a query that does not fit the table, and leaves no file', async (t) => {
    const {db, dir} = await database(t);
    const file = () => createTableFile(small, join(dir, 'f.parquet'), {key: 'f'});
    await assert.rejects(
      db.copy('SELECT 1::UBIGINT AS id, 1 AS requests', {}, file()),
      code('INTERNAL', /note/),
    );
    await assert.rejects(
      db.copy("SELECT 1 AS id, 1 AS requests, 'n' AS note, 5 AS more", {}, file()),
      code('INTERNAL', /more/),
    );
    await assert.rejects(
      db.copy("SELECT 1 AS id, NULL AS requests, 'n' AS note", {}, file()),
      code('INTERNAL', /requests/),
    );
    await assert.rejects(
      db.copy("SELECT 1 AS id, 'x' AS requests, 'n' AS note", {}, file()),
      code('QUERY_FAILED'),
    );
    await assert.rejects(db.copy('SELECT * FROM nowhere', {}, file()), code('QUERY_FAILED'));
    assert.equal(existsSync(join(dir, 'f.parquet')), false);
  });

  test('cuts times to milliseconds, as a Date is', async (t) => {
    const {db, dir} = await database(t);
    const times = table({
      name: 'times',
      version: 1,
      doc: 'For tests.',
      key: ['time'],
      columns: {time: {type: 'timestamp', doc: 'Time.'}},
    });
    const file = createTableFile(times, join(dir, 't.parquet'), {key: 't'});
    const select =
      "SELECT unnest([TIMESTAMP '2026-01-01 00:00:00.123999', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP '1960-01-01']) AS time";
    await db.copy(select, {}, file);
    assert.deepEqual(
      await db.all(`SELECT epoch_us(time) AS us, time FROM ${sqlString(file.path)}`),
      [Date.UTC(2026, 0, 1) + 123, -1, Date.UTC(1960, 0, 1)].map((ms) => ({
        us: ms * 1000,
        time: new Date(ms),
      })),
    );
  });

  test('gives the same bytes with one thread and with two', async (t) => {
    const hashes: string[] = [];
    for (const threads of [1, 2, 2]) {
      const {db, dir} = await database(t, {threads});
      const file = createTableFile(small, join(dir, 'same.parquet'), {key: 'same'});
      const ref = await db.copy(
        "SELECT hash(i) AS id, i AS requests, 'n' || i % 100 AS note FROM range(400000) t(i) ORDER BY id",
        {},
        file,
      );
      hashes.push(ref.sha256);
    }
    assert.deepEqual(new Set(hashes).size, 1);
  });

  test('an interrupted one leaves no file', async (t) => {
    const abort = new AbortController();
    const {db, dir} = await database(t, {signal: abort.signal});
    const file = createTableFile(small, join(dir, 'i.parquet'), {key: 'i'});
    const copying = db.copy(
      "SELECT i::UBIGINT AS id, 1 AS requests, repeat('x', 100) AS note FROM range(1000000000) t(i)",
      {},
      file,
    );
    setTimeout(() => abort.abort(), 50);
    await assert.rejects(copying, code('INTERRUPTED'));
    assert.equal(existsSync(file.path), false);
  });

  test('into a folder that is not there says so', async (t) => {
    const {db, dir} = await database(t);
    await rm(join(dir, 'no'), {force: true});
    const file = createTableFile(small, join(dir, 'no', 'f.parquet'), {key: 'f'});
    await assert.rejects(
      db.copy("SELECT 1 AS id, 1 AS requests, 'n' AS note", {}, file),
      code('FILE_MISSING'),
    );
  });
});

test('DDL makes a table as declared', async (t) => {
  const {db} = await database(t);
  await db.run(tableDdl(hoststate));
  const columns = await db.all('DESCRIBE hoststate');
  assert.deepEqual(
    columns.map((column) => [column.column_name, column.null === 'YES']),
    Object.entries(hoststate.columns).map(([name, column]) => [name, 'nullable' in column]),
  );
});

test('rows that are inserted arrive in their types: keys and times exact, no character that breaks a text', async (t) => {
  const {db} = await database(t);
  const columns = {
    key: {type: 'key'},
    body: {type: 'bytes'},
    at: {type: 'timestamp'},
    text: {type: 'text'},
    yes: {type: 'boolean'},
    small: {type: 'int16'},
    whole: {type: 'int32'},
    count: {type: 'count'},
    part: {type: 'double'},
  } as const;
  await db.run(createSql('a "table"', columns));
  const row = {
    key: 2n ** 64n - 1n,
    body: Buffer.of(0, 255),
    at: new Date(-1),
    text: 'a\0\ud800é😀',
    yes: false,
    small: -3,
    whole: 2 ** 31 - 1,
    count: 2 ** 53 - 1,
    part: 0.1,
  };
  await db.insert('a "table"', columns, [{...row, more: 1}, {}]);
  await db.insert('a "table"', columns, []);
  const none = Object.fromEntries(Object.keys(columns).map((name) => [name, null]));
  assert.deepEqual(await db.all('FROM "a ""table""" ORDER BY key'), [
    {...row, text: 'a\ufffd\ufffdé😀'},
    none,
  ]);
  await assert.rejects(db.insert('none', columns, [row]), code('QUERY_FAILED'));
});
