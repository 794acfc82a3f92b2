import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {inject} from '../../jobs/inject.ts';
import type {SeedRow} from '../../lib/schema/seeds.ts';
import {jobHarness} from '../support/job-harness.ts';

const options = {files: [], urls: [], update: false, overwrite: false};

test('a list becomes rows of the crawldb, and each line a row of seeds with what was made of it', async (t) => {
  const crawl = await jobHarness(t);
  const file = join(crawl.dir, 'list.txt');
  await writeFile(
    file,
    [
      '\uFEFF# comment',
      '',
      'http://a.test/\tscore=2.5\tinterval=7d\ttag=first\tcolour=red',
      'http://A.test:80/#part',
      'not a url at all',
      'http://b.test/\tscore=much',
      'ftp://b.test/',
      'http://b.test/\tnutch.fetchInterval.fixed=3600\tscope=host\tgroup=g',
    ].join('\r\n'),
  );
  const report = await crawl.run(inject, {...options, files: [file]});
  assert.deepEqual(report.counters, {
    seeds_read_total: 6,
    seeds_added_total: 2,
    seeds_updated_total: 0,
    seeds_known_total: 1,
    seeds_rejected_total: 3,
  });
  const rows = await crawl.sql<SeedRow>('SELECT * FROM seeds ORDER BY line');
  assert.deepEqual(
    rows.map(({line, outcome, reason}) => [line, outcome, reason]),
    [
      [3, 'added', null],
      [4, 'known', 'seed_known'],
      [5, 'rejected', 'url_invalid'],
      [6, 'rejected', 'seed_malformed'],
      [7, 'rejected', 'scheme'],
      [8, 'added', null],
    ],
  );
  const [a, b] = (await crawl.crawldb()).sort((x, y) => (x.url < y.url ? -1 : 1));
  assert.ok(a && b);
  assert.deepEqual(
    [
      a.url,
      a.status,
      a.score,
      a.fetch_interval_s,
      a.fixed_interval,
      a.tag,
      a.metadata,
      a.depth,
      a.seed,
      a.hop_type,
    ],
    [
      'http://a.test/',
      'unfetched',
      2.5,
      604_800,
      false,
      'first',
      '{"colour":"red"}',
      0,
      'http://a.test/',
      'I',
    ],
  );
  assert.deepEqual(
    [b.url, b.score, b.fetch_interval_s, b.fixed_interval, b.next_fetch_time.getTime()],
    ['http://b.test/', 1, 3600, true, crawl.effects.now()],
  );
  assert.deepEqual((await crawl.head()).manifest.summary, {
    ...(await crawl.head()).manifest.summary,
    urls: 2,
    unfetched: 2,
    hosts: 2,
  });
});

test('injecting again changes nothing, unless asked to update or overwrite', async (t) => {
  const crawl = await jobHarness(t);
  await crawl.run(inject, {...options, urls: ['http://a.test/\tscore=2\tx=1', 'http://b.test/']});
  const before = await crawl.crawldb();
  const slot = (await crawl.head()).manifest.slots.crawldb;
  crawl.effects.pass(1000);

  const again = await crawl.run(inject, {...options, urls: ['http://a.test/\tscore=3', 'http://b.test/']});
  assert.equal(again.counters.seeds_known_total, 2);
  assert.deepEqual(await crawl.crawldb(), before);
  assert.deepEqual((await crawl.head()).manifest.slots.crawldb, slot);

  const update = await crawl.run(inject, {
    ...options,
    urls: ['http://a.test/\tscore=3\ty=2', 'http://b.test/'],
    update: true,
  });
  assert.deepEqual([update.counters.seeds_updated_total, update.counters.seeds_known_total], [1, 1]);
  const updated = (await crawl.crawldb()).find((row) => row.url === 'http://a.test/');
  assert.equal(updated?.score, 3);
  assert.deepEqual(JSON.parse(updated?.metadata ?? ''), {x: '1', y: '2'});
  assert.equal(updated?.discovered_time.getTime(), before[0]?.discovered_time.getTime());

  await crawl.run(inject, {...options, urls: ['http://a.test/'], overwrite: true});
  const replaced = (await crawl.crawldb()).find((row) => row.url === 'http://a.test/');
  assert.deepEqual([replaced?.score, replaced?.metadata], [1, null]);
  assert.equal(replaced?.discovered_time.getTime(), crawl.effects.now());
  assert.equal((await crawl.head()).manifest.summary.urls, 2);
});

test('compressed lists are read; a list that is missing or torn is an error that names it', async (t) => {
  const crawl = await jobHarness(t);
  const file = join(crawl.dir, 'seeds.gz');
  const packed = gzipSync('http://a.test/\nhttp://b.test/\n');
  await writeFile(file, packed);
  const report = await crawl.run(inject, {...options, files: [file, file]});
  assert.equal(report.counters.seeds_added_total, 2);

  await writeFile(file, packed.subarray(0, 20));
  await assert.rejects(crawl.run(inject, {...options, files: [file]}), {
    code: 'INPUT_UNREADABLE',
    message: `${file} is torn, or not gzip (Z_BUF_ERROR)`,
  });
  await assert.rejects(crawl.run(inject, {...options, files: [join(crawl.dir, 'none')]}), {
    code: 'INPUT_UNREADABLE',
  });
  await assert.rejects(crawl.run(inject, options), {code: 'USAGE'});
  assert.equal((await crawl.crawldb()).length, 2);
});

test('standard input is that of the effects, plain or compressed, and is read once', async (t) => {
  const crawl = await jobHarness(t);
  const list = Buffer.from('http://a.test/\nhttp://b.test/é\n');
  for (const [bytes, counter] of [
    [gzipSync(list), 'seeds_added_total'],
    [list, 'seeds_known_total'],
  ] as const) {
    const stdin = Readable.from([bytes.subarray(0, 20), bytes.subarray(20)]);
    const report = await crawl.run(inject, {...options, files: ['-', '-']}, {stdin});
    assert.equal(report.counters[counter], 2);
  }
  const torn = Readable.from([gzipSync(list).subarray(0, 30)]);
  await assert.rejects(crawl.run(inject, {...options, files: ['-']}, {stdin: torn}), {
    code: 'INPUT_UNREADABLE',
    message: 'standard input is torn, or not gzip (Z_BUF_ERROR)',
  });
});

test('a named pipe is read from its beginning', {
  skip: process.platform === 'win32' && 'no named pipes',
}, async (t) => {
  const crawl = await jobHarness(t);
  const file = join(crawl.dir, 'pipe');
  execFileSync('mkfifo', [file]);
  const [report] = await Promise.all([
    crawl.run(inject, {...options, files: [file]}),
    writeFile(file, 'http://a.test/\nhttp://b.test/\n'),
  ]);
  assert.equal(report.counters.seeds_added_total, 2);
});

test('a line of NUL and broken characters is kept as text and rejected', async (t) => {
  const crawl = await jobHarness(t);
  const file = join(crawl.dir, 'binary');
  await writeFile(file, Buffer.from([0, 255, 254, 0, 10, 104, 0, 10]));
  const report = await crawl.run(inject, {...options, files: [file]});
  assert.equal(report.counters.seeds_rejected_total, 2);
  const [row] = await crawl.sql<SeedRow>('SELECT * FROM seeds ORDER BY line');
  assert.equal(row?.text, '\ufffd\ufffd\ufffd\ufffd');
});

test('the scope is asked, and the rejecting rule is kept', async (t) => {
  const crawl = await jobHarness(t, 'scope:\n  rules: ["- domain b.test"]\n');
  await crawl.run(inject, {...options, urls: ['http://a.test/', 'http://x.b.test/']});
  const [row] = await crawl.sql<SeedRow>("SELECT * FROM seeds WHERE outcome = 'rejected'");
  assert.equal(row?.reason, 'scope_rule');
  assert.match(row?.detail ?? '', /domain b\.test/);
  assert.equal((await crawl.crawldb()).length, 1);
});

test('a rejected line of 5 kB is told in short, and kept whole', async (t) => {
  const crawl = await jobHarness(t);
  const file = join(crawl.dir, 'long.txt');
  const line = `http://a.test/${'x'.repeat(5000)}`;
  await writeFile(file, line);
  const report = await crawl.run(inject, {...options, files: [file]});
  const [told] = report.facts.flatMap(({rejected}) => rejected as {text: string}[]);
  assert.equal(told?.text, `${line.slice(0, 200)}…`);
  const [kept] = await crawl.sql<SeedRow>('SELECT * FROM seeds');
  assert.equal(kept?.text, line);
});

test('a folder is no list of seeds, and is told as such', async (t) => {
  const crawl = await jobHarness(t);
  await assert.rejects(crawl.run(inject, {...options, files: [crawl.dir]}), {
    code: 'INPUT_UNREADABLE',
    message: /is a folder; wanted is a file of seeds/,
  });
});
