import assert from 'node:assert/strict';
import {test} from 'node:test';
import {explain} from '../../jobs/explain.ts';
import type {PathStatsRow} from '../../lib/schema/hostdb.ts';
import {jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {page, type SmallWeb} from '../support/small-web.ts';

/** How the parts of a large host are steered by what their last pages brought. */

const numbered = (host: string, n: number) => Array.from({length: n}, (_, i) => `http://${host}/${i}`);
const unlike = (url: string) => page(`the words of ${url} and of nothing else ${url.length} ${url}`);

test('a folder of a large host that gives nothing of its own leaves its places to the others, until it gives more', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, [
    ...numbered('large.test/dull', 600),
    ...numbered('large.test/rich', 600),
    ...numbered('small.test/dull', 100),
  ]);
  let dull = true;
  const web: SmallWeb = (url) => (dull && url.includes('dull') ? page('always the same') : unlike(url));
  const count = (urls: readonly string[], part: string) => urls.filter((url) => url.includes(part)).length;
  const asked = async (maxPerHost: number) => {
    const {urls, left} = await round(crawl, web, {maxPerHost});
    return {dull: count(urls, 'large.test/dull'), rich: count(urls, 'large.test/rich'), left};
  };
  const first = await asked(120);
  assert.equal(first.dull + first.rich, 120);
  assert.ok(first.dull >= 20 && first.rich >= 20, 'both are new, and in no order of folders');
  const parts = await crawl.sql<PathStatsRow>('SELECT * FROM pathstats ORDER BY path');
  assert.deepEqual(
    parts.map(({url_host_name, path, recent_pages, recent_new}) => [
      url_host_name,
      path,
      recent_pages,
      recent_new,
    ]),
    [
      ['large.test', '/dull/', Math.min(first.dull, 100), parts[0]?.recent_new],
      ['large.test', '/rich/', Math.min(first.rich, 100), Math.min(first.rich, 100)],
    ],
    'a host with few URLs has no parts',
  );
  const second = await asked(120);
  assert.deepEqual([second.dull, second.rich], [10, 110], 'ten show whether it changes');
  assert.equal(second.left.low_yield, 600 - first.dull - 10);

  const [waiting] = await crawl.sql<{url: string}>(
    "SELECT url FROM crawldb WHERE status = 'unfetched' AND url LIKE '%large.test/dull/%' ORDER BY url_key DESC LIMIT 1",
  );
  const {passedOver} = await explain(waiting!.url, {
    dir: crawl.dir,
    config: crawl.config,
    signal: crawl.effects.signal,
  });
  assert.equal(passedOver[0]?.verdict, 'low_yield');
  dull = false;
  const third = await asked(120);
  const fourth = await asked(120);
  assert.ok(fourth.dull > third.dull, `it gives content, so it gets more: ${third.dull}, ${fourth.dull}`);
});

test('with budget.yield off folders have their share whatever they give', async (t) => {
  const crawl = await jobHarness(t, 'budget:\n  yield: false\n');
  await injectUrls(crawl, [...numbered('large.test/dull', 600), ...numbered('large.test/rich', 600)]);
  const web: SmallWeb = (url) => (url.includes('dull') ? page('always the same') : unlike(url));
  await round(crawl, web, {maxPerHost: 120});
  const {urls, left} = await round(crawl, web, {maxPerHost: 120});
  assert.ok(urls.filter((url) => url.includes('dull')).length > 20);
  assert.equal(left.low_yield, undefined);
});
