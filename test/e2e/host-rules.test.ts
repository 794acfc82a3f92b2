import assert from 'node:assert/strict';
import {test} from 'node:test';
import {crawl as command} from '../support/command.ts';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {type Site, serveWeb} from '../support/fetch-web.ts';

const segment = '20270101000000';
const plain: Site = (path) => (path === '/robots.txt' ? undefined : {body: `page ${path}`});

test('crawl host blocks and slows hosts of a running fetch, which is committed all the same', async (t) => {
  let rules: Promise<void> | undefined;
  const setRules = async () => {
    const host = (...argv: string[]) => command(['host', '-C', crawl.dir, ...argv]);
    assert.equal((await host('--domain', 'a.test', '--block', '--note', 'asked us to stop')).code, 0);
    assert.equal((await host('B.test', '--delay', '1500ms')).code, 0);
    const shown = await host('a.test');
    assert.match(shown.stdout, /^Blocked by hand/m);
    assert.match(shown.stdout, /^running {5}a fetch \(pid \d+ on .*\): politeness is as it was before/m);
  };
  const web = await serveWeb(t, {
    'a.test': (path, request, times) => {
      if (path === '/3') rules = setRules();
      return plain(path, request, times);
    },
    'b.test': plain,
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`, 'politeness.min_delay=100ms']);
  const list = ['a.test', 'b.test'].flatMap((host) =>
    Array.from({length: 280}, (_, index) => `http://${host}/${index}`),
  );
  await crawl.generate(segment, list);
  await crawl.fetch({window: 30_000});
  await rules;
  const rows = await crawl.sql<{url_host_name: string; reason: string | null; n: number}>(
    `SELECT url_host_name, reason, count(*) AS n FROM captures WHERE kind = 'page' GROUP BY ALL`,
  );
  const count = (host: string, reason: string | null) =>
    rows.find((row) => row.url_host_name === host && row.reason === reason)?.n ?? 0;
  assert.ok(count('a.test', null) > 3 && count('a.test', 'host_blocked') > 0, JSON.stringify(rows));
  assert.equal(count('a.test', null) + count('a.test', 'host_blocked'), 280);
  assert.equal(count('b.test', null) + count('b.test', 'window'), 280, JSON.stringify(rows));
  const [before, last] = web.requests.filter(({host}) => host === 'b.test').slice(-2);
  assert.ok(last!.start - before!.end >= 1500, 'the delay by hand holds at the end');
  assert.ok(web.leastGap('b.test') < 1500, 'it did not hold at the start');
  const [rule] = await crawl.sql('FROM hostrules SELECT note, blocked');
  assert.deepEqual(rule, {note: 'asked us to stop', blocked: true});
});
