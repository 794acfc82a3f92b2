import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {defaultOptions} from '../../cli/rounds.ts';
import {parse} from '../../jobs/parse.ts';
import {type JobHarness, jobHarness} from '../support/job-harness.ts';
import {commitFetched} from '../support/parse-captures.ts';

/** Extractors that misbehave: each costs its own rows, never the parse. */
const none = defaultOptions(parse);
const html = ['Content-Type: text/html'];
const segment = '20260101000000';

async function fetchedCrawl(
  t: Parameters<typeof jobHarness>[0],
  names: readonly string[],
  yaml = '',
): Promise<JobHarness> {
  const crawl = await jobHarness(t, yaml);
  await commitFetched(
    crawl,
    segment,
    names.map((name) => ({
      url: `https://example.org/${name}`,
      body: `<title>${name}</title>`,
      headers: html,
    })),
  );
  return crawl;
}

async function extractor(crawl: JobHarness, name: string, body: string, more = ''): Promise<string> {
  const path = join(crawl.dir, name);
  await writeFile(
    path,
    `export default {columns: {a: {type: 'text'}${more}},\nextract(page) { ${body} }};\n`,
  );
  return path;
}

test('an exception, a wrong row and a hang are rows with a reason; the page is parsed, and other extractors see it', async (t) => {
  const crawl = await fetchedCrawl(
    t,
    ['good', 'throws', 'wrong', 'unknown', 'loops', 'exits', 'promise', 'endless'],
    'parse:\n  extractor_timeout: 4s\n',
  );
  const bad = await extractor(
    crawl,
    'bad.mjs',
    `const {title} = page.parsed;
     if (title === 'throws') return page.first('h7').name;
     if (title === 'wrong') return {a: 7};
     if (title === 'unknown') return {a: 'x', b: 'y'};
     if (title === 'loops') for (;;);
     if (title === 'exits') process.exit(9);
     if (title === 'promise') return Promise.resolve({a: 'x'});
     if (title === 'endless') return (function* () { for (;;) yield {a: 'x'}; })();
     return {a: title};`,
  );
  const good = await extractor(crawl, 'good.mjs', 'return {a: page.parsed.title};');
  const report = await crawl.run(parse, {...none, with: [bad, good]});
  assert.equal(report.counters.captures_parsed_total, 8);
  assert.equal(report.counters.captures_failed_total, 0);
  const rows = await crawl.sql<Record<string, string | number | null>>(
    `SELECT p.title, e.status, e.reason, e.error, e.rows FROM extractions e JOIN parse p USING (capture_id)
     WHERE extractor = 'bad' ORDER BY p.title`,
  );
  assert.deepEqual(
    rows.map((row) => Object.values(row)),
    [
      ['endless', 'partial', 'extract_limit', 'cut after 10000 rows', 10_000],
      ['exits', 'failed', 'extract_failed', 'exit code 9', 0],
      ['good', 'success', null, null, 1],
      ['loops', 'failed', 'extract_timeout', 'no end after 4000 ms', 0],
      [
        'promise',
        'failed',
        'extract_failed',
        'extract gave a promise: it must give its rows at once, without async',
        0,
      ],
      [
        'throws',
        'failed',
        'extract_failed',
        "Cannot read properties of null (reading 'name') (bad.mjs:3)",
        0,
      ],
      ['unknown', 'failed', 'extract_failed', 'row 0: no column b is declared; known are a', 0],
      ['wrong', 'failed', 'extract_failed', 'row 0: a is the number 7, wanted is a text', 0],
    ],
  );
  const [others] = await crawl.sql<{n: number}>('SELECT count(DISTINCT a)::INTEGER AS n FROM good');
  assert.equal(others!.n, 8);
  assert.deepEqual(report.reasons, {extract_failed: 5, extract_timeout: 1, extract_limit: 1});
});

test('beside a parse that is there, what it asks of the page is not the time of an extractor', async (t) => {
  const crawl = await fetchedCrawl(t, ['good', 'loops'], 'parse:\n  extractor_timeout: 2s\n');
  await crawl.run(parse, none);
  const file = await extractor(
    crawl,
    'late.mjs',
    `if (page.parsed.title === 'loops') for (;;); return {a: page.parsed.title};`,
  );
  await crawl.run(parse, {...none, with: [file]});
  const rows = await crawl.sql<{status: string; error: string | null}>(
    'SELECT status, error FROM extractions ORDER BY status',
  );
  assert.deepEqual(rows, [
    {status: 'failed', error: 'no end after 2000 ms'},
    {status: 'success', error: null},
  ]);
});

test('an extractor that always ends its thread is given up for the rest of the task, each page with its row', async (t) => {
  const names = Array.from({length: 8}, (_, at) => `p${at}`);
  const crawl = await fetchedCrawl(t, names);
  const file = await extractor(
    crawl,
    'fatal.mjs',
    `if (page.parsed.title !== 'p0') process.exit(3); return {a: 'x'};`,
  );
  await crawl.run(parse, {...none, with: [file]});
  const rows = await crawl.sql<{reason: string | null; n: number}>(
    'SELECT reason, count(*)::INTEGER AS n FROM extractions GROUP BY ALL ORDER BY n',
  );
  assert.deepEqual(rows, [
    {reason: null, n: 1},
    {reason: 'extract_stopped', n: 2},
    {reason: 'extract_failed', n: 5},
  ]);
  const [pages] = await crawl.sql<{n: number}>(
    `SELECT count(*)::INTEGER AS n FROM parse WHERE status = 'success'`,
  );
  assert.equal(pages!.n, 8);
});

test('what is no extractor is told before anything is read', async (t) => {
  const crawl = await fetchedCrawl(t, ['a']);
  const refused = async (name: string, text: string, message: RegExp): Promise<void> => {
    const path = join(crawl.dir, name);
    await writeFile(path, text);
    await assert.rejects(
      crawl.run(parse, {...none, with: [path]}),
      {code: 'EXTRACTOR_INVALID', message},
      name,
    );
  };
  await refused(
    'outlinks.mjs',
    'export default {columns: {a: {type: "text"}}, extract() {}}',
    /the name outlinks is that of a table/,
  );
  await refused(
    'x_all.mjs',
    'export default {columns: {a: {type: "text"}}, extract() {}}',
    /may not end in _all/,
  );
  await refused('nothing.mjs', 'export const a = 1', /no default export/);
  await refused('broken.mjs', 'export default {', /broken\.mjs cannot be loaded: Unexpected/);
  await refused('lost.mjs', 'import "./nowhere.mjs"', /cannot be loaded: Cannot find module/);
  await refused(
    'async.mjs',
    'export default {columns: {a: {type: "text"}}, async extract() {}}',
    /cannot be async/,
  );
  await refused(
    'columns.mjs',
    'export default {name: "c", colums: {}, columns: {url: {type: "text"}, Big: {type: "string"}}}',
    /unknown key colums; did you mean columns\?\n.*column url: every extractor’s table has a column of that name already\n.*column Big: its name must be lower case.*\n.*column Big: type "string" must be one of: text, .*\n.*extract must be a function/s,
  );
  await refused('exits.mjs', 'process.exit(4)', /cannot be loaded: exit code 4/);
  await refused('page.txt', '', /an extractor is a \.ts, \.js, \.mjs or \.yaml file/);
  await assert.rejects(crawl.run(parse, {...none, with: [join(crawl.dir, 'none.mjs')]}), {
    code: 'EXTRACTOR_INVALID',
    message: /cannot be read \(ENOENT\)/,
  });
  const one = await extractor(crawl, 'one.mjs', '');
  await writeFile(
    join(crawl.dir, 'two.mjs'),
    `export default {name: 'one', columns: {a: {type: 'text'}}, extract() {}}`,
  );
  await assert.rejects(crawl.run(parse, {...none, with: [one, join(crawl.dir, 'two.mjs')]}), {
    message: /two\.mjs and .*one\.mjs have one name: one/,
  });
  const slots = Object.keys((await crawl.head()).manifest.slots);
  assert.deepEqual(
    slots.filter((name) => name.startsWith(`segments/${segment}/parse/`)),
    [],
  );
});
