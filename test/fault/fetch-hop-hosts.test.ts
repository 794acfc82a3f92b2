/** What is known of hosts that a fetch comes to by redirects alone. */
import assert from 'node:assert/strict';
import test, {type TestContext} from 'node:test';
import {type FetchCrawl, fetchCrawl} from '../support/fetch-crawl.ts';
import {type ServedWeb, serveWeb} from '../support/fetch-web.ts';
import {reached} from '../support/reached.ts';

const [first, second] = ['20270101000000', '20270101000001'] as const;

/** `a.test` leads to `www.a.test`, which asks to be left alone for an hour; `b.test` has something to do meanwhile. */
async function setUp(t: TestContext): Promise<{web: ServedWeb; crawl: FetchCrawl}> {
  const web = await serveWeb(t, {
    'a.test': (path) =>
      path === '/robots.txt' ? undefined : {status: 301, headers: {location: `http://www.a.test${path}`}},
    'www.a.test': (path) =>
      path === '/robots.txt' ? undefined : {status: 503, headers: {'retry-after': '3600'}},
    'b.test': (path) => ({body: path}),
  });
  return {web, crawl: await fetchCrawl(t, [`network.connect_to=${web.connectTo}`])};
}

async function assertLeftAlone({web, crawl}: {web: ServedWeb; crawl: FetchCrawl}): Promise<void> {
  const before = web.paths('www.a.test');
  assert.deepEqual(before, ['/robots.txt', '/1']);
  await crawl.generate(second, ['http://a.test/2']);
  await crawl.fetch({segment: second});
  assert.ok(web.paths('a.test').includes('/2'));
  assert.deepEqual(web.paths('www.a.test'), before);
  const [state] = await crawl.sql(
    `SELECT delay_term, failures, requests, next_allowed_time > now() + INTERVAL 50 MINUTE AS rests
     FROM hoststate WHERE url_host_name = 'www.a.test'`,
  );
  assert.deepEqual({...state}, {delay_term: 'retry_after', failures: 1, requests: 2, rests: true});
}

test('a host that only a redirect leads to keeps the rest that an earlier round stored', async (t) => {
  const setting = await setUp(t);
  await setting.crawl.generate(first, ['http://www.a.test/1']);
  await setting.crawl.fetch({segment: first});
  await assertLeftAlone(setting);
});

test('and the rest that is in the journal of a segment whose fetch was stopped', async (t) => {
  const setting = await setUp(t);
  const pages = Array.from({length: 300}, (_, page) => `http://b.test/${page}`);
  await setting.crawl.generate(first, ['http://www.a.test/1', ...pages]);
  const stop = new AbortController();
  const stopped = setting.crawl.fetch({segment: first}, stop.signal);
  const {paths} = setting.web;
  await reached(() => paths('www.a.test').length >= 2 && paths('b.test').length >= 5, stopped);
  stop.abort(new Error('stopped'));
  await stopped;
  await assertLeftAlone(setting);
});
