import assert from 'node:assert/strict';
import {test} from 'node:test';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import type {Inlink} from '../../lib/schema/linkdb.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import {defaultOptions} from '../support/default-options.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {fetchSegment, page, parseSegment, type SmallPage} from '../support/small-web.ts';

const listOptions = defaultOptions(generate);
const updateOptions = {segments: [], unparsed: false, noAdditions: false};

async function fetched(crawl: JobHarness, pages: Readonly<Record<string, SmallPage>>): Promise<string> {
  const report = await crawl.run(generate, listOptions);
  const segment = report.plan!.segment!;
  await fetchSegment(crawl, segment, (url) => pages[url] ?? {status: 'gone', reason: 'http_404', code: 404});
  return segment;
}

async function edges(crawl: JobHarness): Promise<string[]> {
  const rows = await crawl.sql<Inlink>('SELECT * FROM linkdb ORDER BY source_url, target_url');
  return rows.map(({source_url, target_url, links}) => `${source_url} -> ${target_url} x${links}`);
}

const inlinksOf = async (crawl: JobHarness) =>
  Object.fromEntries((await crawl.crawldb()).map(({url, inlinks}) => [url, inlinks]));

test('links are turned round, counted once a page, and replaced when the page has other ones', async (t) => {
  const crawl = await jobHarness(t);
  const [a, b, c] = ['http://a.test/', 'http://b.test/', 'http://a.test/c'];
  await crawl.run(inject, {files: [], urls: [a, b, c], update: false, overwrite: false});
  const pages: Record<string, SmallPage> = {
    [a]: page('a', [b, b, c, a]),
    [b]: page('b', [a]),
    [c]: page('c', [b]),
  };
  await fetched(crawl, pages);
  await crawl.run(updatedb, updateOptions);
  const report = await crawl.run(invertlinks, {segments: []});
  assert.deepEqual(report.counters, {
    links_total: 5,
    links_added_total: 5,
    links_removed_total: 0,
    rows_updated_total: 3,
  });
  assert.deepEqual(await edges(crawl), [
    `${a} -> ${a} x1`,
    `${a} -> ${c} x1`,
    `${a} -> ${b} x2`,
    `${c} -> ${b} x1`,
    `${b} -> ${a} x1`,
  ]);
  assert.deepEqual(await inlinksOf(crawl), {[a]: 2, [b]: 2, [c]: 1});
  assert.equal((await crawl.run(invertlinks, {segments: []})).outcome, 'nothing');

  crawl.effects.pass(31 * 86_400_000);
  pages[a] = page('a, later', [c]);
  delete pages[c];
  await fetched(crawl, pages);
  await crawl.run(updatedb, updateOptions);
  const later = await crawl.run(invertlinks, {segments: []});
  assert.equal(later.counters.links_removed_total, 3);
  assert.deepEqual(await edges(crawl), [`${a} -> ${c} x1`, `${b} -> ${a} x1`]);
  assert.deepEqual(await inlinksOf(crawl), {[a]: 1, [b]: 0, [c]: 1});
});

test('of several links to one page the first with an anchor tells anchor and rel, the first of all the rest', async (t) => {
  const crawl = await jobHarness(t);
  const a = 'http://a.test/';
  const [later, first, never] = ['http://x.test/later', 'http://x.test/first', 'http://x.test/never'];
  await crawl.run(inject, {files: [], urls: [a], update: false, overwrite: false});
  const told: Record<string, Partial<Outlink>[]> = {
    [later]: [
      {kind: 'img', anchor: '', rel: 'x'},
      {kind: 'a', anchor: 'text', rel: null},
      {kind: 'area', anchor: 'more', rel: 'z'},
    ],
    [first]: [
      {kind: 'a', anchor: 'one', rel: null},
      {kind: 'img', anchor: null, rel: 'y'},
    ],
    [never]: [
      {kind: 'img', anchor: null, rel: null},
      {kind: 'iframe', anchor: '', rel: 'w'},
    ],
  };
  const linkFacts = (to: string): Partial<Outlink> => told[to]?.shift() ?? {};
  // Each fetched twice: of one page only the newest capture tells
  await fetched(crawl, {[a]: page('old', [first, first, first, later])});
  await crawl.run(updatedb, updateOptions);
  crawl.effects.pass(31 * 86_400_000);
  const links = [later, first, never, later, first, never, later];
  await fetched(crawl, {[a]: page('new', links, {linkFacts})});
  await crawl.run(updatedb, updateOptions);
  await crawl.run(invertlinks, {segments: []});
  const rows = await crawl.sql<Inlink>('SELECT * FROM linkdb ORDER BY target_url');
  assert.deepEqual(
    rows.map(({target_url, kind, anchor, rel, links}) => [target_url, kind, anchor, rel, links]),
    [
      [first, 'a', 'one', null, 2],
      [later, 'img', 'text', 'x', 3],
      [never, 'img', null, null, 2],
    ],
  );
});

test('a segment that comes late does not bring old links back; another parse replaces', async (t) => {
  const crawl = await jobHarness(t);
  const a = 'http://a.test/';
  await crawl.run(inject, {files: [], urls: [a], update: false, overwrite: false});
  const first = await fetched(crawl, {[a]: page('one', ['http://x.test/'])});
  await crawl.run(updatedb, updateOptions);
  crawl.effects.pass(31 * 86_400_000);
  const second = await fetched(crawl, {[a]: page('two', ['http://y.test/'])});
  await crawl.run(updatedb, {...updateOptions, segments: [second]});
  await crawl.run(invertlinks, {segments: [second]});
  await crawl.run(invertlinks, {segments: [first]});
  assert.deepEqual(await edges(crawl), [`${a} -> http://y.test/ x1`]);

  await parseSegment(crawl, second, () => page('two', ['http://z.test/']), 'p2');
  await crawl.run(invertlinks, {segments: []});
  assert.deepEqual(await edges(crawl), [`${a} -> http://z.test/ x1`]);
});

test('of too many links to a page the best stay; internal or external ones are left out where configured', async (t) => {
  const urls = [1, 2, 3, 4].map((n) => `http://s${n}.test/\tscore=${n}`);
  const web = Object.fromEntries(
    urls.map((line) => [line.split('\t')[0]!, page(line, ['http://s1.test/t'])]),
  );
  const crawl = await jobHarness(t, 'links:\n  max_inlinks: 2\n');
  await crawl.run(inject, {files: [], urls, update: false, overwrite: false});
  await fetched(crawl, web);
  await crawl.run(updatedb, updateOptions);
  await crawl.run(invertlinks, {segments: []});
  assert.deepEqual(await edges(crawl), [
    'http://s3.test/ -> http://s1.test/t x1',
    'http://s4.test/ -> http://s1.test/t x1',
  ]);

  // All of them count; and when better ones go, the next takes their place
  assert.equal((await inlinksOf(crawl))['http://s1.test/t'], 4);
  assert.equal((await crawl.head()).manifest.summary.links, 2);
  crawl.effects.pass(31 * 86_400_000);
  web['http://s4.test/'] = page('4 tells of another', ['http://s1.test/u']);
  await fetched(crawl, web);
  await crawl.run(updatedb, updateOptions);
  const later = await crawl.run(invertlinks, {segments: []});
  assert.deepEqual(await edges(crawl), [
    'http://s2.test/ -> http://s1.test/t x1',
    'http://s3.test/ -> http://s1.test/t x1',
    'http://s4.test/ -> http://s1.test/u x1',
  ]);
  assert.equal((await inlinksOf(crawl))['http://s1.test/t'], 3);
  assert.equal(later.counters.links_total, 3);
  assert.equal((await crawl.sql('FROM linkdb_all')).length, 4);

  const inside = await jobHarness(t, 'links:\n  external: false\n');
  await inside.run(inject, {files: [], urls, update: false, overwrite: false});
  await fetched(inside, web);
  await inside.run(invertlinks, {segments: []});
  assert.deepEqual(await edges(inside), ['http://s1.test/ -> http://s1.test/t x1']);
});
