import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {mergesegs} from '../../jobs/mergesegs.ts';
import {parse} from '../../jobs/parse.ts';
import {rekey} from '../../jobs/rekey.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {defaultOptions} from '../support/default-options.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';
import {runWith} from '../support/run-with.ts';
import {injectUrls} from '../support/small-round.ts';

/** Segments merged by the rules of today, and the rows of extractors that come along. */

const [first, second] = ['20260101000000', '20260102000000'] as const;
const headers = ['Content-Type: text/html; charset=utf-8'];
const pageOf = (url: string, body: string) => ({url, body, headers});
const [a, a2, b] = ['http://a.test/', 'http://a.test/two', 'http://b.test/'] as const;
const options = defaultOptions(mergesegs);

/** Two fetched segments, parsed and applied; in both is the page a. */
async function crawled(t: TestContext, parseOptions: {readonly with?: string[]} = {}): Promise<JobHarness> {
  const crawl = await jobHarness(t);
  return applied(crawl, parseOptions);
}

async function applied(
  crawl: JobHarness,
  parseOptions: {readonly with?: readonly string[]},
): Promise<JobHarness> {
  const link = `<a href="${a2}?ref=9">two</a>`;
  await injectUrls(crawl, [a, b, `${a}q?ref=1`]);
  await commitFetched(crawl, first, [
    pageOf(a, `<h2>old</h2>${link}`),
    pageOf(b, '<h2>b</h2>'),
    pageOf(`${a}q?ref=1`, '<h2>q1</h2>'),
  ]);
  await commitFetched(crawl, second, [pageOf(a, `<h2>new</h2>${link}`), pageOf(`${a}q?ref=2`, '<p>q2')]);
  await crawl.run(parse, {...defaultOptions(parse), ...parseOptions, with: [...(parseOptions.with ?? [])]});
  await crawl.run(updatedb, defaultOptions(updatedb));
  return crawl;
}

const urls = async (crawl: JobHarness, table = 'captures') =>
  (await crawl.sql<{url: string}>(`SELECT url FROM ${table} ORDER BY url`)).map(({url}) => url);

test('--filter leaves out what the scope of today refuses, of one segment too', async (t) => {
  const crawl = await crawled(t);
  const refusing = 'scope:\n  rules: ["- host b.test"]\n';
  const report = await runWith(crawl, refusing, mergesegs, {...options, filter: true});
  assert.deepEqual((await crawl.head()).segments, [second]);
  assert.deepEqual(await urls(crawl), [a, `${a}q?ref=1`, `${a}q?ref=2`]);
  assert.deepEqual(await urls(crawl, 'parse'), [a, `${a}q?ref=1`, `${a}q?ref=2`]);
  assert.equal(report.counters.captures_dropped_total, 2);
  const more = 'scope:\n  rules: ["- regex q.ref=1"]\n';
  await runWith(crawl, more, mergesegs, {...options, filter: true});
  assert.deepEqual(await urls(crawl), [a, `${a}q?ref=2`]);
});

test('--normalize gives captures the URLs that rekey gave the crawldb: of each the newest stays', async (t) => {
  const crawl = await crawled(t);
  const stripRef = 'url:\n  strip_parameters: [ref]\n';
  await assert.rejects(runWith(crawl, stripRef, mergesegs, {...options, normalize: true}), /settings of url/);
  await runWith(crawl, stripRef, rekey, {});
  await runWith(crawl, stripRef, mergesegs, {...options, normalize: true});
  assert.deepEqual(await urls(crawl), [a, `${a}q`, b]);
  assert.deepEqual(await urls(crawl, 'parse'), [a, `${a}q`, b]);
  const lost = 'SELECT url FROM captures ANTI JOIN crawldb USING (host_key, url_key, url)';
  assert.deepEqual(await crawl.sql(lost), []);
  assert.deepEqual(await crawl.sql('SELECT DISTINCT from_url, to_url FROM outlinks'), [
    {from_url: a, to_url: a2},
  ]);
  const keys = `SELECT count(*) AS n FROM outlinks o JOIN crawldb c ON c.url_key = o.to_url_key AND c.host_key = o.to_host_key`;
  assert.deepEqual(await crawl.sql(keys), [{n: 1}]);
});

const extractor = `export default {
  doc: 'Headings.',
  columns: {heading: {type: 'text'}},
  *extract(page) { for (const node of page.select('h2')) yield {heading: page.text(node)}; },
};`;

test('rows of extractors stay with their captures, and are known to be whole', async (t) => {
  const crawl = await jobHarness(t);
  const file = join(crawl.dir, 'headings.mjs');
  await writeFile(file, extractor);
  await applied(crawl, {with: [file]});
  await crawl.run(mergesegs, options);
  const rows = await crawl.sql('SELECT url, segment, heading FROM headings ORDER BY url');
  assert.deepEqual(rows, [
    {url: a, segment: second, heading: 'new'},
    {url: `${a}q?ref=1`, segment: second, heading: 'q1'},
    {url: b, segment: second, heading: 'b'},
  ]);
  assert.equal((await crawl.sql('FROM extractions')).length, 4);
  const again = await crawl.run(parse, {...defaultOptions(parse), with: [file]});
  assert.equal(again.outcome, 'nothing', 'nothing is lacking');
});

test('where one segment has no rows of an extractor they come along, and are known to be in part', async (t) => {
  const crawl = await crawled(t);
  const file = join(crawl.dir, 'headings.mjs');
  await writeFile(file, extractor);
  await crawl.run(parse, {...defaultOptions(parse), segment: [first], with: [file]});
  await crawl.run(mergesegs, options);
  assert.deepEqual(await urls(crawl, 'headings'), [`${a}q?ref=1`, b]);
  await crawl.run(parse, {...defaultOptions(parse), with: [file]});
  assert.deepEqual(await urls(crawl, 'headings'), [a, `${a}q?ref=1`, b]);
});
