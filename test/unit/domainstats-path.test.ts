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

test('what is asked again, and what a busy host refused, say nothing about a path', async (t) => {
  const crawl = await jobHarness(t);
  const urls = (path: string, n: number) => Array.from({length: n}, (_, i) => `http://large.test${path}${i}`);
  await injectUrls(crawl, [...urls('/news/', 600), ...urls('/busy/', 400)]);
  const some = {where: "NOT regexp_matches(url, '[0-9]{2}$')"};
  const yields = async () => {
    const {stdout} = await command(['domainstats', '--by', 'path', '--json', '-C', crawl.dir]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, number | string | null>)
      .map(({path, yield: own}) => [path, own]);
  };
  const first = [
    ['/news/', 1],
    ['/busy/', null],
  ];
  await round(
    crawl,
    (url) =>
      url.includes('/busy/') ? {status: 'retry', reason: 'http_503', code: 503} : page(`text of ${url}`),
    some,
  );
  assert.deepEqual(await yields(), first);
  await round(
    crawl,
    (url) =>
      url.includes('/busy/')
        ? {status: 'retry', reason: 'http_503', code: 503}
        : {status: 'notmodified', code: 304},
    {...some, force: true},
  );
  assert.deepEqual(await yields(), first);
  const [host] = await crawl.sql('SELECT recent_new / recent_pages AS own FROM hoststats');
  assert.equal(host?.own, 1, 'as for the whole host');
});
