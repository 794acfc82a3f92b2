import assert from 'node:assert/strict';
import {test} from 'node:test';
import {crawl as command} from '../support/command.ts';
import {jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {page} from '../support/small-web.ts';

test('the parts of a large host are told apart by what they brought; a small host has none', async (t) => {
  const crawl = await jobHarness(t);
  const urls = (path: string, n: number) => Array.from({length: n}, (_, i) => `http://large.test${path}${i}`);
  const large = [
    ...urls('/news/', 500),
    ...urls('/tags/all/', 400),
    ...urls('/old/', 99),
    'http://large.test/',
  ];
  await injectUrls(crawl, [...large, 'http://small.test/news/1']);
  await round(
    crawl,
    (url) => {
      if (url.includes('/old/')) return {status: 'gone', reason: 'http_404', code: 404};
      return page(url.includes('/tags/') ? 'always the same' : `text of ${url}`);
    },
    {where: "NOT regexp_matches(url, '[0-9]{2}$')"},
  );
  const {code, stdout} = await command(['domainstats', '--by', 'path', '--json', '-C', crawl.dir]);
  assert.equal(code, 0);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number | string>);
  assert.deepEqual(
    rows.map(({path, urls, fetched, pages_fetched, yield: own}) => [path, urls, fetched, pages_fetched, own]),
    [
      ['/news/', 500, 10, 10, 1],
      ['/tags/', 400, 10, 10, 0.1],
      ['/old/', 99, 10, 0, 0.25],
      ['/', 1, 1, 1, 1],
    ],
  );
  const [news, tags, old] = rows;
  assert.equal(news?.body_bytes, news?.novel_bytes);
  assert.equal(tags?.novel_bytes, 'always the same'.length);
  assert.deepEqual([tags?.body_bytes, old?.body_bytes], [10 * 'always the same'.length, 0]);
});
