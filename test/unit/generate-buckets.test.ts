import assert from 'node:assert/strict';
import {test} from 'node:test';
import {candidateRule} from '../../jobs/crawldb/candidates.ts';
import {explain} from '../../jobs/explain.ts';
import {generate} from '../../jobs/generate.ts';
import {compactionPlan} from '../../lib/crawldb/compaction.ts';
import {bucketsOf} from '../../lib/crawldb/layout.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {identify} from '../../lib/url/keys.ts';
import {changeRows, compactBy} from '../support/crawldb-steps.ts';
import {defaultOptions} from '../support/default-options.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';

const start = Date.UTC(2026, 0, 1);
const found = {depth: 1, seed: null, tag: null, hopType: 'L', time: new Date(start), from: null} as const;
const rows = Array.from({length: 60}, (_, n) =>
  newRow(identify(`http://h${n % 12}.test/${n}`), {...found, score: 1, intervalS: 60}, 0),
);
const later = (row: CrawlDatum): CrawlDatum => ({...row, next_fetch_time: new Date(start + 86_400_000)});

/** Buckets of a few rows. */
async function split(crawl: JobHarness): Promise<void> {
  const rule = {maxShare: 0, minRows: 1, maxRevisions: 1, smallRows: 0, bucketRows: 20, maxBuckets: 1};
  await compactBy(crawl, (files) => compactionPlan(files, rule));
}

test('a crawldb of several buckets: what is due in any of them is found, and one URL in its own', async (t) => {
  const {smallRows} = candidateRule;
  candidateRule.smallRows = 0; // else all is read at once
  t.after(() => {
    candidateRule.smallRows = smallRows;
  });
  const crawl = await jobHarness(t);
  await changeRows(crawl, rows);
  await split(crawl);
  const buckets = bucketsOf(await (await crawl.head()).files('crawldb'));
  assert.ok(buckets.length > 1);
  const [first] = buckets;
  const isIn = ({host_key}: CrawlDatum) => first!.first <= host_key && host_key <= first!.last;
  const inFirst = rows.filter(isIn);
  assert.ok(inFirst.length > 0 && inFirst.length < rows.length);

  // Nothing of the first bucket is due: a delta says so. The others are found all the same
  await changeRows(crawl, inFirst.map(later));
  const made = await crawl.run(generate, {...defaultOptions(generate), topN: 1000});
  assert.equal(made.counters.urls_selected_total, rows.length - inFirst.length);

  const settings = {dir: crawl.dir, config: crawl.config, signal: crawl.effects.signal};
  for (const one of [inFirst[0]!, rows.find((row) => !isIn(row))!]) {
    const {row, selections, passedOver} = await explain(one.url, settings);
    assert.equal(row?.url, one.url);
    assert.equal(selections.length, isIn(one) ? 0 : 1);
    assert.deepEqual(
      passedOver.map(({verdict}) => verdict),
      isIn(one) ? ['not_due'] : [],
    );
  }

  // And where no bucket has anything there is nothing to do
  await changeRows(crawl, rows.map(later));
  crawl.effects.pass(1000);
  assert.equal((await crawl.run(generate, defaultOptions(generate))).plan, undefined);
});
