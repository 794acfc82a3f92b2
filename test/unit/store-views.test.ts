import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, type TestContext, test} from 'node:test';
import {CrawlError} from '../../lib/errors.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import {type TableName, tables} from '../../lib/schema/tables.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {duckdbType} from '../../lib/store/sql-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindSnapshot, bindTables, viewsSql} from '../../lib/store/views.ts';
import {sampleRow, sampleRows} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** A folder of table files, and the files by slot as a manifest would name them. */
class Files {
  readonly dir: string;
  readonly slots: Record<string, FileRef[]> = {};
  #count = 0;

  constructor(dir: string) {
    this.dir = dir;
  }

  async add<T extends Table>(
    slot: string,
    table: T,
    rows: readonly Row<T>[],
    facts?: FileRef['facts'],
  ): Promise<FileRef> {
    const key = `${slot}/${this.#count++}.parquet`;
    await mkdir(join(this.dir, slot), {recursive: true});
    const file = createTableFile(table, join(this.dir, key), {key});
    await file.write(rows);
    const ref = await file.close(facts);
    this.slots[slot] ??= [];
    this.slots[slot].push(ref);
    return ref;
  }

  readonly path = (file: FileRef): string => join(this.dir, file.key);

  /** What views.ts needs of a snapshot; the current parse of each segment is `p2`. */
  snapshot(): Snapshot {
    const files = async (slot: string) => this.slots[slot] ?? [];
    const manifest = {
      number: 7,
      slots: Object.fromEntries(Object.keys(this.slots).map((slot) => [slot, {}])),
    };
    return {
      manifest,
      store: {path: this.path},
      files,
      async tableFiles(table: TableName, segments?: readonly string[]) {
        const slots = Object.keys(manifest.slots)
          .sort()
          .filter((slot) => {
            const [, segment, part, parse] = /^segments\/([^/]+)\/([^/]+)(?:\/(.*))?$/.exec(slot) ?? [];
            if (segment === undefined) return slot === table;
            return (
              part === table &&
              (segments?.includes(segment) ?? true) &&
              (parse === undefined || parse === 'p2')
            );
          });
        return (await Promise.all(slots.map(files))).flat();
      },
    } as unknown as Snapshot;
  }
}

async function setUp(t: TestContext, name = 'crawl'): Promise<{db: Database; files: Files; dir: string}> {
  const root = await temporaryFolder(t);
  const dir = join(root, name);
  await mkdir(dir, {recursive: true});
  const db = await openDatabase({memoryBytes: 500e6, spillDir: join(root, 'spill')});
  t.after(() => db.close());
  return {db, files: new Files(dir), dir};
}

function datum(key: number, revision: number, facts: Partial<CrawlDatum> = {}): CrawlDatum {
  return {
    ...sampleRow(tables.crawldb, 0),
    host_key: BigInt(key % 3),
    url_key: BigInt(key),
    url: `http://h/${key}`,
    revision,
    ...facts,
  };
}

describe('bindTables', () => {
  test('an empty list is an empty view with the declared types', async (t) => {
    const {db, files} = await setUp(t);
    await bindTables(db, files, Object.fromEntries(Object.keys(tables).map((name) => [name, []])));
    for (const [name, table] of Object.entries(tables) as [string, Table][]) {
      assert.deepEqual(
        await db.describe(`FROM "${name}"`),
        Object.entries(table.columns).map(([column, facts]) => ({name: column, type: duckdbType(facts)})),
      );
      assert.deepEqual(await db.all(`FROM "${name}"`), []);
    }
  });

  test('shows the files given, in a folder whose name is full of patterns, on streams too', async (t) => {
    const {db, files} = await setUp(t, "we[ird] *? o'name");
    const refs = [
      await files.add('runs', tables.runs, sampleRows(tables.runs, 4)),
      await files.add('runs', tables.runs, sampleRows(tables.runs, 3)),
    ];
    await files.add('runs', tables.runs, sampleRows(tables.runs, 100)); // there, and not in the list
    await bindTables(db, files, {runs: refs});
    assert.deepEqual(await db.all('SELECT count(*) AS n FROM runs'), [{n: 7}]);
    let rows = 0;
    for await (const batch of db.stream('FROM runs')) rows += batch.length;
    assert.equal(rows, 7);
  });

  test('binding again replaces', async (t) => {
    const {db, files} = await setUp(t);
    await bindTables(db, files, {runs: []});
    await bindTables(db, files, {runs: [await files.add('runs', tables.runs, sampleRows(tables.runs, 2))]});
    assert.deepEqual(await db.all('SELECT count(*) AS n FROM runs'), [{n: 2}]);
  });

  test('fetch needs quotes in SQL; captures is the same without', async (t) => {
    const {db, files} = await setUp(t);
    await bindTables(db, files, {fetch: [await files.add('f', tables.fetch, sampleRows(tables.fetch, 2))]});
    assert.deepEqual(
      await db.all('SELECT count(*) AS n FROM captures'),
      await db.all('SELECT count(*) AS n FROM "fetch"'),
    );
    await assert.rejects(db.all('SELECT count(*) FROM fetch'), /syntax error/);
  });

  test('refuses a file of a newer version without opening it', async (t) => {
    const {db, files} = await setUp(t);
    const ref = {
      table: 'runs',
      version: tables.runs.version + 1,
      key: 'runs/none.parquet',
      rows: 1,
      bytes: 1,
      sha256: '',
    };
    await assert.rejects(
      bindTables(db, files, {runs: [ref]}),
      (error) =>
        error instanceof CrawlError &&
        error.code === 'VERSION_NEWER' &&
        /runs\/none\.parquet/.test(error.message),
    );
  });

  test('a missing file is named', async (t) => {
    const {db, files} = await setUp(t);
    const ref = {table: 'runs', key: 'runs/none.parquet', rows: 1, bytes: 1, sha256: ''};
    await assert.rejects(
      bindTables(db, files, {runs: [ref]}).then(() => db.all('FROM runs')),
      (error) =>
        error instanceof CrawlError && error.code === 'FILE_MISSING' && /none\.parquet/.test(error.message),
    );
  });
});

describe('crawldb', () => {
  const keysAndScores = 'SELECT url_key::INTEGER AS k, revision AS r FROM crawldb ORDER BY k';

  test('the newest row of each URL wins, over base and deltas in any order of the list', async (t) => {
    const {db, files} = await setUp(t);
    const base = await files.add(
      'crawldb',
      tables.crawldb,
      [1, 2, 3, 4].map((key) => datum(key, 1)),
      {kind: 'base', revision: 1},
    );
    const two = await files.add(
      'crawldb',
      tables.crawldb,
      [2, 3, 5].map((key) => datum(key, 2)),
      {kind: 'delta', revision: 2},
    );
    const three = await files.add(
      'crawldb',
      tables.crawldb,
      [3, 6].map((key) => datum(key, 3)),
      {kind: 'delta', revision: 3},
    );
    const threeMore = await files.add(
      'crawldb',
      tables.crawldb,
      [7].map((key) => datum(key, 3)),
      {kind: 'delta', revision: 3},
    );
    const cases: [FileRef[], [number, number][]][] = [
      [
        [base],
        [
          [1, 1],
          [2, 1],
          [3, 1],
          [4, 1],
        ],
      ],
      [
        [two],
        [
          [2, 2],
          [3, 2],
          [5, 2],
        ],
      ],
      [
        [base, two],
        [
          [1, 1],
          [2, 2],
          [3, 2],
          [4, 1],
          [5, 2],
        ],
      ],
      [
        [three, threeMore, base, two],
        [
          [1, 1],
          [2, 2],
          [3, 3],
          [4, 1],
          [5, 2],
          [6, 3],
          [7, 3],
        ],
      ],
      [
        [three, two],
        [
          [2, 2],
          [3, 3],
          [5, 2],
          [6, 3],
        ],
      ],
    ];
    for (const [list, expected] of cases) {
      await bindTables(db, files, {crawldb: list});
      assert.deepEqual(
        await db.all(keysAndScores),
        expected.map(([k, r]) => ({k, r})),
      );
    }
  });

  test('the identity of a URL is the pair of keys', async (t) => {
    const {db, files} = await setUp(t);
    const row = (host: bigint, revision: number) => datum(9, revision, {host_key: host});
    const base = await files.add('crawldb', tables.crawldb, [row(1n, 1), row(2n ** 64n - 1n, 1)], {
      kind: 'base',
      revision: 1,
    });
    const delta = await files.add('crawldb', tables.crawldb, [row(1n, 2)], {kind: 'delta', revision: 2});
    await bindTables(db, files, {crawldb: [base, delta]});
    assert.deepEqual(await db.all('SELECT host_key, revision FROM crawldb ORDER BY host_key'), [
      {host_key: 1n, revision: 2},
      {host_key: 2n ** 64n - 1n, revision: 1},
    ]);
  });
});

async function smallCrawl(t: TestContext): Promise<Awaited<ReturnType<typeof setUp>>> {
  const up = await setUp(t);
  const {files} = up;
  const capture = (segment: string, i: number, facts: Partial<Row<typeof tables.fetch>>) => ({
    ...sampleRow(tables.fetch, i),
    segment,
    capture_id: `${segment}-${i}`,
    kind: 'page' as const,
    status: 'success' as const,
    fetch_status: 200,
    url_host_name: 'www.example.co.uk',
    url_host_registered_domain: 'example.co.uk',
    url: 'https://www.example.co.uk:8443/a/b?q=1&r=%3F',
    ...facts,
  });
  const parsed = (segment: string, parse_id: string, i: number) => ({
    ...sampleRow(tables.parse, i),
    segment,
    parse_id,
    capture_id: `${segment}-${i}`,
    content_charset: 'UTF-8',
  });
  for (const segment of ['20260101000000', '20260102000000']) {
    await files.add(`segments/${segment}/fetch`, tables.fetch, [
      capture(segment, 0, {}),
      capture(segment, 1, {
        kind: 'robots',
        url: 'http://192.0.2.7/robots.txt',
        url_host_name: '192.0.2.7',
        url_host_registered_domain: '192.0.2.7',
      }),
      capture(segment, 2, {
        status: 'gone',
        fetch_status: 404,
        url: 'http://localhost/',
        url_host_name: 'localhost',
        url_host_registered_domain: 'localhost',
      }),
      capture(segment, 3, {status: 'skipped', fetch_status: null}),
    ]);
    for (const parse of ['p1', 'p2'])
      await files.add(`segments/${segment}/parse/${parse}`, tables.parse, [parsed(segment, parse, 0)]);
    await files.add(`segments/${segment}/outlinks/p1`, tables.outlinks, sampleRows(tables.outlinks, 5));
    await files.add(`segments/${segment}/outlinks/p2`, tables.outlinks, sampleRows(tables.outlinks, 7));
  }
  await files.add('crawldb', tables.crawldb, [datum(1, 1)], {kind: 'base', revision: 1});
  const robots = (origin: string, facts: Partial<Row<typeof tables.robots>>) => ({
    ...sampleRow(tables.robots, 1),
    origin,
    host_key: 5n,
    ...facts,
  });
  await files.add('robots', tables.robots, [
    robots('https://a', {
      verdict: 'rules',
      fetched_time: new Date(2000),
      expires_time: new Date(9000),
      crawl_delay_s: 2,
    }),
    robots('http://a', {
      verdict: 'deny_all',
      fetched_time: new Date(1000),
      expires_time: new Date(8000),
      crawl_delay_s: null,
    }),
  ]);
  await files.add('hoststate', tables.hoststate, [
    {...sampleRow(tables.hoststate, 0), host_key: 5n, url_host_name: 'a'},
  ]);
  await files.add('hoststats', tables.hoststats, [
    {...sampleRow(tables.hoststats, 0), host_key: 6n, url_host_name: 'b', urls: 12},
  ]);
  await files.add('hostrules', tables.hostrules, [
    {...sampleRow(tables.hostrules, 0), host_key: 6n, url_host_name: 'b', blocked: true, applies_to: 'host'},
  ]);
  return up;
}

describe('bindSnapshot', () => {
  test('parse and outlinks are the current ones, parse_all and outlinks_all all', async (t) => {
    const {db, files} = await smallCrawl(t);
    await bindSnapshot(db, files.snapshot());
    const counts = async () =>
      (
        await db.all(`SELECT (SELECT count(*) FROM parse) AS p, (SELECT count(*) FROM parse_all) AS pa,
        (SELECT count(*) FROM outlinks) AS o, (SELECT count(*) FROM outlinks_all) AS oa, (SELECT count(*) FROM captures) AS f`)
      )[0];
    assert.deepEqual(await counts(), {p: 2, pa: 4, o: 14, oa: 24, f: 8});
    await bindSnapshot(db, files.snapshot(), {segments: ['20260102000000']});
    assert.deepEqual(await counts(), {p: 1, pa: 2, o: 7, oa: 12, f: 4});
  });

  test('hostdb has a row for each host that any of its tables knows', async (t) => {
    const {db, files} = await smallCrawl(t);
    await bindSnapshot(db, files.snapshot());
    const hosts = await db.all(
      'SELECT host_key, url_host_name, urls, blocked, robots_origins, robots_verdict, robots_crawl_delay_s, robots_expires_time, delay_term IS NULL AS unasked FROM hostdb ORDER BY host_key',
    );
    assert.deepEqual(hosts, [
      {
        host_key: 5n,
        url_host_name: 'a',
        urls: null,
        blocked: null,
        robots_origins: 2,
        robots_verdict: 'rules',
        robots_crawl_delay_s: 2,
        robots_expires_time: new Date(8000),
        unasked: false,
      },
      {
        host_key: 6n,
        url_host_name: 'b',
        urls: 12,
        blocked: true,
        robots_origins: null,
        robots_verdict: null,
        robots_crawl_delay_s: null,
        robots_expires_time: null,
        unasked: true,
      },
    ]);
  });

  test('ccindex has Common Crawl’s columns in its order, with values in its manner', async (t) => {
    const {db, files} = await smallCrawl(t);
    await bindSnapshot(db, files.snapshot());
    const columns = (await db.describe('FROM ccindex')).map((column) => column.name);
    assert.deepEqual(columns, commonCrawlColumns);
    const rows = await db.all(
      `SELECT * EXCLUDE (fetch_time, fetch_redirect, content_digest, content_mime_type, content_mime_detected, content_languages, content_truncated)
       FROM ccindex WHERE crawl = '20260101000000' ORDER BY url DESC`,
    );
    const nothing = {
      url_surtkey: null,
      url_host_private_suffix: null,
      url_host_private_domain: null,
      warc_filename: null,
      warc_record_offset: null,
      warc_record_length: null,
      warc_segment: '20260101000000',
      crawl: '20260101000000',
    };
    assert.deepEqual(rows[0], {
      ...nothing,
      url: 'https://www.example.co.uk:8443/a/b?q=1&r=%3F',
      url_host_name: 'www.example.co.uk',
      url_host_tld: 'uk',
      url_host_2nd_last_part: 'co',
      url_host_3rd_last_part: 'example',
      url_host_4th_last_part: 'www',
      url_host_5th_last_part: null,
      url_host_registry_suffix: 'co.uk',
      url_host_registered_domain: 'example.co.uk',
      url_host_name_reversed: 'uk.co.example.www',
      url_protocol: 'https',
      url_port: 8443,
      url_path: '/a/b',
      url_query: 'q=1&r=%3F',
      fetch_status: 200,
      content_charset: 'UTF-8',
      subset: 'warc',
    });
    assert.deepEqual(
      rows
        .slice(1)
        .map((row) => [
          row.url_host_name,
          row.url_host_tld,
          row.url_host_name_reversed,
          row.url_host_registry_suffix,
          row.url_port,
          row.url_path,
          row.url_query,
          row.fetch_status,
          row.subset,
        ]),
      [
        ['localhost', 'localhost', 'localhost', null, null, '/', null, 404, 'crawldiagnostics'],
        ['192.0.2.7', null, null, null, null, '/robots.txt', null, 200, 'robotstxt'],
      ],
    );
  });

  test('an empty crawl has all views', async (t) => {
    const {db, files} = await setUp(t);
    await bindSnapshot(db, files.snapshot());
    for (const view of [...Object.keys(tables), 'captures', 'parse_all', 'outlinks_all', 'hostdb', 'ccindex'])
      assert.deepEqual(await db.all(`FROM "${view}"`), [], view);
  });
});

/** Of commoncrawl/cc-index-table, the flat schema as of 2026, without warc_record_id. */
const commonCrawlColumns =
  `url_surtkey url url_host_name url_host_tld url_host_2nd_last_part url_host_3rd_last_part
  url_host_4th_last_part url_host_5th_last_part url_host_registry_suffix url_host_registered_domain
  url_host_private_suffix url_host_private_domain url_host_name_reversed url_protocol url_port url_path url_query
  fetch_time fetch_status fetch_redirect content_digest content_mime_type content_mime_detected content_charset
  content_languages content_truncated warc_filename warc_record_offset warc_record_length warc_segment crawl subset`.split(
    /\s+/,
  );

test('views.sql works in the crawl folder with bare DuckDB', async (t) => {
  const {files, dir} = await smallCrawl(t);
  await writeFile(join(dir, 'views.sql'), await viewsSql(files.snapshot()));
  // A process of its own, in the folder, with nothing of ours: as `duckdb -init views.sql`.
  const script = `
    const {DuckDBInstance} = require(${JSON.stringify(require_('@duckdb/node-api'))});
    (async () => {
      const connection = await (await DuckDBInstance.create(':memory:')).connect();
      await connection.run(require('node:fs').readFileSync('views.sql', 'utf8'));
      const reader = await connection.runAndReadAll("SELECT (SELECT count(*) FROM captures)::INTEGER, (SELECT count(*) FROM parse)::INTEGER, (SELECT count(*) FROM parse_all)::INTEGER, (SELECT count(*) FROM hostdb)::INTEGER, (SELECT count(*) FROM crawldb)::INTEGER, current_setting('TimeZone')");
      console.log(JSON.stringify(reader.getRows()));
    })();`;
  const {stdout, stderr} = spawnSync(process.execPath, ['-e', script], {
    cwd: dir,
    encoding: 'utf8',
    env: {...process.env, TZ: 'America/New_York'},
  });
  assert.equal(stdout.trim(), '[[8,2,4,2,1,"UTC"]]', stderr);
});

function require_(name: string): string {
  return new URL(import.meta.resolve(name)).pathname;
}
