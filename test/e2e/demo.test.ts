import assert from 'node:assert/strict';
import {readdir, readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {demoFacts} from '../../lib/demo/web.ts';
import {crawl, query} from '../support/command.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** The numbers that the demo promises, told by the crawl's own tables and by the server's log. */
test('the demo web is crawled to its end, politely, with the numbers it was built to', async (t) => {
  const cwd = await temporaryFolder(t);
  const {code, stdout, stderr} = await crawl(['demo', '--json'], {cwd});
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
    hosts: {
      host: string;
      pages: number;
      unique: number;
      duplicates: number;
      refused: number;
      seen_again: number;
    }[];
    least_pause_ms: number;
    requests: number;
    findings: string[];
  };
  assert.deepEqual(report.findings, []);
  assert.ok(report.least_pause_ms >= 200, `least pause ${report.least_pause_ms} ms`);
  // 162 pages and three robots.txt, each asked for once
  assert.equal(report.requests, 165);
  assert.deepEqual(
    report.hosts.map(({host, pages, unique, duplicates, refused}) => [
      host,
      pages,
      unique,
      duplicates,
      refused,
    ]),
    [
      ['news.test', 61, 31, 30, 1],
      ['shop.test', 21, 21, 0, 0],
      ['trap.test', 80, 80, 0, 0],
    ],
  );

  const dir = join(cwd, 'data', 'demo');
  const [pages] = await query(
    dir,
    `SELECT count(*) AS pages, count(DISTINCT url_key) AS urls FROM captures WHERE kind = 'page' AND status = 'success'`,
  );
  assert.deepEqual(pages, {pages: demoFacts.pagesTotal, urls: demoFacts.pagesTotal});
  assert.deepEqual(await query(dir, `SELECT url, reason FROM crawldb WHERE reason = 'robots_denied'`), [
    {url: 'http://news.test/private/secret', reason: 'robots_denied'},
  ]);
  assert.deepEqual(
    await query(
      dir,
      `SELECT count(*) AS n FROM crawldb WHERE status = 'duplicate' AND duplicate_of = replace(url, '/print/', '/story/')`,
    ),
    [{n: demoFacts.duplicates}],
  );
  assert.deepEqual(await query(dir, `SELECT count(*) AS n FROM crawldb WHERE url LIKE '%utm_%'`), [{n: 0}]);
  const [links] = await query<{n: number}>(
    dir,
    `SELECT count(*) AS n FROM linkdb WHERE target_url = 'http://news.test/'`,
  );
  assert.equal(links!.n, 60, 'stories and print copies link home');

  // Bare readers of the folder see the same: nothing that no manifest names lies in a part of a segment
  for (const segment of await readdir(join(dir, 'segments')))
    assert.deepEqual(
      (await readdir(join(dir, 'segments', segment))).includes('journal'),
      false,
      'no journal is left',
    );
  assert.match(await readFile(join(dir, 'views.sql'), 'utf8'), /crawldb/);

  const again = await crawl(['run', '-C', dir], {cwd});
  assert.equal(again.code, 3, `nothing is due any more: ${again.stderr}`);
});
