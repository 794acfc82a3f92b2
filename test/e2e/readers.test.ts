import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {serveWeb} from '../support/served-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const pages: Record<string, string> = {
  '/': '<title>Home</title><a href="/a">to A</a> <a href="/copy">C</a> <a href="http://two.test/">two</a>',
  '/a': '<title>A</title><p>same</p><a href="/">home</a>',
  '/copy': '<title>A</title><p>same</p><a href="/">home</a>',
};

test('readers answer what Nutch’s readers answer, as tables and as data', async (t) => {
  const web = await serveWeb(t, (host, path) => (host === 'one.test' ? pages[path] : '<title>Two</title>'));
  const dir = join(await temporaryFolder(t), 'crawl');
  await crawl(['init', dir]);
  for (const words of [
    ['inject', 'http://one.test/'],
    ['run', '--rounds', '2'],
  ]) {
    const {code, stderr} = await crawl([...words, '-C', dir, ...web.flags]);
    assert.equal(code, 0, stderr);
  }
  const read = async (...words: string[]) => {
    const {code, stdout, stderr} = await crawl([...words, '-C', dir, ...web.flags]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const rows = async <R = Record<string, unknown>>(...words: string[]) =>
    (await read(...words, '--json'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as R);
  const all = await query(dir, 'FROM crawldb');

  // readdb
  const stats = await rows<{statistic: string; of: string; value: number}>('readdb');
  const of = (statistic: string, name: string) =>
    stats.find((row) => row.statistic === statistic && row.of === name)?.value;
  assert.equal(of('total', 'urls'), all.length);
  const [fetched] = await query<{n: number}>(
    dir,
    `SELECT count(*) AS n FROM crawldb WHERE status = 'fetched'`,
  );
  assert.equal(of('status', 'fetched'), fetched?.n);
  assert.equal(of('status', 'duplicate'), 1);
  assert.equal((await rows('readdb', '--quick')).filter(({statistic}) => statistic === 'status').length, 0);
  assert.match(await read('readdb', '--sort'), /host one\.test +fetched +2/);
  assert.equal((await rows('readdb', '--dump')).length, all.length);
  assert.deepEqual(
    (await rows('readdb', '--dump', '--status', 'duplicate')).map(({duplicate_of}) => duplicate_of),
    ['http://one.test/a'],
  );
  assert.equal((await rows('readdb', '--dump', '--where', 'depth = 0 -- seeds')).length, 1);
  assert.equal((await rows('readdb', '--dump', '--sample', '1')).length, all.length);
  const [best] = await rows('readdb', '--top-n', '1', '--host', 'one.test', '--min-score', '0.9');
  assert.equal(best?.url, 'http://one.test/');
  const [one] = await rows('readdb', '--url', 'HTTP://One.test:80/a');
  assert.equal(one?.url, 'http://one.test/a');
  assert.match(await read('readdb', '--url', 'http://one.test/a'), /^url +http:\/\/one\.test\/a$/m);

  // readseg
  const segments = await rows('readseg');
  assert.deepEqual(
    segments.map(({generated, parsed}) => [generated, parsed]),
    await query<{n: number; p: number}>(
      dir,
      `SELECT count(*) AS n, (SELECT count(*) FROM parse p WHERE p.segment = f.segment AND status = 'success') AS p
       FROM fetchlist f GROUP BY segment ORDER BY segment`,
    ).then((list) => list.map(({n, p}) => [n, p])),
  );
  const first = segments[0]?.segment as string;
  const got = await rows<{part: string; url?: string}>('readseg', '--get', 'http://one.test/', first);
  assert.deepEqual([...new Set(got.map(({part}) => part))], ['fetchlist', 'fetch', 'parse', 'outlinks']);
  assert.match(await read('readseg', '--get', 'http://one.test/'), /response_header +HTTP\/1\.1 200/);
  const file = join(dir, 'parse.parquet');
  await read('readseg', '--dump', '--part', 'parse', '-o', file);
  assert.ok(existsSync(file));

  // readlinkdb
  const inlinks = await rows('readlinkdb', '--url', 'http://one.test/');
  assert.deepEqual(
    inlinks.map(({source_url, anchor}) => [source_url, anchor]),
    [
      ['http://one.test/a', 'home'],
      ['http://one.test/copy', 'home'],
    ],
  );
  assert.deepEqual(await rows('readlinkdb', '--graph', 'domain'), [
    {source: 'one.test', target: 'two.test', links: 1},
  ]);
  assert.equal((await rows('readlinkdb', '--top-n', '1'))[0]?.url, 'http://one.test/');
  assert.equal((await rows('readlinkdb', '--dump', '--regex', 'two')).length, 1);
  assert.equal((await rows('readlinkdb'))[0]?.links, 5);

  // hosts
  assert.equal(
    await read('readhostdb', '--hostnames', '--format', 'csv', 'ONE.test'),
    'url_host_name\none.test\n',
  );
  assert.deepEqual(await rows('readhostdb', '--homepages', '--where', 'fetched > 1'), [
    {url_host_name: 'one.test', url: 'http://one.test/'},
  ]);
  const [host] = await rows('domainstats', '--by', 'host', '--top-n', '1');
  assert.deepEqual([host?.host, host?.urls, host?.duplicates], ['one.test', 3, 1]);
  assert.equal((await rows('domainstats', '--by', 'code')).find(({code}) => code === 200)?.urls, 4);

  // An older manifest: before anything was fetched
  assert.equal((await rows('readdb', '--dump', '--as-of', '1')).length, 1);

  for (const [words, code, message] of [
    [['readdb', '--dump', '--stats'], 2, /only one of --stats, --dump/],
    [['readdb', '--status', 'fetched'], 2, /--status goes with --dump/],
    [['readdb', '--dump', '--status', 'fine'], 2, /no such status: fine/],
    [['readdb', '--dump', '--sample', '2'], 2, /--sample 2 is no share/],
    [['readdb', '--dump', '--where', 'depth = '], 2, /--where depth = : .*syntax error/],
    [['readdb', '--top-n', '1', '--where', 'nosuch > 1'], 2, /--where nosuch > 1: .*"nosuch" not found/],
    [['readdb', '--dump', '--where', '1 = 1; SELECT 2'], 2, /--where 1 = 1; SELECT 2: /],
    [['readdb', '--dump', '--where', '1 = 1), (2 = 2'], 2, /not a condition/],
    [['readdb', '--dump', '--where', '1 = 1) UNION ALL (SELECT 1'], 2, /--where 1 = 1\) UNION/],
    [['readdb', '--dump', '--regex', '('], 2, /--regex \(: .*missing \)/],
    [['readhostdb', '--where', 'nosuch > 1'], 2, /--where nosuch[\s\S]*DESCRIBE hostdb/],
    [['readlinkdb', '--dump', '--regex', '['], 2, /--regex \[: /],
    [['readdb', '--url', 'http://one.test/never'], 1, /not in the crawldb; why: crawl explain/],
    [['readseg', '--get', 'http://one.test/never'], 1, /no segment holds/],
    [['readdb', '--url', 'no url'], 2, /^crawl: no url: not a URL/],
    [['readlinkdb', '--url', 'http://'], 2, /^crawl: http:\/\/: not a URL/],
    [['readseg', '--get', 'one.test/a'], 2, /^crawl: one.test\/a: not a URL/],
    [['readseg', '--part', 'parse'], 2, /--part goes with/],
    [['readseg', '--dump', '--part', 'parse,fetch'], 2, /takes one part/],
    [['readseg', '--dump', '--part', 'text'], 2, /no part text/],
    [['readseg', '20200101000000'], 2, /no segment 20200101000000/],
    [['readlinkdb', '--regex', 'x'], 2, /--regex goes with --dump/],
    [['readhostdb', 'a/b'], 2, /is no host/],
    [['readhostdb', 'one.test', 'never.test'], 1, /^the crawl knows no host never.test\n$/],
    [['readhostdb', 'one.test', '--where', 'urls < 0'], 0, /^$/],
  ] as const) {
    const outcome = await crawl([...words, '-C', dir, ...web.flags]);
    assert.equal(outcome.code, code, `${words.join(' ')}: ${outcome.stderr}`);
    assert.match(outcome.stderr, message);
  }
});
