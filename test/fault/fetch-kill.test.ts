import assert from 'node:assert/strict';
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {join} from 'node:path';
import test, {type TestContext} from 'node:test';
import {setTimeout as delay} from 'node:timers/promises';
import type {CrashPoint} from '../../lib/store/crash-points.ts';
import {journalOutcomes} from '../../lib/store/journal-read.ts';
import {type FetchCrawl, fetchCrawl} from '../support/fetch-crawl.ts';
import {type ServedWeb, type Site, serveWeb} from '../support/fetch-web.ts';
import {reached} from '../support/reached.ts';

const segment = '20270101000000';
const minDelay = 80;
/** Kills in one crawl. More by hand: each costs the start of a process. */
const kills = Number(process.env.CRAWL_TEST_KILLS ?? 3);
const seed = Number(process.env.CRAWL_TEST_SEED ?? Date.now() % 1e6);

const site: Site = (path) => {
  if (path === '/robots.txt') return {body: 'User-agent: *\nDisallow: /3\n'};
  if (path === '/5') return {status: 301, headers: {location: '/moved/5'}};
  if (path === '/6') return {status: 302, headers: {location: '/moved/6'}};
  if (path === '/moved/6') return {status: 302, headers: {location: '/moved/7'}};
  if (path === '/8') return {status: 404, body: 'no'};
  if (path === '/9') return {status: 410};
  return {body: `${path} `.repeat(500)};
};
const hosts = ['a.test', 'b.test', 'c.test', 'd.test'];
const list = hosts.flatMap((host, index) =>
  // A process that lives for less than a flush does nothing that stays: so many kills need so many pages.
  Array.from(
    {length: (20 + 15 * index) * Math.max(1, Math.ceil(kills / 10))},
    (_, path) => `http://${host}/${path}`,
  ),
);

async function setUp(
  t: TestContext,
  more: readonly string[] = [],
): Promise<{web: ServedWeb; crawl: FetchCrawl; settings: string[]}> {
  const web = await serveWeb(t, Object.fromEntries(hosts.map((host) => [host, site])));
  const settings = [`network.connect_to=${web.connectTo}`, `politeness.min_delay=${minDelay}ms`, ...more];
  const crawl = await fetchCrawl(t, settings);
  await crawl.generate(segment, list);
  return {web, crawl, settings};
}

function start(dir: string, settings: string[], env: Record<string, string> = {}): ChildProcess {
  const script = join(import.meta.dirname, '../support/fetch-child.ts');
  return spawn(process.execPath, ['--import', 'tsx', script, dir, ...settings], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {...process.env, ...env},
  });
}

const rowsOf = (crawl: FetchCrawl) =>
  crawl.sql(
    `SELECT url, kind, status, reason, fetch_status, content_digest, fetch_redirect FROM captures ORDER BY ALL`,
  );

test('killed at random moments, a fetch ends as if nothing had been', async (t) => {
  const undisturbed = await setUp(t);
  // Each flush fills a journal file, which is sealed while the fetch goes on.
  const {web, crawl, settings} = await setUp(t, ['storage.journal_file=1']);
  const calm = undisturbed.crawl.fetch();
  let random = seed;
  /** Number of requests before a kill, and the URLs that the journal held after it. */
  const proven: {requests: number; urls: Set<string>}[] = [];
  for (let i = 0; i < kills; i++) {
    const before = web.requests.length;
    const child = start(crawl.dir, settings);
    const exited = once(child, 'exit');
    await reached(() => web.requests.length > before || child.exitCode !== null, exited);
    random = (random * 48_271) % 2_147_483_647;
    await delay(random % 1700);
    child.kill('SIGKILL');
    await exited;
    const urls = new Set<string>();
    for await (const rows of journalOutcomes(join(crawl.dir, 'segments', segment, 'journal', 'part-0')))
      for (const row of rows) if (row.request_header !== null) urls.add(row.url);
    proven.push({requests: web.requests.length, urls});
  }
  await crawl.fetch();
  await calm;
  assert.deepEqual(await rowsOf(crawl), await rowsOf(undisturbed.crawl), `seed ${seed}`);
  t.diagnostic(
    `${kills} kills, ${proven.filter(({requests}, i) => requests > (proven[i - 1]?.requests ?? 0)).length} of them in the middle, seed ${seed}`,
  );
  for (const host of hosts)
    assert.ok(web.leastGap(host) >= minDelay, `seed ${seed}: gap ${web.leastGap(host)}`);
  for (const {requests, urls} of proven)
    for (const {host, path} of web.requests.slice(requests))
      assert.ok(
        !urls.has(`http://${host}${path}`),
        `seed ${seed}: ${host}${path} was stored, and is asked again`,
      );
});

for (const point of ['journal_flushed', 'task_result_written'] satisfies CrashPoint[])
  test(`killed at ${point}, the next fetch completes the segment without asking again`, async (t) => {
    const web = await serveWeb(t, {'a.test': site});
    const settings = [`network.connect_to=${web.connectTo}`];
    const crawl = await fetchCrawl(t, settings);
    await crawl.generate(segment, ['http://a.test/1', 'http://a.test/5', 'http://a.test/3']);
    const child = start(crawl.dir, settings, {CRAWL_CRASH_AT: point});
    const [, signal] = await once(child, 'exit');
    assert.equal(signal, 'SIGKILL');
    assert.equal((await crawl.head()).segment(segment).state, 'generated');
    const asked = web.requests.length;
    await crawl.fetch();
    assert.equal((await crawl.head()).segment(segment).state, 'fetched');
    assert.equal(web.requests.length, asked, 'all was in the journal');
    const [row] = await crawl.sql<{n: number; requests: number}>(
      `SELECT count(*)::INTEGER AS n, (SELECT requests FROM hoststate) AS requests FROM captures`,
    );
    assert.deepEqual(row, {n: 5, requests: 4});
  });

test('SIGTERM in a process: the rest is fetched by the next', async (t) => {
  const {web, crawl, settings} = await setUp(t);
  const child = start(crawl.dir, settings);
  const exited = once(child, 'exit');
  await reached(() => web.requests.length >= 20, exited);
  child.kill('SIGTERM');
  assert.deepEqual(await exited, [0, null]);
  assert.equal((await crawl.head()).segment(segment).state, 'fetching');
  await crawl.fetch();
  const urls = web.requests.map(({host, path}) => host + path);
  assert.equal(new Set(urls).size, urls.length, 'nothing is asked twice');
  for (const host of hosts) assert.ok(web.leastGap(host) >= minDelay);
});
