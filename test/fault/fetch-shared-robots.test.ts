/** A robots.txt that is redirected to a host of another partition, or of none: seen from the server's side. */
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import test, {type TestContext} from 'node:test';
import {setTimeout as delay} from 'node:timers/promises';
import {type FetchCrawl, fetchCrawl} from '../support/fetch-crawl.ts';
import {type Answer, type ServedWeb, type Site, serveWeb} from '../support/fetch-web.ts';

const [first, second] = ['20270101000000', '20270101000001'] as const;
const minDelay = 150;
/** Of 8 partitions some begin when others have ended. */
const leading = Array.from({length: 8}, (_, index) => `a${index}.test`);
const slowly = (): Answer => ({body: 'User-agent: *\nDisallow: /no', after: delay(60)});
const leads: Site = (path) =>
  path === '/robots.txt' ? {status: 301, headers: {location: 'http://shared.test/robots.txt'}} : {body: path};

async function setUp(
  t: TestContext,
  shared: Site,
  settings: readonly string[] = [],
): Promise<{web: ServedWeb; crawl: FetchCrawl; settings: string[]}> {
  const web = await serveWeb(t, {
    ...Object.fromEntries(leading.map((host) => [host, leads])),
    'shared.test': shared,
  });
  const all = [`network.connect_to=${web.connectTo}`, `politeness.min_delay=${minDelay}ms`, ...settings];
  return {web, crawl: await fetchCrawl(t, all), settings: all};
}

/** No two requests at once, and none within the delay. */
function assertPolite({leastGap, paths}: ServedWeb, host: string): void {
  assert.ok(leastGap(host) >= minDelay, `${leastGap(host)} ms between ${paths(host).length} requests`);
}

for (const partitions of [2, 8])
  for (const listed of [true, false])
    test(`${partitions} partitions whose robots.txt leads to a host of ${listed ? 'another' : 'none'}: its delay is kept over all`, async (t) => {
      const {web, crawl} = await setUp(t, slowly);
      const list = leading.map((host) => `http://${host}/`);
      if (listed) list.push('http://shared.test/1', 'http://shared.test/2', 'http://shared.test/3');
      await crawl.generate(first, list, partitions);
      await crawl.fetch();
      assert.equal(web.paths('shared.test').length, leading.length + (listed ? 4 : 0));
      assertPolite(web, 'shared.test');
      const [pages] = await crawl.sql(
        `SELECT count(*)::INTEGER AS n FROM captures WHERE kind = 'page' AND status = 'success'`,
      );
      assert.deepEqual(pages, {n: list.length});
    });

test('what the host said to one partition holds for the others: Retry-After, back-off, crawl delay', async (t) => {
  const {web, crawl} = await setUp(t, () => ({status: 503, headers: {'retry-after': '3600'}}));
  await crawl.generate(first, ['http://a0.test/', 'http://a1.test/', 'http://shared.test/1'], 3);
  await crawl.fetch();
  assert.equal(web.paths('shared.test').length, 1);
  // Nor is it asked by a later fetch to which it is a stranger.
  await crawl.generate(second, ['http://a2.test/', 'http://a3.test/'], 2);
  await crawl.fetch({segment: second});
  assert.equal(web.paths('shared.test').length, 1);
  assert.equal(web.paths('a3.test').length, 1);
  const [state] = await crawl.sql(
    `SELECT failures, requests FROM hoststate WHERE url_host_name = 'shared.test'`,
  );
  assert.deepEqual({...state}, {failures: 1, requests: 1});
});

test('a stopped fetch goes on in other partitions: the rest that one was told holds for all', async (t) => {
  const {web, crawl} = await setUp(t, () => ({status: 503, headers: {'retry-after': '3600'}}));
  const pages = Array.from({length: 300}, (_, page) => `http://a0.test/${page}`);
  await crawl.generate(first, ['http://a1.test/', ...pages, 'http://shared.test/1'], 3);
  const stop = new AbortController();
  const stopped = crawl.fetch({}, stop.signal);
  while (web.paths('shared.test').length === 0) await delay(5);
  stop.abort(new Error('stopped'));
  await Promise.allSettled([stopped]);
  await crawl.generate(second, ['http://a2.test/']);
  await crawl.fetch({segment: second});
  await crawl.fetch({segment: first});
  assert.equal(web.paths('shared.test').length, 1);
});

test('killed right after such a request, the next fetch lets the host rest, whoever asks it', async (t) => {
  const {web, crawl, settings} = await setUp(t, () => ({body: ''}), ['politeness.min_delay=3s']);
  await crawl.generate(first, ['http://a0.test/']);
  const script = join(import.meta.dirname, '../support/fetch-child.ts');
  const killed = spawn(process.execPath, ['--import', 'tsx', script, crawl.dir, ...settings], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  while (web.paths('shared.test').length === 0) await delay(2);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  await crawl.generate(second, ['http://shared.test/1']);
  await crawl.fetch({segment: second});
  assert.ok(web.leastGap('shared.test') >= 3000, `${web.leastGap('shared.test')}`);
});
