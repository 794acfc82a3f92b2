import assert from 'node:assert/strict';
import {cp} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {mergesegs} from '../../jobs/mergesegs.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {crawl as cli} from '../support/cli.ts';
import {defaultOptions} from '../support/default-options.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {injectUrls, round} from '../support/small-round.ts';
import {page, type SmallWeb} from '../support/small-web.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** Links of merged segments, and what updatedb had refused of them. */

const home = 'http://a.test/';

/** Each page links to the others and to pages beyond the budget; the home page names another one each time. */
async function crawled(t: TestContext): Promise<JobHarness> {
  const crawl = await jobHarness(t, 'budget: {max_urls_per_host: 4}\n');
  await injectUrls(crawl, [home, 'http://b.test/']);
  const paths = Array.from({length: 9}, (_, n) => home + n);
  for (let n = 1; n <= 3; n++) {
    const web: SmallWeb = (url) => {
      if (url === 'http://b.test/')
        return {status: 'redir_temp', code: 302, reason: 'redirect', redirect: `${home}moved/${n}`};
      return page(`${url} ${n}`, [...paths, `${home}only/${n}`]);
    };
    await round(crawl, web);
    crawl.effects.pass(60 * 86_400_000);
  }
  return crawl;
}

async function merged(
  t: TestContext,
  crawl: JobHarness,
  options: Partial<Parameters<typeof mergesegs.plan>[0]>,
) {
  const dir = join(await temporaryFolder(t), 'crawl');
  await cp(crawl.dir, dir, {recursive: true});
  await runJob(
    mergesegs,
    {...defaultOptions(mergesegs), ...options},
    {dir, config: crawl.config, effects: crawl.effects, executor: embeddedExecutor()},
  );
  const ask = async (query: string) => (await cli(dir, ['sql', '--json', query])).stdout;
  return {
    dir,
    links: await ask('SELECT * FROM outlinks_all ORDER BY segment, capture_id, position'),
    shown: await ask('SELECT segment, to_url, accepted, reason FROM outlinks ORDER BY ALL'),
    refusals: await ask('SELECT * FROM refusals ORDER BY ALL'),
  };
}

test('links are the same whether DuckDB copies them or they are copied one by one', async (t) => {
  const crawl = await crawled(t);
  const before = await crawl.sql<{reason: string | null; n: number}>(
    'SELECT reason, count(*) AS n FROM outlinks GROUP BY ALL ORDER BY ALL',
  );
  assert.ok(before.some(({reason, n}) => reason === 'over_budget' && n > 20));
  for (const options of [{}, {all: true, slice: 4}]) {
    const fast = await merged(t, crawl, options);
    const plain = await merged(t, crawl, {...options, normalize: true});
    assert.ok(fast.links.length > 1000);
    assert.equal(fast.links, plain.links);
    assert.equal(fast.shown, plain.shown);
    assert.equal(fast.refusals, plain.refusals);
    assert.equal((await cli(fast.dir, ['verify'])).code, 0);
  }
});

test('all captures kept, links say what they said, and redirects too', async (t) => {
  const crawl = await crawled(t);
  const query = 'SELECT to_url, accepted, reason FROM outlinks ORDER BY ALL';
  const before = await crawl.sql(query);
  const redirects = await crawl.sql('SELECT url, reason FROM refusals WHERE parse_id IS NULL ORDER BY ALL');
  assert.equal(redirects.length, 2, 'the first one had its place in the budget');
  await crawl.run(mergesegs, {...defaultOptions(mergesegs), all: true});
  assert.equal((await crawl.head()).segments.length, 1);
  assert.deepEqual(await crawl.sql(query), before);
  assert.deepEqual(
    await crawl.sql('SELECT url, reason FROM refusals WHERE parse_id IS NULL ORDER BY ALL'),
    redirects,
  );
  const doubled = await crawl.sql(
    'SELECT url FROM refusals GROUP BY segment, parse_id, host_key, url_key, url HAVING count(*) > 1',
  );
  assert.deepEqual(doubled, []);
});
