import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import test from 'node:test';
import {updatedb} from '../../jobs/updatedb.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {CrawlError} from '../../lib/errors.ts';
import {KeyFilter} from '../../lib/fetcher/key-filter.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {hostKey, identify} from '../../lib/url/keys.ts';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {type Site, serveWeb} from '../support/fetch-web.ts';
import {commitRows} from '../support/job-harness.ts';

const first = '20270101000000';
const second = '20270102000000';
const page = 'x'.repeat(3000);
const outcomes = `SELECT kind, url, status, reason, fetch_status, fetch_redirect FROM captures ORDER BY url, kind`;

const plain: Site = (path) => (path === '/robots.txt' ? undefined : {body: `${page} ${path}`});

test('a segment is fetched: one row a URL, bytes as sent, the delay kept as the server sees it', async (t) => {
  const web = await serveWeb(t, {
    'a.test': (path) =>
      ({
        '/robots.txt': {body: 'User-agent: *\nDisallow: /secret\n', headers: {'content-type': 'text/plain'}},
        '/': {body: `home ${page}`},
        '/old': {status: 301, headers: {location: '/new'}},
        '/new': {body: 'new'},
        '/away': {status: 302, headers: {location: 'http://elsewhere.test/'}},
        '/loop': {status: 302, headers: {location: '/loop2'}},
        '/loop2': {status: 302, headers: {location: '/loop'}},
        '/cut': {body: page, cut: 'within' as const},
        '/secret': {body: 'never'},
      })[path],
    'b.test': plain,
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`, 'politeness.min_delay=60ms']);
  const paths = ['/', '/old', '/away', '/loop', '/cut', '/secret', '/gone'];
  await crawl.generate(first, [
    ...paths.map((path) => `http://a.test${path}`),
    'http://b.test/1',
    'http://b.test/2',
  ]);
  const report = await crawl.fetch();
  assert.equal(report.outcome, 'done');
  const row = (kind: string, url: string, ...rest: (string | number | null)[]) => [kind, url, ...rest];
  const rows = await crawl.sql<Record<string, unknown>>(outcomes);
  assert.deepEqual(
    rows.map((found) => Object.values(found)),
    [
      row('page', 'http://a.test/', 'success', null, 200, null),
      row('page', 'http://a.test/away', 'redir_temp', 'redirect', 302, 'http://elsewhere.test/'),
      row('page', 'http://a.test/cut', 'retry', 'reset', 200, null),
      row('page', 'http://a.test/gone', 'gone', 'http_404', 404, null),
      row('page', 'http://a.test/loop', 'redir_temp', 'redirect', 302, 'http://a.test/loop2'),
      row('hop', 'http://a.test/loop2', 'gone', 'redirect_loop', 302, 'http://a.test/loop'),
      row('hop', 'http://a.test/new', 'success', null, 200, null),
      row('page', 'http://a.test/old', 'redir_perm', 'redirect', 301, 'http://a.test/new'),
      row('robots', 'http://a.test/robots.txt', 'success', null, 200, null),
      row('page', 'http://a.test/secret', 'gone', 'robots_denied', null, null),
      row('page', 'http://b.test/1', 'success', null, 200, null),
      row('page', 'http://b.test/2', 'success', null, 200, null),
      row('robots', 'http://b.test/robots.txt', 'gone', 'http_404', 404, null),
    ],
  );
  assert.ok(web.leastGap('a.test') >= 60, `gap ${web.leastGap('a.test')}`);
  assert.ok(web.leastGap('b.test') >= 60, `gap ${web.leastGap('b.test')}`);
  assert.ok(!web.paths('a.test').includes('/secret'));
  const [stored] = await crawl.sql<{payload: Uint8Array; header: Uint8Array; request: Uint8Array}>(
    `SELECT c.payload, f.response_header AS header, f.request_header AS request
     FROM captures f JOIN content c USING (content_sha256) WHERE f.url = 'http://b.test/1'`,
  );
  assert.equal(Buffer.from(stored!.payload).toString(), `${page} /1`);
  assert.match(Buffer.from(stored!.header).toString(), /^HTTP\/1\.1 200 OK\r\ncontent-type: text\/html\r\n/);
  assert.match(
    Buffer.from(stored!.request).toString(),
    /^GET \/1 HTTP\/1\.1\r\n[\s\S]*user-agent: crawl\/\d/i,
  );
  const [cut] = await crawl.sql<Record<string, unknown>>(
    `SELECT content_truncated, content_length FROM captures WHERE url = 'http://a.test/cut'`,
  );
  assert.deepEqual(cut, {content_truncated: 'disconnect', content_length: page.length / 2});
  const head = await crawl.head();
  assert.equal(head.segment(first).state, 'fetched');
  const states = await crawl.sql<Record<string, unknown>>(
    'SELECT url_host_name, requests, delay_term, failures FROM hoststate ORDER BY 1',
  );
  assert.deepEqual(
    states.map((state) => Object.values(state)),
    [
      ['a.test', 9, 'min_delay', 0],
      ['b.test', 3, 'min_delay', 0],
    ],
  );
});

test('the next fetch knows robots.txt, sends conditions, and refers to payloads that are stored already', async (t) => {
  const web = await serveWeb(t, {
    'a.test': (path, request) => {
      if (path === '/robots.txt') return {body: ''};
      if (request.headers['if-none-match'] === '"v1"') return {status: 304, headers: {etag: '"v1"'}};
      return {body: `${page} same`, headers: {etag: '"v1"'}};
    },
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  await crawl.generate(first, ['http://a.test/1', 'http://a.test/2']);
  await crawl.fetch();
  const held = {etag: '"v1"', content_digest: 'D', content_segment: first};
  await crawl.generate(second, [{url: 'http://a.test/1', ...held}, 'http://a.test/3']);
  const report = await crawl.fetch();
  assert.deepEqual(web.paths('a.test'), ['/robots.txt', '/1', '/2', '/1', '/3']);
  const rows = await crawl.sql<Record<string, unknown>>(
    `SELECT segment, url, status, content_segment FROM captures WHERE kind = 'page' ORDER BY segment, url`,
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      [first, 'http://a.test/1', 'success', first],
      [first, 'http://a.test/2', 'success', first],
      [second, 'http://a.test/1', 'notmodified', first],
      [second, 'http://a.test/3', 'success', first],
    ],
  );
  assert.equal(report.counters.payloads_shared_total, 1);
  const contents = await crawl.sql<{n: number}>('SELECT count(*)::INTEGER AS n FROM content');
  assert.equal(contents[0]!.n, 1, 'one payload for all four');
});

test('a redirect to a URL that is known and not due asks nothing; to one that is due or new it is followed', async (t) => {
  const web = await serveWeb(t, {
    'a.test': (path, request, times) => {
      const to = /^\/to(\/.*)$/.exec(path)?.[1];
      return to === undefined ? plain(path, request, times) : {status: 301, headers: {location: to}};
    },
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  const known = (path: string, next: number): CrawlDatum => ({
    ...newRow(
      identify(`http://a.test${path}`),
      {score: 1, depth: 0, seed: null, tag: null, hopType: 'L', time: new Date(0), from: null, intervalS: 60},
      1,
    ),
    next_fetch_time: new Date(next),
  });
  const later = Date.now() + 1e9;
  await commitRows({...crawl, config: crawl.config}, [
    {
      slot: 'crawldb',
      table: 'crawldb',
      rows: [known('/held', later), known('/due', 0)],
      facts: {kind: 'base', bucket: 0, buckets: 1},
    },
  ]);
  await crawl.generate(
    first,
    ['/to/held', '/to/due', '/to/new'].map((path) => `http://a.test${path}`),
  );
  await crawl.fetch();
  assert.deepEqual(web.paths('a.test').sort(), [
    '/due',
    '/new',
    '/robots.txt',
    '/to/due',
    '/to/held',
    '/to/new',
  ]);
  const rows = await crawl.sql<Record<string, unknown>>(
    `SELECT url, fetch_redirect FROM captures WHERE kind = 'page' ORDER BY url`,
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    ['due', 'held', 'new'].map((name) => [`http://a.test/to/${name}`, `http://a.test/${name}`]),
  );
});

test('a target wrongly taken for known is left to updatedb, which makes it due at once', async (t) => {
  const known = (path: string): CrawlDatum => ({
    ...newRow(
      identify(`http://a.test${path}`),
      {score: 1, depth: 0, seed: null, tag: null, hopType: 'L', time: new Date(0), from: null, intervalS: 60},
      1,
    ),
    next_fetch_time: new Date(Date.now() + 1e9),
  });
  const held = Array.from({length: 40}, (_, index) => known(`/held/${index}`));
  const filter = new KeyFilter(held.length);
  for (const {url_key} of held) filter.add(url_key);
  let wrong = 0;
  while (!filter.has(identify(`http://a.test/${wrong}`).url_key)) wrong++;
  const web = await serveWeb(t, {
    'a.test': (path, request, times) =>
      path === '/from' ? {status: 301, headers: {location: `/${wrong}`}} : plain(path, request, times),
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  await commitRows({...crawl, config: crawl.config}, [
    {slot: 'crawldb', table: 'crawldb', rows: held, facts: {kind: 'base', bucket: 0, buckets: 1}},
  ]);
  await crawl.generate(first, ['http://a.test/from']);
  await crawl.fetch();
  assert.deepEqual(web.paths('a.test'), ['/robots.txt', '/from']);
  await crawl.run(updatedb, {segments: [], unparsed: true, noAdditions: false});
  const due = await crawl.sql<{url: string; status: string}>(
    `SELECT url, status FROM crawldb WHERE next_fetch_time <= now() AND status = 'unfetched'`,
  );
  assert.deepEqual(due, [{url: `http://a.test/${wrong}`, status: 'unfetched'}]);
});

test('a host that asks for patience is not asked again in this crawl before its time', async (t) => {
  const web = await serveWeb(t, {
    'busy.test': (path) =>
      path === '/robots.txt' ? {body: ''} : {status: 503, headers: {'retry-after': '7200'}, body: 'later'},
    'b.test': plain,
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  await crawl.generate(first, ['http://busy.test/1', 'http://busy.test/2', 'http://b.test/1']);
  await crawl.fetch();
  await crawl.generate(second, ['http://busy.test/2', 'http://b.test/2']);
  await crawl.fetch();
  assert.deepEqual(web.paths('busy.test'), ['/robots.txt', '/1']);
  const rows = await crawl.sql<Record<string, unknown>>(
    `SELECT segment, url, status, reason FROM captures WHERE url_host_name = 'busy.test' AND kind = 'page' ORDER BY 1, 2`,
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      [first, 'http://busy.test/1', 'retry', 'http_503'],
      [first, 'http://busy.test/2', 'skipped', 'host_resting'],
      [second, 'http://busy.test/2', 'skipped', 'host_resting'],
    ],
  );
});

test('stopped by a signal, a fetch goes on where it was, and asks nothing again', async (t) => {
  const stop = new AbortController();
  const web = await serveWeb(t, {
    'a.test': (path) => {
      if (path === '/4') stop.abort(new CrawlError('INTERRUPTED', 'stopped'));
      return plain(path, undefined as never, 0);
    },
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  const list = Array.from({length: 8}, (_, index) => `http://a.test/${index}`);
  await crawl.generate(first, list);
  const stopped = await crawl.fetch({}, stop.signal);
  assert.deepEqual(stopped.facts, [{stopped: 'signal', hosts: []}]);
  assert.equal((await crawl.head()).segment(first).state, 'fetching');
  await crawl.fetch();
  assert.equal((await crawl.head()).segment(first).state, 'fetched');
  assert.deepEqual(
    [...web.paths('a.test')].sort(),
    [...list.map((url) => new URL(url).pathname), '/robots.txt'].sort(),
  );
  assert.ok(web.leastGap('a.test') >= 20);
  const rows = await crawl.sql<{status: string}>(`SELECT status FROM captures WHERE kind = 'page'`);
  assert.deepEqual(
    rows.map(({status}) => status),
    list.map(() => 'success'),
  );
  const again = await crawl.fetch({segment: first});
  assert.equal(again.outcome, 'nothing');
});

test('--close ends a half-fetched segment', async (t) => {
  const stop = new AbortController();
  const web = await serveWeb(t, {
    'a.test': (path) => {
      if (path === '/1') stop.abort(new Error('stopped'));
      return plain(path, undefined as never, 0);
    },
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  await crawl.generate(first, ['http://a.test/1', 'http://a.test/2', 'http://a.test/3']);
  await crawl.fetch({}, stop.signal);
  await crawl.fetch({close: true});
  const rows = await crawl.sql<Record<string, unknown>>(
    `SELECT url, status, reason FROM captures WHERE kind = 'page' ORDER BY url`,
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['http://a.test/1', 'success', null],
      ['http://a.test/2', 'skipped', 'closed'],
      ['http://a.test/3', 'skipped', 'closed'],
    ],
  );
});

test('partitions are fetched side by side, and every URL has its row', async (t) => {
  const web = await serveWeb(t, {'a.test': plain, 'b.test': plain, 'c.test': plain});
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  const list = ['a', 'b', 'c'].flatMap((host) => [1, 2, 3].map((path) => `http://${host}.test/${path}`));
  await crawl.generate(first, list, 2);
  await crawl.fetch();
  const rows = await crawl.sql<{url: string}>(`SELECT url FROM captures WHERE kind = 'page' ORDER BY url`);
  assert.deepEqual(
    rows.map(({url}) => url),
    list,
  );
  const hosts = await crawl.sql<{n: number}>('SELECT count(*)::INTEGER AS n FROM hoststate');
  assert.equal(hosts[0]!.n, 3);
});

test('without a contact nothing but this machine is asked', async (t) => {
  const crawl = await fetchCrawl(t, ['network.connect_to=a.test:80=127.0.0.1:1']);
  await crawl.generate(first, ['http://a.test/', 'http://localhost/', 'http://example.org/']);
  await assert.rejects(crawl.fetch(), {code: 'CONTACT_MISSING', facts: {host: 'example.org'}});
  assert.equal((await crawl.head()).segment(first).state, 'generated');
  assert.ok(!existsSync(join(crawl.dir, 'segments', first, 'journal')));
});

test('nothing to fetch, an unknown segment, a full disk', async (t) => {
  const web = await serveWeb(t, {'a.test': plain});
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`, 'storage.min_free=1000TB']);
  assert.equal((await crawl.fetch()).outcome, 'nothing');
  await assert.rejects(crawl.fetch({segment: '20200101000000'}), {code: 'SEGMENT_UNKNOWN'});
  await crawl.generate(first, ['http://a.test/']);
  const low = await crawl.fetch();
  assert.deepEqual(low.facts, [{stopped: 'disk', hosts: []}]);
  assert.equal((await crawl.head()).segment(first).state, 'fetching');
  assert.deepEqual(web.requests, []);
});

test('a host blocked by hand while a fetch runs is not asked any more, and the fetch is committed all the same', async (t) => {
  let block: (() => void) | undefined;
  const web = await serveWeb(t, {
    'a.test': (path) => {
      if (path === '/3') block?.();
      return plain(path, undefined as never, 0);
    },
    'b.test': plain,
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`, 'politeness.min_delay=100ms']);
  const list = Array.from({length: 150}, (_, index) => `http://a.test/${index}`);
  await crawl.generate(first, [...list, 'http://b.test/1']);
  const blocked = new Promise<void>((resolve, reject) => {
    block = () => {
      block = undefined;
      const rule = {
        url_host_name: 'a.test',
        host_key: hostKey('a.test'),
        min_delay_ms: null,
        blocked: true,
        max_connections: null,
        note: 'asked us to stop',
        changed_time: new Date(),
        hours: null,
        max_rate: null,
        max_bandwidth: null,
        applies_to: 'host',
        unblocked: null,
      };
      commitRows(crawl, [{slot: 'hostrules', table: 'hostrules', rows: [rule]}]).then(resolve, reject);
    };
  });
  await crawl.fetch();
  await blocked;
  const rows = await crawl.sql<Record<string, unknown>>(
    `SELECT coalesce(reason, 'none') AS reason, count(*)::INTEGER AS n FROM captures WHERE kind = 'page' GROUP BY 1`,
  );
  const counts = Object.fromEntries(rows.map((row) => [row.reason, row.n]));
  assert.ok(Number(counts.host_blocked) > 0 && Number(counts.none) > 4, JSON.stringify(counts));
  assert.equal(Number(counts.host_blocked) + Number(counts.none), 151);
});
