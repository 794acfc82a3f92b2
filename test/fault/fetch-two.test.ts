/** Two segments of one crawl that hold the same hosts, fetched by processes that know nothing of each other. */
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import test, {type TestContext} from 'node:test';
import {type FetchCrawl, fetchCrawl} from '../support/fetch-crawl.ts';
import {type ServedWeb, serveWeb} from '../support/fetch-web.ts';
import {reached} from '../support/reached.ts';

const [first, second] = ['20270101000000', '20270101000001'] as const;
const hosts = ['a.test', 'b.test'];

interface Setting {
  readonly web: ServedWeb;
  readonly crawl: FetchCrawl;
  readonly settings: readonly string[];
}

/** Each segment with `pages` URLs a host, in two partitions; in the second segment each host is in the other one. */
async function setUp(t: TestContext, minDelayMs: number, pages: number): Promise<Setting> {
  const web = await serveWeb(t, Object.fromEntries(hosts.map((host) => [host, (path) => ({body: path})])));
  const settings = [`network.connect_to=${web.connectTo}`, `politeness.min_delay=${minDelayMs}ms`];
  const crawl = await fetchCrawl(t, settings);
  for (const [segment, order] of [[first, hosts] as const, [second, hosts.toReversed()] as const]) {
    const list = order.flatMap((host) =>
      Array.from({length: pages}, (_, page) => `http://${host}/${segment}/${page}`),
    );
    await crawl.generate(segment, list, 2);
  }
  return {web, crawl, settings};
}

function assertPolite(web: ServedWeb, minDelayMs: number): void {
  for (const host of hosts) {
    const gap = web.leastGap(host);
    assert.ok(gap >= minDelayMs, `${host} was asked again after ${gap} ms`);
  }
}

test('while one crawl fetch runs another is refused with exit 4, whatever its segment', async (t) => {
  const {web, crawl, settings} = await setUp(t, 100, 2000);
  const stop = new AbortController();
  const running = crawl.fetch({segment: first}, stop.signal);
  await reached(() => web.requests.length > 0, running);
  const main = join(import.meta.dirname, '../../cli/main.ts');
  const flags = settings.flatMap((text) => ['--set', text]);
  const other = spawn(
    process.execPath,
    ['--import', 'tsx', main, 'fetch', second, '-C', crawl.dir, ...flags],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  other.stderr.on('data', (piece) => {
    said += piece;
  });
  const [code] = await once(other, 'close');
  assert.equal(code, 4, said);
  assert.match(said, /fetching is in use by crawl fetch/);
  stop.abort(new Error('seen enough'));
  await Promise.allSettled([running]); // a partition whose turn had not come ends by the signal
  assert.ok(web.requests.every(({path}) => path === '/robots.txt' || path.startsWith(`/${first}/`)));
  assertPolite(web, 100);
});

test('a fetch of another segment keeps the delays of one that was stopped, however its hosts are divided', async (t) => {
  const minDelay = 3000;
  const {web, crawl} = await setUp(t, minDelay, 2);
  const stop = new AbortController();
  const stopped = crawl.fetch({segment: first}, stop.signal);
  await reached(() => web.paths('a.test').length === 2, stopped);
  stop.abort(new Error('stopped'));
  await Promise.allSettled([stopped]);
  await crawl.fetch({segment: second});
  assertPolite(web, minDelay);
});

for (const next of [first, second])
  test(`killed before anything was on the disk: ${next === first ? 'the same' : 'another'} segment's fetch lets every host rest first`, async (t) => {
    const minDelay = 3000;
    const {web, crawl, settings} = await setUp(t, minDelay, 1);
    const script = join(import.meta.dirname, '../support/fetch-child.ts');
    const killed = spawn(process.execPath, ['--import', 'tsx', script, crawl.dir, ...settings], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const exited = once(killed, 'exit');
    await reached(() => web.requests.length > 0, exited);
    killed.kill('SIGKILL');
    await exited;
    await crawl.fetch({segment: next});
    assertPolite(web, minDelay);
  });
