import assert from 'node:assert/strict';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {digestOf} from '../../jobs/extract/source.ts';
import {readDeclaration, readsType} from '../../lib/extract/declaration.ts';
import {importsOf} from '../../lib/extract/imports.ts';
import {isTaken, reservedWords} from '../../lib/extract/reserved.ts';
import {thingsOf} from '../../lib/extract/things.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import {jobHarness} from '../support/job-harness.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

test('names of a crawl’s own tables and views, and DuckDB’s reserved words, are refused', async (t) => {
  const crawl = await jobHarness(t);
  const views = await crawl.sql<{view_name: string}>(
    'SELECT view_name FROM duckdb_views() WHERE NOT internal',
  );
  assert.deepEqual(
    views.map(({view_name}) => view_name).filter((name) => !isTaken(name)),
    [],
  );
  const db = await openDatabase({memoryBytes: 256e6, spillDir: await temporaryFolder(t)});
  try {
    const words = await db.all<{word: string}>(
      'SELECT DISTINCT keyword_name AS word FROM duckdb_keywords() ORDER BY ALL',
    );
    assert.ok(words.length > 400);
    const refused: string[] = [];
    for (const {word} of words)
      await db.all(`WITH "${word}" AS (SELECT 1 AS "${word}") SELECT ${word} FROM ${word}`).catch(() => {
        refused.push(word);
      });
    assert.deepEqual(refused, [...reservedWords].sort());
  } finally {
    await db.close();
  }
});

test('a name is taken from the file where none is declared', () => {
  const columns = {a: {type: 'text'}};
  const nameOf = (stem: string): string => {
    const read = readDeclaration({columns}, stem);
    return 'declaration' in read ? read.declaration.name : read.problems[0]!.problem;
  };
  assert.equal(nameOf('Price-List'), 'price_list');
  assert.match(nameOf('2nd'), /a letter first/);
  assert.match(nameOf('order'), /reserved word/);
});

test('content types are matched whole, by their first part, or all', () => {
  assert.equal(readsType(['text/html'], 'text/html'), true);
  assert.equal(readsType(['text/html'], 'text/plain'), false);
  assert.equal(readsType(['image/*'], 'image/png'), true);
  assert.equal(readsType(['image/*'], 'imagex/png'), false);
  assert.equal(readsType(['*'], 'application/pdf'), true);
});

test('imports are found however they are written', () => {
  assert.deepEqual(
    importsOf(`import a from './a.ts'; import "./b.js"; export * from './c.mjs'; const d = require('./d.cjs');
      await import('./e.js'); import {f} from 'pkg/sub'; import type {X} from './a.ts'; const text = 'from here';`),
    ['./a.ts', './b.js', './c.mjs', './d.cjs', './e.js', 'pkg/sub'],
  );
});

test('the digest is that of a file, of what it imports at any depth, and of versions of packages', async (t) => {
  const dir = await temporaryFolder(t);
  const write = (name: string, text: string) => writeFile(join(dir, name), text);
  const digest = () => digestOf(join(dir, 'entry.mjs'));
  await mkdir(join(dir, 'node_modules/pkg'), {recursive: true});
  await write('entry.mjs', `import './one.js'; import 'pkg/x'; import 'node:fs'; import './missing.js';`);
  await write('one.ts', `import './two'; import './entry.mjs';`);
  await write('two.json', '{}');
  await write('node_modules/pkg/package.json', '{"version": "1.0.0"}');
  const seen = [await digest()];
  assert.equal(await digest(), seen[0]);
  for (const [name, text] of [
    ['two.json', '{"a": 1}'],
    ['one.ts', `import './two'; // changed`],
    ['node_modules/pkg/package.json', '{"version": "1.0.1"}'],
    ['entry.mjs', `import './one.js'; import 'pkg/x';`],
  ] as const) {
    await write(name, text);
    const next = await digest();
    assert.equal(seen.includes(next), false, name);
    seen.push(next);
  }
});

test('things of JSON-LD are found wherever they stand', () => {
  const lamp = {
    '@type': 'http://schema.org/Product',
    name: 'lamp',
    isSimilarTo: {'@type': 'Product', name: 'inner'},
  };
  const chair = {'@type': ['Thing', 'schema:Product'], name: 'chair'};
  assert.deepEqual(
    thingsOf([{'@graph': [{'@type': 'WebPage', mainEntity: lamp}]}, [chair], null, 'text'], 'Product'),
    [lamp, chair],
  );
  let deep: unknown = lamp;
  for (let depth = 0; depth < 100_000; depth++) deep = [deep];
  assert.deepEqual(thingsOf([deep], 'Product'), [], 'and no deeper than a bound');
});
