import assert from 'node:assert/strict';
import {test} from 'node:test';
import {inject} from '../../jobs/inject.ts';
import {tinyCrawldb} from '../../lib/crawldb/compaction.ts';
import {jobHarness} from '../support/job-harness.ts';

test('too many deltas become a base in the commit that would add one more, and no row is lost', async (t) => {
  const crawl = await jobHarness(t);
  const add = (n: number) =>
    crawl.run(inject, {
      files: [],
      urls: [`http://h${n}.test/`, 'http://same.test/'],
      update: true,
      overwrite: false,
    });
  for (let n = 0; n < tinyCrawldb.maxRevisions; n++) await add(n);
  const kinds = async () => (await (await crawl.head()).files('crawldb')).map(({facts}) => facts?.kind);
  assert.equal((await kinds()).length, tinyCrawldb.maxRevisions);
  const report = await add(tinyCrawldb.maxRevisions);
  assert.deepEqual(await kinds(), ['base']);
  assert.equal(report.counters.seeds_added_total, 1);
  const rows = await crawl.crawldb();
  assert.equal(rows.length, tinyCrawldb.maxRevisions + 2);
  assert.equal((await crawl.head()).manifest.summary.urls, rows.length);

  await add(999);
  assert.deepEqual(await kinds(), ['base', 'delta']);
  assert.equal((await crawl.crawldb()).length, rows.length + 1);
});
