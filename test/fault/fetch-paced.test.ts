/** Every request that a fetch makes beside those of its list keeps the delay of its host: seen from the server's side. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {serveWeb} from '../support/fetch-web.ts';

const segment = '20270101000000';
const minDelay = 200;

test('connections that were closed, breaks, passwords, redirects, random paths, sitemaps: none within the delay', async (t) => {
  const web = await serveWeb(t, {
    'a.test': (path, _request, times) => {
      if (path === '/robots.txt') return {body: 'User-agent: *\nDisallow: /no\n'};
      // The connection is one that was kept, and is closed when the request has come.
      if (path === '/stale' && times === 0) return {cut: 'before'};
      if (path === '/password') return {status: 401, headers: {'www-authenticate': 'Basic realm="a"'}};
      if (path === '/moved') return {status: 302, headers: {location: '/moved/there'}};
      if (path === '/moved/there') return {status: 301, headers: {location: 'http://www.a.test/there'}};
      if (path === '/half') return {body: 'x'.repeat(1000), cut: 'within'};
      return {body: path};
    },
    'www.a.test': (path) => ({body: path}),
  });
  const crawl = await fetchCrawl(t, [
    `network.connect_to=${web.connectTo}`,
    `politeness.min_delay=${minDelay}ms`,
    'fetch.soft_404=on',
  ]);
  await crawl.generate(segment, [
    'http://a.test/1',
    'http://a.test/stale',
    'http://a.test/password',
    'http://a.test/moved',
    {url: 'http://a.test/sitemap.xml', kind: 'sitemap'},
    'http://a.test/half',
    'http://a.test/2',
    'http://www.a.test/1',
  ]);
  await crawl.fetch();
  const times = (path: string) => web.paths('a.test').filter((other) => other === path).length;
  assert.equal(times('/stale'), 2);
  for (const path of [
    '/robots.txt',
    '/1',
    '/password',
    '/moved',
    '/moved/there',
    '/sitemap.xml',
    '/half',
    '/2',
  ])
    assert.equal(times(path), 1, path);
  assert.equal(web.paths('a.test').length, 11, 'one random path');
  for (const host of ['a.test', 'www.a.test']) {
    const gap = web.leastGap(host);
    assert.ok(gap >= minDelay, `${host}: ${gap} ms`);
  }
  const rows = await crawl.sql<{url: string; outcome: string}>(
    `SELECT url, concat_ws(' ', status, reason) AS outcome FROM captures
     WHERE url IN ('http://a.test/stale', 'http://a.test/password', 'http://a.test/half') ORDER BY ALL`,
  );
  assert.deepEqual(
    rows.map(({url, outcome}) => `${new URL(url).pathname} ${outcome}`),
    ['/half retry reset', '/password gone http_4xx', '/stale success'],
  );
  const [host] = await crawl.sql(`SELECT failures FROM hoststate WHERE url_host_name = 'a.test'`);
  assert.deepEqual({...host}, {failures: 0});
});

test('a connection that is closed on each second request: each is sent twice at most, and the row says reset', async (t) => {
  const web = await serveWeb(t, {'a.test': (path) => (path === '/bad' ? {cut: 'before'} : {body: path})});
  const crawl = await fetchCrawl(t, [
    `network.connect_to=${web.connectTo}`,
    `politeness.min_delay=${minDelay}ms`,
  ]);
  await crawl.generate(segment, ['http://a.test/bad', 'http://a.test/good']);
  await crawl.fetch();
  assert.deepEqual(web.paths('a.test'), ['/robots.txt', '/bad', '/bad', '/good']);
  assert.ok(web.leastGap('a.test') >= minDelay);
  assert.deepEqual(
    await crawl.sql(`SELECT url, status, reason FROM captures WHERE kind = 'page' ORDER BY ALL`),
    [
      {url: 'http://a.test/bad', status: 'retry', reason: 'reset'},
      {url: 'http://a.test/good', status: 'success', reason: null},
    ],
  );
});
