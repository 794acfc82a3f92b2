import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, temporaryFolder} from '../support/cli.ts';

/** What pages speak of that only their reader has: a parse by that name, and the table of an extractor shown there. */
const theirs = /no parse trial|there is no table headings\b/;

test('each query that the pages give to crawl sql is one', async (t) => {
  const root = join(import.meta.dirname, '../..');
  const docs = join(root, 'docs');
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
  const cwd = temporaryFolder(t);
  await crawl(cwd, ['init']);
  const seen = new Set<string>();
  for (const path of [join(root, 'README.md'), ...pages.map((name) => join(docs, name))])
    for (const [, query] of readFileSync(path, 'utf8').matchAll(/crawl sql (?:--\S+ )*"([^"]+)"/g)) {
      if (query === undefined || seen.has(query)) continue;
      seen.add(query);
      const {code, stderr} = await crawl(cwd, ['sql', query]);
      assert.ok(code === 0 || theirs.test(stderr), `${path}: ${query}\n${stderr}`);
    }
  assert.ok(seen.size >= 15, `only ${seen.size} queries were found`);
});
