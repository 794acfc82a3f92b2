import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {updatehostdb} from '../../jobs/updatehostdb.ts';
import type {HostStatsRow} from '../../lib/schema/hostdb.ts';
import {crawl as command} from '../support/command.ts';
import {defaultOptions} from '../support/default-options.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {fetchSegment, page} from '../support/small-web.ts';

const hosts = (crawl: JobHarness) => crawl.sql<HostStatsRow>('SELECT * FROM hoststats ORDER BY host_key');

/** A crawl after two rounds: pages, duplicates, gone ones, redirects, and some not asked yet. */
async function crawled(t: Parameters<typeof jobHarness>[0]) {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/', 'http://b.test/', 'http://c.test/']);
  const links = ['http://a.test/gone', 'http://a.test/moved', 'http://b.test/same', 'http://b.test/twin'];
  for (let n = 0; n < 2; n++)
    await round(crawl, (url) => {
      if (url.endsWith('gone')) return {status: 'gone', reason: 'http_404', code: 404};
      if (url.endsWith('moved'))
        return {status: 'redir_perm', reason: 'redirect', code: 301, redirect: 'http://a.test/'};
      return page(
        /same|twin/.test(url) ? 'the same' : url,
        url === 'http://a.test/' ? links : [`${url}more`],
      );
    });
  return crawl;
}

test('rounds keep the counts of hosts as a count of all rows gives them', async (t) => {
  const crawl = await crawled(t);
  const before = await hosts(crawl);
  assert.ok(before.some(({gone}) => gone > 0) && before.some(({duplicates}) => duplicates > 0));
  assert.ok(before.some(({redirects}) => redirects > 0) && before.some(({unfetched}) => unfetched > 0));
  const {counters} = await crawl.run(updatehostdb, {});
  assert.deepEqual(counters, {hosts_counted_total: 3, hosts_added_total: 0, hosts_changed_total: 0});
  assert.deepEqual(await hosts(crawl), before);
});

test('what a redirect led to is a page that rounds did not count, and is not counted afterwards', async (t) => {
  const crawl = await jobHarness(t);
  await injectUrls(crawl, ['http://a.test/', 'http://a.test/moved']);
  const {plan} = await crawl.run(generate, defaultOptions(generate));
  await fetchSegment(
    crawl,
    plan!.segment!,
    (url) =>
      url.endsWith('moved')
        ? {status: 'redir_perm', reason: 'redirect', code: 301, redirect: 'http://a.test/target'}
        : page(url),
    {follow: 2},
  );
  await crawl.run(updatedb, defaultOptions(updatedb));
  const before = await hosts(crawl);
  assert.deepEqual(
    before.map(({urls, fetched, pages_fetched}) => [urls, fetched, pages_fetched]),
    [[3, 2, 1]],
  );
  const {counters} = await crawl.run(updatehostdb, {});
  assert.equal(counters.hosts_changed_total, 0);
  assert.deepEqual(await hosts(crawl), before);
});

test('wrong and missing counts are put right, and what was ever fetched stays', async (t) => {
  const crawl = await crawled(t);
  const before = await hosts(crawl);
  const {summary} = (await crawl.head()).manifest;
  const wrong = before.slice(1).map((row) => ({...row, urls: 99, gone: 7, body_bytes: 5000}));
  await commitRows(crawl, [{slot: 'hoststats', table: 'hoststats', rows: wrong}]);
  const {stderr} = await command(['updatehostdb', '-C', crawl.dir]);
  assert.match(stderr, /3 hosts, 3 counts of hosts put right/);
  const after = await hosts(crawl);
  assert.deepEqual(
    after.slice(1),
    before.slice(1).map((row) => ({...row, body_bytes: 5000})),
  );
  const {body_bytes, novel_bytes, recent_pages, recent_new, ...missing} = before[0]!;
  assert.ok(body_bytes > 0 && novel_bytes! > 0 && recent_pages! > 0 && recent_new! > 0);
  assert.deepEqual(after[0], {
    ...missing,
    body_bytes: 0,
    novel_bytes: 0,
    recent_pages: 0,
    recent_new: 0,
  });
  const {saved_bytes: saved, ...counts} = (await crawl.head()).manifest.summary;
  assert.deepEqual({...counts, saved_bytes: summary.saved_bytes}, summary);
  assert.ok(saved! > summary.saved_bytes!, 'bytes that were kept are those that were put in');
});

test('of an empty crawldb there is nothing to count', async (t) => {
  const crawl = await jobHarness(t);
  assert.equal((await crawl.run(updatehostdb, {})).outcome, 'nothing');
});
