import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {crawlProcess} from '../support/built-command.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** Loaded first, in threads too: as if tsx were not installed. */
const withoutTsx = `
import {register} from 'node:module';
const hooks = "export async function resolve(name, context, next) { if (name.startsWith('tsx')) throw new Error('not installed'); return next(name, context); }";
register('data:text/javascript,' + encodeURIComponent(hooks));
`;

const typed = `
import type {Extractor} from 'crawl/extract';
export default {
  columns: {links: {type: 'int32'}},
  extract: (page) => ({links: page.links.length}),
} satisfies Extractor;
`;

test('an extractor in TypeScript runs without tsx where Node strips types; elsewhere its error says what to do', async (t) => {
  const dir = await temporaryFolder(t);
  for (const [name, text] of [
    ['without-tsx.mjs', withoutTsx],
    ['typed.ts', typed],
    ['page.html', '<a href=/a>a</a> <a href=/b>b</a>'],
  ] as const)
    writeFileSync(join(dir, name), text);
  const argv = ['check', 'parse', join(dir, 'page.html'), '--with', join(dir, 'typed.ts'), '--json'];
  const hooks = pathToFileURL(join(dir, 'without-tsx.mjs')).href;
  const {code, stdout, stderr} = await crawlProcess(argv, {env: {NODE_OPTIONS: `--import ${hooks}`}});
  if ('typescript' in process.features && process.features.typescript) {
    assert.equal(code, 0, stderr);
    assert.match(stdout, /"links":2\b/);
  } else {
    assert.equal(code, 2, stderr);
    assert.match(stderr, /typed\.ts is TypeScript, which Node v\d+\S+ does not run by itself/);
    assert.match(stderr, /Use Node 22\.18 or newer, or npm install tsx .* or write it as JavaScript/);
  }
});
