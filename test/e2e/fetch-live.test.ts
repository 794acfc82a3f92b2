import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {appendFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {fetch as fetchTable} from '../../lib/schema/fetch.ts';
import {crawl as command, query} from '../support/command.ts';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {type Site, serveWeb} from '../support/fetch-web.ts';
import {reached} from '../support/reached.ts';

const segment = '20270101000000';
const counts = `SELECT kind, status, reason, count(*) AS n FROM fetch_live GROUP BY ALL ORDER BY ALL`;
const plain: Site = (path) => (path === '/robots.txt' ? undefined : {body: `page ${path}`});

test('without an unfinished fetch, fetch_live is there and empty, with the columns of fetch', async (t) => {
  const crawl = await fetchCrawl(t, []);
  assert.deepEqual(await query(crawl.dir, 'SELECT count(*) AS n FROM fetch_live'), [{n: 0}]);
  const columns = (table: string) =>
    query(crawl.dir, `SELECT column_name, column_type FROM (DESCRIBE ${table})`);
  assert.deepEqual(await columns('fetch_live'), await columns('captures'));
  const tables = await query<{name: string}>(crawl.dir, 'SHOW TABLES');
  assert.ok(tables.some(({name}) => name === 'fetch_live'));
  assert.match(
    (await command(['sql', '-C', crawl.dir, 'FROM fetch_live_'])).stderr,
    /did you mean fetch_live\?/,
  );
  await crawl.generate(segment, ['http://a.test/']);
  assert.deepEqual(await query(crawl.dir, 'FROM fetch_live'), [], 'a segment that nobody has begun');
});

test('the rows of a running fetch can be asked for, and are those that it commits', async (t) => {
  let live: Promise<Record<string, unknown>[]> | undefined;
  const stop = new AbortController();
  const web = await serveWeb(t, {
    'a.test': (path, request, times) => {
      // By then the first outcomes have been flushed: the journal does it each second
      if (path === '/25') {
        live = query(crawl.dir, 'FROM fetch_live ORDER BY capture_id');
        void live.finally(() => stop.abort()).catch(() => undefined); // told below
      }
      return plain(path, request, times);
    },
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`, 'politeness.min_delay=100ms']);
  const list = Array.from({length: 400}, (_, index) => `http://a.test/${index}`);
  await crawl.generate(segment, list);
  await crawl.fetch({}, stop.signal);
  const seen = await live!;
  assert.ok(seen.length > 0 && seen.length < 401, `${seen.length} rows`);
  const [stopped] = await query<{n: number}>(crawl.dir, 'SELECT count(*) AS n FROM fetch_live');
  assert.equal(stopped?.n, web.requests.length, 'of a fetch that was stopped all is there');
  await crawl.fetch({close: true});
  assert.deepEqual(Object.keys(seen[0]!), Object.keys(fetchTable.columns), 'no payload');
  const committed = await query(crawl.dir, 'FROM captures ORDER BY capture_id');
  const ids = new Set(seen.map(({capture_id}) => capture_id));
  assert.deepEqual(
    // Where a payload is stored is known at the end
    seen.map((row) => ({...row, content_segment: null})),
    committed.filter(({capture_id}) => ids.has(capture_id)).map((row) => ({...row, content_segment: null})),
  );
  assert.deepEqual(await query(crawl.dir, counts), [], 'a fetch that is committed is in captures alone');
});

test('after a kill, with a torn tail, what the journal holds is there; --segments and --as-of hold', async (t) => {
  const web = await serveWeb(t, {'a.test': plain, 'b.test': plain});
  const settings = [`network.connect_to=${web.connectTo}`, 'politeness.min_delay=30ms'];
  const crawl = await fetchCrawl(t, settings);
  const list = ['a.test', 'b.test'].flatMap((host) =>
    Array.from({length: 200}, (_, index) => `http://${host}/${index}`),
  );
  await crawl.generate(segment, list, 2);
  const script = join(import.meta.dirname, '../support/fetch-child.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', script, crawl.dir, ...settings], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  await reached(() => web.requests.length >= 150, exited);
  child.kill('SIGKILL');
  await exited;
  const ask = (...flags: string[]) =>
    query(
      crawl.dir,
      'SELECT url_host_name, count(*) AS n FROM fetch_live GROUP BY ALL ORDER BY ALL',
      ...flags,
    );
  const before = await ask();
  assert.equal(before.length, 2, 'of both partitions');
  const journal = join(crawl.dir, 'segments', segment, 'journal', 'part-0');
  appendFileSync(join(journal, readdirSync(journal).filter((name) => name.endsWith('.arrows'))[0]!), 'torn');
  assert.deepEqual(await ask(), before);
  assert.deepEqual(await ask('--segments', segment), before);
  assert.deepEqual(await ask('--as-of', '1'), [], 'an older manifest has no journal');
  const out = join(crawl.dir, 'live.parquet');
  assert.equal((await command(['sql', '-C', crawl.dir, '-o', out, 'FROM fetch_live'])).code, 0);
  await crawl.fetch();
  assert.deepEqual(await ask(), []);
});
