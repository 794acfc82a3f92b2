import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {defaultOptions} from '../../cli/rounds.ts';
import {useParse} from '../../jobs/parse/use.ts';
import {parse} from '../../jobs/parse.ts';
import {StoredPage} from '../../lib/extract/page.ts';
import {receive} from '../../lib/parse/receive.ts';
import {commitRows, type JobHarness, jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';
import {withinTime} from '../support/time-limit.ts';

const none = defaultOptions(parse);
const html = ['Content-Type: text/html; charset=utf-8'];
const segment = '20260101000000';

/** Writes an extractor and gives its path. */
async function extractor(crawl: JobHarness, name: string, text: string): Promise<string> {
  const path = join(crawl.dir, name);
  await writeFile(path, text);
  return path;
}

const headings = `
import {level} from './level.mjs';
export default {
  doc: 'Headings of pages.',
  columns: {heading: {type: 'text', doc: 'Its text.'}, length: {type: 'int32'}, found: {type: 'timestamp', nullable: true}},
  *extract(page) {
    for (const node of page.select(level)) {
      const heading = page.text(node) ?? '';
      yield {heading, length: heading.length};
    }
  },
};`;

const pages = [
  {
    url: 'https://example.org/a',
    body: '<title>A</title><h2>One</h2><h2>Two</h2><h3>deep</h3>',
    headers: html,
  },
  {url: 'https://example.org/b', body: '<title>B</title><p>no heading', headers: html},
  {url: 'https://example.org/c.txt', body: 'plain words', headers: ['Content-Type: text/plain']},
  {url: 'https://example.org/empty', body: '', headers: html},
];

async function headingsCrawl(
  t: Parameters<typeof jobHarness>[0],
): Promise<{crawl: JobHarness; file: string}> {
  const crawl = await jobHarness(t);
  await commitFetched(crawl, segment, pages);
  await extractor(crawl, 'level.mjs', `export const level = 'h2';`);
  return {crawl, file: await extractor(crawl, 'headings.mjs', headings)};
}

test('an extractor has a table of its own, joined by capture_id, and a row for each page that says what came of it', async (t) => {
  const {crawl, file} = await headingsCrawl(t);
  const report = await crawl.run(parse, {...none, with: [file]});
  assert.equal(report.counters.rows_extracted_total, 2);
  assert.equal(report.counters.captures_parsed_total, 3);
  const rows = await crawl.sql(
    `SELECT p.title, h.position, h.heading, h.length, h.found, h.url
     FROM headings h JOIN parse p USING (capture_id) ORDER BY h.position`,
  );
  assert.deepEqual(rows, [
    {title: 'A', position: 0, heading: 'One', length: 3, found: null, url: pages[0]!.url},
    {title: 'A', position: 1, heading: 'Two', length: 3, found: null, url: pages[0]!.url},
  ]);
  const outcomes = await crawl.sql(
    'SELECT url, extractor, status, reason, error, rows FROM extractions ORDER BY url',
  );
  assert.deepEqual(
    outcomes.map((row) => Object.values(row)),
    [
      ['https://example.org/a', 'headings', 'success', null, null, 2],
      ['https://example.org/b', 'headings', 'success', null, null, 0],
      ['https://example.org/c.txt', 'headings', 'skipped', 'extract_type', 'text/plain', 0],
      ['https://example.org/empty', 'headings', 'skipped', 'empty', 'no payload', 0],
    ],
  );
  assert.deepEqual(
    await crawl.sql(
      `SELECT extractor, doc, column_name, column_type, nullable, column_doc FROM extractors ORDER BY position`,
    ),
    [
      ['heading', 'VARCHAR', false, 'Its text.'],
      ['length', 'INTEGER', false, ''],
      ['found', 'TIMESTAMP WITH TIME ZONE', true, ''],
    ].map(([column_name, column_type, nullable, column_doc]) => ({
      extractor: 'headings',
      doc: 'Headings of pages.',
      column_name,
      column_type,
      nullable,
      column_doc,
    })),
  );
});

test('beside a parse that is there an extractor runs alone; again it is nothing to do, until it or what it imports changes', async (t) => {
  const {crawl, file} = await headingsCrawl(t);
  await crawl.run(parse, none);
  const slots = async () => (await crawl.head()).manifest.slots;
  const before = await slots();
  const report = await crawl.run(parse, {...none, with: [file]});
  assert.equal(report.outcome, 'done');
  assert.equal(report.counters.captures_parsed_total, undefined, 'nothing is parsed again');
  const after = await slots();
  for (const [name, slot] of Object.entries(before))
    if (/\/(parse|outlinks)\//.test(name))
      assert.deepEqual(after[name], slot, 'links and texts stay as they were');
  assert.equal((await crawl.run(parse, {...none, with: [file]})).outcome, 'nothing');

  await extractor(crawl, 'level.mjs', `export const level = 'h3';`);
  assert.equal((await crawl.run(parse, {...none, with: [file]})).outcome, 'done');
  assert.deepEqual(await crawl.sql('SELECT heading FROM headings'), [{heading: 'deep'}]);
  await commitFetched(crawl, segment, [
    ...pages,
    {url: 'https://example.org/d', body: '<h3>new', headers: html},
  ]);
  assert.equal((await crawl.run(parse, {...none, with: [file]})).outcome, 'done', 'there are more pages now');
  assert.deepEqual(await crawl.sql('SELECT heading FROM headings ORDER BY ALL'), [
    {heading: 'deep'},
    {heading: 'new'},
  ]);
});

test('extractors of crawl.yaml run at every parse; on applied segments when stale ones are asked for', async (t) => {
  const crawl = await jobHarness(t, 'parse:\n  extractors: [words.ts]\n');
  await commitFetched(crawl, segment, pages);
  const words = (type: string, value: string) => `
    type Row = {words: ${type === 'text' ? 'string' : 'number'}; more?: string};
    export default {
      types: ['text/*'],
      columns: {words: {type: '${type}'}${type === 'text' ? ", more: {type: 'text', nullable: true}" : ''}},
      extract(page: {parsed: {text: string | null}}): Row { const n = (page.parsed.text ?? '').split(' ').length; return ${value}; },
    };`;
  await extractor(crawl, 'words.ts', words('int32', '{words: n}'));
  await crawl.run(parse, none);
  const totals = () => crawl.sql('SELECT sum(words)::INTEGER AS n, count(*)::INTEGER AS pages FROM words');
  assert.deepEqual(await totals(), [{n: 5, pages: 3}]);
  const {current} = (await crawl.head()).segment(segment);
  await commitRows(crawl, [], {[segment]: {applied: current!}});

  await extractor(crawl, 'words.ts', words('text', '{words: String(n), more: "x"}'));
  assert.equal((await crawl.run(parse, none)).outcome, 'nothing', 'what is applied is left alone');
  assert.equal((await crawl.run(parse, {...none, stale: true})).outcome, 'done');
  assert.equal((await crawl.head()).segment(segment).current, current, 'the parse is the same');
  assert.deepEqual(await crawl.sql('SELECT words, more FROM words WHERE position = 0 ORDER BY url LIMIT 1'), [
    {words: '1', more: 'x'},
  ]);
});

test('rows of a named parse stand beside the others, and become current with it; columns of former declarations stay', async (t) => {
  const {crawl, file} = await headingsCrawl(t);
  await crawl.run(parse, {...none, with: [file]});
  await extractor(
    crawl,
    'headings.mjs',
    `export default {columns: {heading: {type: 'text'}, length: {type: 'double', nullable: true}, level: {type: 'int32'}},
      extract: (page) => page.select('h3').map((node) => ({heading: page.text(node), level: 3}))};`,
  );
  await crawl.run(parse, {...none, all: true, as: 'trial', with: [file]});
  assert.deepEqual(await crawl.sql('SELECT heading, length, level FROM headings ORDER BY position'), [
    {heading: 'One', length: 3, level: null},
    {heading: 'Two', length: 3, level: null},
  ]);
  assert.deepEqual(await crawl.sql('SELECT parse_id, heading FROM headings_all WHERE level = 3'), [
    {parse_id: 'trial', heading: 'deep'},
  ]);
  await crawl.run(useParse, {use: 'trial', segment: []});
  assert.deepEqual(await crawl.sql('SELECT heading, level, found FROM headings'), [
    {heading: 'deep', level: 3, found: null},
  ]);
  const [outcomes] = await crawl.sql<{now: number; all: number}>(
    'SELECT (SELECT count(*)::INTEGER FROM extractions) AS now, count(*)::INTEGER AS all FROM extractions_all',
  );
  assert.deepEqual(outcomes, {now: 4, all: 8});
});

test('rows of a trial on some captures do not stand for all of them', async (t) => {
  const {crawl, file} = await headingsCrawl(t);
  const trial = {...none, as: 'trial', with: [file]};
  await crawl.run(parse, {...trial, where: "url LIKE '%/b'"});
  await crawl.run(parse, {...none, as: 'trial', all: true});
  assert.equal((await crawl.run(parse, trial)).outcome, 'done');
  const [row] = await crawl.sql(
    "SELECT count(*)::INTEGER AS rows FROM headings_all WHERE parse_id = 'trial'",
  );
  assert.deepEqual(row, {rows: 2});
  assert.equal((await crawl.run(parse, trial)).outcome, 'nothing');
});

test('the content coding is undone once, for the parse and for all extractors', async (t) => {
  const {crawl, file} = await headingsCrawl(t);
  const input = pageInput(gzipSync('<h2>One</h2>'), [...html, 'Content-Encoding: gzip']);
  let times = 0;
  const page = new StoredPage({
    input,
    captureId: '',
    segment,
    kind: 'page',
    fetchTime: new Date(0),
    fetchStatus: 200,
    options: pageOptions,
    received: () => {
      times++;
      return receive(input, pageOptions);
    },
    parse: () => assert.fail('nobody asked for the parse'),
  });
  assert.equal(page.text(page.first('h2')), 'One');
  assert.equal(page.contentType, 'text/html');
  assert.equal(times, 1);
  assert.equal((await crawl.run(parse, {...none, with: [file]})).counters.rows_extracted_total, 2);
});

test('links of a large page are resolved in linear time', () => {
  const input = pageInput('<a href=x>y</a>'.repeat(100_000), html);
  const page = new StoredPage({
    input,
    captureId: '',
    segment,
    kind: 'page',
    fetchTime: new Date(0),
    fetchStatus: 200,
    options: pageOptions,
    parse: () => assert.fail('the tree is there'),
  });
  const found = withinTime(60_000, () => page.select('a').map((node) => page.resolve(node.attribs.href)));
  assert.equal(found.length, 100_000);
  assert.equal(new Set(found).size, 1);
});
