/** Pieces of a journal that are sealed while the fetch goes on. */
import assert from 'node:assert/strict';
import {readdirSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type TestContext} from 'node:test';
import {journalOutcomes} from '../../lib/store/journal-read.ts';
import {type FetchCrawl, fetchCrawl} from '../support/fetch-crawl.ts';
import {type ServedWeb, type Site, serveWeb} from '../support/fetch-web.ts';

const segment = '20270101000000';
const hosts = ['a.test', 'b.test'];
const pages = 60;
const site: Site = (path) => {
  if (path === '/robots.txt') return {body: 'User-agent: *\nDisallow: /7\n'};
  if (path === '/5') return {status: 301, headers: {location: '/moved'}};
  return {body: `${'abcde'[Number(path.slice(1)) % 5]} `.repeat(700)};
};

/** @param gate a page in the middle is answered when it opens, so that the fetch is not over before */
async function setUp(
  t: TestContext,
  settings: readonly string[],
  gate: Promise<void>,
): Promise<{web: ServedWeb; crawl: FetchCrawl}> {
  const web = await serveWeb(t, {
    'a.test': site,
    'b.test': (path, ...more) => ({...site(path, ...more), ...(path === '/30' && {after: gate})}),
  });
  const crawl = await fetchCrawl(t, [
    `network.connect_to=${web.connectTo}`,
    'politeness.min_delay=40ms',
    'fetch.soft_404=true',
    'fetch.idle_timeout=10m',
    'fetch.total_timeout=10m',
    ...settings,
  ]);
  const list = hosts.flatMap((host) => Array.from({length: pages}, (_, path) => `http://${host}/${path}`));
  await crawl.generate(segment, list);
  return {web, crawl};
}

const rowsOf = (crawl: FetchCrawl) =>
  crawl.sql(
    `SELECT url, kind, status, reason, fetch_status, content_digest, content_segment, fetch_redirect, soft_404
     FROM captures ORDER BY ALL`,
  );
const payloadsOf = (crawl: FetchCrawl) =>
  crawl.sql(
    `SELECT f.url, c.payload FROM captures f JOIN content c
     ON c.segment = f.content_segment AND c.content_sha256 = f.content_sha256 ORDER BY ALL`,
  );

test('a fetch whose journal is sealed in pieces, stopped and taken up again, ends as one in one piece', async (t) => {
  const whole = await setUp(t, [], Promise.resolve());
  await whole.crawl.fetch();
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const {web, crawl} = await setUp(t, ['storage.journal_file=1'], gate);
  const folder = join(crawl.dir, 'segments', segment, 'journal', 'part-0');
  const named = (ending: string) => readdirSync(folder).filter((name) => name.endsWith(ending));
  const stop = new AbortController();
  const first = crawl.fetch({}, stop.signal);
  for (let seen = 0; seen === 0; ) {
    await new Promise(setImmediate);
    try {
      seen = named('.piece.json').length;
    } catch {
      // not begun
    }
  }
  stop.abort(new Error('stop'));
  open();
  assert.deepEqual(
    (await first).facts.map(({stopped}) => stopped),
    ['signal'],
  );
  const sealed = named('.piece.json').map((name) => name.slice(0, 6));
  // As if the process had died before it removed a journal file, and while it sealed another.
  await writeFile(join(folder, `${sealed[0]}.arrows`), 'sealed already');
  await writeFile(join(folder, '000099.fetch.0.sealed'), 'half a pie');
  const before: string[] = [];
  for await (const rows of journalOutcomes(folder, ['url', 'kind', 'delay_ms']))
    for (const {url, delay_ms} of rows) if (delay_ms !== null) before.push(url);
  assert.deepEqual(before.sort(), web.requests.map(({host, path}) => `http://${host}${path}`).sort());
  await crawl.fetch();
  const urls = web.requests.map(({host, path}) => host + path);
  assert.equal(new Set(urls).size, urls.length, 'nothing is asked twice, robots.txt neither');
  const rows = await rowsOf(crawl);
  assert.deepEqual(rows, await rowsOf(whole.crawl));
  assert.ok(rows.some((row) => row.soft_404 === 'repeated'));
  assert.deepEqual(await payloadsOf(crawl), await payloadsOf(whole.crawl));
  const [counts] = await crawl.sql<{n: number; d: number}>(
    'SELECT count(*)::INTEGER AS n, count(DISTINCT content_sha256)::INTEGER AS d FROM content',
  );
  assert.equal(counts!.n, counts!.d, 'a payload is stored once, in whichever piece');
  const files = (await crawl.head()).manifest.slots[`segments/${segment}/fetch`]!.files;
  assert.ok(files > sealed.length, `${files} files`);
  assert.throws(() => readdirSync(folder), {code: 'ENOENT'});
});
