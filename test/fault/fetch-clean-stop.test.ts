/** What a fetch that was stopped, or has crashed, means for the hosts of another segment. */
import assert from 'node:assert/strict';
import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'node:test';
import {setTimeout as delay} from 'node:timers/promises';
import {fetchCrawl} from '../support/fetch-crawl.ts';
import {serveWeb} from '../support/fetch-web.ts';
import {reached} from '../support/reached.ts';

const [first, stopped, last] = ['20270101000000', '20270101000001', '20270101000002'] as const;

test('a stop that interrupts a request: the next fetch lets its host rest one delay after it', async (t) => {
  const minDelay = 3000;
  const web = await serveWeb(t, {
    'a.test': (path, _request, times) => (path === '/0' && times === 0 ? {hang: true} : {body: path}),
  });
  const crawl = await fetchCrawl(t, [
    `network.connect_to=${web.connectTo}`,
    `politeness.min_delay=${minDelay}ms`,
  ]);
  await crawl.generate(first, ['http://a.test/0']);
  const stop = new AbortController();
  const running = crawl.fetch({}, stop.signal);
  while (!web.paths('a.test').includes('/0')) await delay(5);
  stop.abort(new Error('stopped')); // the request gets ten seconds
  await running;
  await crawl.fetch();
  assert.deepEqual(web.paths('a.test'), ['/robots.txt', '/0', '/0']);
  assert.ok(web.leastGap('a.test') >= minDelay, `${web.leastGap('a.test')} ms`);
});

for (const crashed of [false, true])
  test(`${crashed ? 'a crash' : 'a stop after which one partition had ended'}: hosts of other segments whose rest is over are asked`, async (t) => {
    let down = true;
    const web = await serveWeb(t, {
      'a.test': (path) => ({body: path}),
      'b.test': (path) => ({body: path}),
      'c.test': (path) => (path === '/0' && down ? {status: 503} : {body: path}),
    });
    const backoffMs = 1000;
    const crawl = await fetchCrawl(t, [
      `network.connect_to=${web.connectTo}`,
      `politeness.backoff=${backoffMs}ms`,
      'politeness.jitter=0',
      'politeness.max_rest=0s',
    ]);
    await crawl.generate(first, ['http://c.test/0']);
    await crawl.fetch({segment: first});
    const over = Date.now() + backoffMs;
    const pages = Array.from({length: 2000}, (_, page) => `http://b.test/${page}`);
    await crawl.generate(stopped, ['http://a.test/0', ...pages], 2);
    const stop = new AbortController();
    const running = crawl.fetch({segment: stopped}, stop.signal);
    await reached(() => web.paths('b.test').length >= 10 && web.paths('a.test').length >= 2, running);
    stop.abort(new Error('stopped'));
    await running;
    if (crashed) await rm(join(crawl.dir, `segments/${stopped}/journal/part-1/clean`));
    while (Date.now() <= over) await delay(20);
    down = false;
    await crawl.generate(last, ['http://c.test/0', 'http://c.test/1']);
    await crawl.fetch({segment: last});
    assert.deepEqual(
      await crawl.sql(
        `SELECT url, status FROM captures WHERE segment = '${last}' AND kind = 'page' ORDER BY url`,
      ),
      ['http://c.test/0', 'http://c.test/1'].map((url) => ({url, status: 'success'})),
    );
  });
