/** Dropping a segment to whose payloads another fetch refers, or will. */
import assert from 'node:assert/strict';
import test, {type TestContext} from 'node:test';
import {drop} from '../../jobs/drop.ts';
import {type FetchCrawl, fetchCrawl} from '../support/fetch-crawl.ts';
import {type ServedWeb, serveWeb} from '../support/fetch-web.ts';
import {reached} from '../support/reached.ts';

const [first, second, third] = ['20270101000000', '20270101000001', '20270101000002'] as const;
const text = 'the same '.repeat(500);

/** A web where all pages are equal, and a crawl that has fetched one of them. */
async function setUp(t: TestContext): Promise<{web: ServedWeb; crawl: FetchCrawl; release: () => void}> {
  let release = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const web = await serveWeb(t, {
    'a.test': (path, {headers}) => {
      if (path === '/robots.txt') return undefined;
      if (headers['if-none-match']) return {status: 304};
      return {body: text, headers: {etag: '"one"'}, ...(path === '/gate' && {after: gate})};
    },
  });
  const crawl = await fetchCrawl(t, [`network.connect_to=${web.connectTo}`]);
  await crawl.generate(first, ['http://a.test/1']);
  await crawl.fetch({segment: first});
  return {web, crawl, release: () => release()};
}

const dropIt = (crawl: FetchCrawl, ...segment: string[]) => crawl.run(drop, {segment, force: true});

async function assertWhole(crawl: FetchCrawl): Promise<void> {
  const missing = await crawl.sql(
    `SELECT url, content_segment FROM captures f
     WHERE kind = 'page' AND status IN ('success', 'notmodified') AND NOT EXISTS (
       FROM content c WHERE c.segment = f.content_segment AND c.content_digest = f.content_digest)`,
  );
  assert.deepEqual(missing, []);
}

test('while a fetch runs nothing that it may refer to is dropped, nor after it was stopped', async (t) => {
  const {web, crawl, release} = await setUp(t);
  await crawl.generate(second, ['http://a.test/gate', 'http://a.test/2']);
  const stop = new AbortController();
  const running = crawl.fetch({segment: second}, stop.signal);
  await reached(() => web.paths('a.test').includes('/gate'), running);
  await assert.rejects(dropIt(crawl, first), {code: 'LOCKED'});
  stop.abort(new Error('stopped'));
  release();
  await running;
  await assert.rejects(dropIt(crawl, first), (error: Error & {code: string; hint: string}) => {
    assert.equal(error.code, 'SEGMENT_STATE');
    assert.match(error.message, new RegExp(`${first} holds payloads that ${second}`));
    assert.match(error.hint, /--close/);
    return true;
  });
  await crawl.fetch({segment: second});
  await assertWhole(crawl);
  await assert.rejects(dropIt(crawl, first), /refer to/);
  await dropIt(crawl, first, second);
  assert.deepEqual((await crawl.head()).segments, []);
});

test('nor while a fetchlist counts on it; one that does not is no hindrance', async (t) => {
  const {crawl} = await setUp(t);
  const [held] = await crawl.sql<{content_digest: string}>(
    "SELECT content_digest FROM captures WHERE kind = 'page'",
  );
  const known = {url: 'http://a.test/1', etag: '"one"', content_segment: first, ...held};
  await crawl.generate(second, [known]);
  await assert.rejects(dropIt(crawl, first), {code: 'SEGMENT_STATE'});
  await crawl.fetch({segment: second});
  await assertWhole(crawl);

  await dropIt(crawl, second);
  await crawl.generate(third, ['http://a.test/2']);
  await dropIt(crawl, first);
  await crawl.fetch({segment: third});
  await assertWhole(crawl);
});
