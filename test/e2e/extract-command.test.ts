import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl} from '../support/command.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

test('crawl check parse --with shows what extractors give; a wrong one is an error of usage with its line', async (t) => {
  const cwd = await temporaryFolder(t);
  await writeFile(join(cwd, 'page.html'), '<title>T</title><h2>One</h2><h2>Two</h2>');
  await writeFile(join(cwd, 'headings.yaml'), 'rows: h2\ncolumns:\n  heading: {required: true}\n');
  await writeFile(
    join(cwd, 'fails.mjs'),
    `export default {columns: {a: {type: 'key'}}, extract: (page) => page.parsed.title === 'T' ? {a: 7n} : page.nothing.at}`,
  );
  const words = ['check', 'parse', '--with', 'headings.yaml', '--with', 'fails.mjs'];
  const shown = await crawl([...words, 'page.html'], {cwd});
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(
    shown.stdout,
    /headings: 2 rows\n {2}0 +heading +One\n {2}1 +heading +Two\nfails: 1 row\n {2}0 +a +/,
  );
  const answered = await crawl([...words, '--jsonl'], {
    cwd,
    stdin:
      '{"body": "<h2>x</h2>", "url": "https://example.org/", "content_type": "text/html"}\n{"file": "page.html"}\n',
  });
  const answers = answered.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).extracted);
  assert.deepEqual(answers[0], [
    {extractor: 'headings', status: 'success', reason: null, error: null, rows: [{heading: 'x'}]},
    {
      extractor: 'fails',
      status: 'failed',
      reason: 'extract_failed',
      error: "Cannot read properties of undefined (reading 'at') (fails.mjs:1)",
      rows: [],
    },
  ]);
  assert.deepEqual(answers[1][1].rows, [{a: '7'}]);

  await writeFile(join(cwd, 'wrong.yaml'), 'rows: h2\ncolumns:\n  a: {selct: b}\n');
  const wrong = await crawl(['check', 'parse', 'page.html', '--with', 'wrong.yaml'], {cwd});
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /wrong\.yaml:3: column a: unknown key selct; did you mean select\?/);
  assert.equal((await crawl(['check', 'url', 'http://x.test/', '--with', 'wrong.yaml'], {cwd})).code, 2);
});
