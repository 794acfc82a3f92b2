import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, lstatSync, readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {
  expandKeys,
  explained,
  isExplain,
  isWholeStatement,
  onOneLine,
  parsesNamed,
  withoutEnd,
} from '../../jobs/query/text.ts';
import {urlKey} from '../../lib/url/keys.ts';
import {crawl, temporaryFolder} from '../support/cli.ts';

test('keys are put in place of calls, and nowhere else', () => {
  const keyOf = (name: string, text: string) => BigInt(name.length * 1000 + text.length);
  const expand = (sql: string) => expandKeys(sql, keyOf);
  assert.equal(expand("SELECT url_key('abc')"), 'SELECT 7003::UBIGINT');
  assert.equal(expand("WHERE host_key = HOST_KEY ( 'it''s' )"), 'WHERE host_key = 8004::UBIGINT');
  for (const sql of [
    "SELECT 'url_key(''x'')'",
    `SELECT "url_key('x')"`,
    "-- url_key('x')\nSELECT 1",
    "/* url_key('x') */ SELECT 1",
    "SELECT $$url_key('x')$$, $a$url_key('x')$a$",
    'SELECT url_key FROM crawldb',
    "SELECT my_url_key('x')",
  ])
    assert.equal(expand(sql), sql);
});

test('EXPLAIN is seen behind comments, and taken off', () => {
  assert.ok(isExplain('-- why\n /* x */ EXPLAIN ANALYZE SELECT 1'));
  assert.ok(!isExplain("SELECT 'explain'"));
  assert.equal(explained('EXPLAIN ANALYZE SELECT 1').trim(), 'SELECT 1');
  assert.equal(explained('explain (format json) SELECT 1').trim(), 'SELECT 1');
});

test('at the prompt a statement ends at its semicolon, not at one in a text or comment', () => {
  for (const sql of ['SELECT 1;', 'SELECT 1; -- done', "SELECT ';' ; /* a\nb */\n", "SELECT 'it''s';"])
    assert.ok(isWholeStatement(sql), sql);
  for (const sql of [
    'SELECT 1',
    'SELECT 1 -- all;',
    'SELECT 1; /* not yet',
    "SELECT 'a;",
    'SELECT "a;',
    "SELECT e'it\\';",
    'SELECT $$;',
    'SELECT $a$ $$;',
  ])
    assert.ok(!isWholeStatement(sql), sql);
});

test('history keeps a statement on one line that means the same', () => {
  assert.equal(onOneLine('SELECT 1 -- one\n, 2\n  FROM x;'), 'SELECT 1 , 2 FROM x;');
  assert.equal(onOneLine("SELECT '-- no', /* a\nb */ 2;"), "SELECT '-- no',   2;");
  assert.equal(onOneLine("SELECT 'a\nb';"), undefined, 'no line can hold it');
});

test('what stands behind a query is taken off', () => {
  assert.equal(withoutEnd('SELECT 1; -- done'), 'SELECT 1');
  assert.equal(withoutEnd("SELECT ';' ;\n/* x */ ;"), "SELECT ';'");
  assert.equal(withoutEnd('SELECT 1'), 'SELECT 1');
});

test('parses that a query names', () => {
  assert.deepEqual(parsesNamed("FROM PARSE_OF('a') JOIN outlinks_of( 'it''s' ) -- parse_of('x')"), [
    'a',
    "it's",
  ]);
});

test('crawl sql reads, and only reads', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  writeFileSync(join(cwd, '..', 'outside.csv'), 'a\n1\n');
  const sql = (...argv: string[]) => crawl(cwd, ['sql', ...argv]);
  for (const [query, stdout] of [
    ['SELECT 1 AS a, NULL AS b', 'a,b\n1,\n'],
    ['-- how many\nSELECT 1 AS a', 'a\n1\n'],
    ['FROM crawldb SELECT count(*) AS n', 'n\n0\n'],
    ['WITH x AS (SELECT 1 AS a) FROM x;', 'a\n1\n'],
    ["SELECT url FROM crawldb WHERE url_key = url_key('https://example.org/')", 'url\n'],
    ["PIVOT crawldb ON status IN ('gone') USING count(*) GROUP BY depth", 'depth,gone\n'],
    ['SELECT count(*) > 10 AS many FROM (SHOW TABLES)', 'many\ntrue\n'],
  ] as const)
    assert.deepEqual(await sql('--format', 'csv', query), {code: 0, stdout, stderr: ''}, query);
  const key = await sql('--format', 'csv', "SELECT url_key('HTTPS://Example.org:443/#x') AS k");
  assert.equal(key.stdout, `k\n${urlKey('https://example.org/')}\n`);
  const host = await sql(
    '--format',
    'csv',
    "SELECT host_key('HTTPS://Example.org:443/#x') = host_key('example.org') AS k",
  );
  assert.equal(host.stdout, 'k\ntrue\n');

  const before = readdirSync(cwd, {recursive: true}).sort();
  for (const [query, code, message] of [
    ['DROP VIEW crawldb', 2, /DROP is not a query/],
    ['CREATE TABLE x (a INT)', 2, /CREATE is not a query/],
    [`COPY (SELECT 1) TO '${cwd}/x.csv'`, 2, /COPY is not a query/],
    [`EXPLAIN ANALYZE COPY (SELECT 1) TO '${cwd}/x.csv'`, 2, /EXPLAIN of COPY/],
    ['SELECT 1; DROP VIEW crawldb', 2, /2 statements/],
    ['SET memory_limit = 1', 2, /SET is not a query/],
    ["ATTACH 'x.db'", 2, /ATTACH is not a query/],
    ['INSTALL httpfs', 2, /LOAD is not a query/],
    ['', 2, /empty/],
    ['-- why\n /* nothing */ ;', 2, /empty/],
    ['FROM fetch', 1, /also called captures/],
    ["FROM read_csv('../outside.csv')", 1, /Permission Error[\s\S]*--allow DIR/],
    ["FROM read_text('/etc/hostname')", 1, /Permission Error/],
    ['FROM crawdb', 1, /no table crawdb; did you mean crawldb\?/],
    ['SELECT nosuch FROM crawldb', 1, /nosuch/],
    ['SELEC 1', 1, /syntax error/],
    ['FROM crawldb WHERE url = $1', 1, /\$1 is a parameter[\s\S]*Write the value itself/],
    ['PIVOT crawldb ON status USING count(*)', 1, /PIVOT needs its values named[\s\S]*IN \('fetched'/],
    ["FROM parse_of('nosuch')", 2, /no parse nosuch/],
    ["SELECT url_key('no url')", 1, /url_key\('no url'\): not a URL/],
  ] as const) {
    const ran = await sql(query);
    assert.match(ran.stderr, message, query);
    assert.deepEqual([ran.code, ran.stdout], [code, ''], query);
  }
  assert.deepEqual(readdirSync(cwd, {recursive: true}).sort(), before, 'nothing is left behind');
});

test('crawl sql -o writes a whole file or none', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const sql = (...argv: string[]) => crawl(cwd, ['sql', ...argv]);
  const made = await sql('-o', 'out.parquet', 'SELECT i FROM range(1000) t(i)');
  assert.match(made.stderr, /wrote 1 000 rows to .*out\.parquet/);
  const back = await sql(
    '--format',
    'csv',
    '--allow',
    '.',
    `SELECT count(*) AS n, max(i) AS m FROM '${cwd}/out.parquet'`,
  );
  assert.equal(back.stdout, 'n,m\n1000,999\n');
  await sql('-o', 'out.csv', 'SELECT i FROM range(2) t(i)');
  assert.equal(readFileSync(join(cwd, 'out.csv'), 'utf8'), 'i\n0\n1\n');
  for (const file of ['late.parquet', 'late.jsonl']) {
    const late = await sql(
      '-o',
      file,
      "SELECT CASE WHEN i = 900000 THEN error('late') ELSE i END FROM range(1000000) t(i)",
    );
    assert.equal(late.code, 1);
    assert.match(late.stderr, /late|while its rows were being read/);
    assert.ok(!existsSync(join(cwd, file)) && !existsSync(join(cwd, `${file}.part`)));
  }
  assert.match((await sql('-o', 'no/such/x.csv', 'SELECT 1')).stderr, /cannot be written: ENOENT/);
  assert.match((await sql('--format', 'parquet', 'SELECT 1')).stderr, /needs a file/);
  await sql('-o', 'ended.parquet', 'SELECT 1 AS a; -- done');
  assert.ok(existsSync(join(cwd, 'ended.parquet')));
  const allowed = await sql('--allow', 'nosuch', 'SELECT 1');
  assert.deepEqual(
    [allowed.code, /--allow: .*nosuch cannot be read: ENOENT/.test(allowed.stderr)],
    [2, true],
  );
});

test('crawl sql -o replaces files alone: a link, a pipe or a device stays what it is', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const sql = (...argv: string[]) => crawl(cwd, ['sql', ...argv]);
  writeFileSync(join(cwd, 'real.csv'), 'old\n');
  symlinkSync('real.csv', join(cwd, 'link.csv'));
  assert.equal((await sql('-o', 'link.csv', 'SELECT 1 AS a')).code, 0);
  assert.equal(readFileSync(join(cwd, 'real.csv'), 'utf8'), 'a\n1\n');
  assert.ok(lstatSync(join(cwd, 'link.csv')).isSymbolicLink());
  for (const argv of [
    ['-o', '.'],
    ['--format', 'parquet', '-o', '.'],
  ]) {
    const folder = await sql(...argv, 'SELECT 1');
    assert.deepEqual([folder.code, /cannot be written: EISDIR/.test(folder.stderr)], [1, true]);
  }
  const pipe = join(cwd, 'pipe');
  if (spawnSync('mkfifo', [pipe]).status !== 0) return t.skip('no mkfifo here');
  const [read, ran] = await Promise.all([
    readFile(pipe, 'utf8'),
    sql('--format', 'csv', '-o', 'pipe', 'SELECT 1 AS a'),
  ]);
  assert.deepEqual([ran.code, read], [0, 'a\n1\n']);
  assert.ok(lstatSync(pipe).isFIFO());
  assert.match((await sql('--format', 'parquet', '-o', 'pipe', 'SELECT 1')).stderr, /pipe is none/);
});

test('an unknown manifest or segment', async (t) => {
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  assert.match((await crawl(cwd, ['sql', '--as-of', '7', 'SELECT 1'])).stderr, /manifest 7 is not there/);
  const segment = await crawl(cwd, ['sql', '--segments', '20260101000000', 'SELECT 1']);
  assert.deepEqual([segment.code, /no segment 20260101000000/.test(segment.stderr)], [2, true]);
});
