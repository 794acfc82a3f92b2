import assert from 'node:assert/strict';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

async function injected(t: Parameters<typeof temporaryFolder>[0], lines: string[]): Promise<string> {
  const dir = join(await temporaryFolder(t), 'crawl');
  await mkdir(dir, {recursive: true});
  assert.equal((await crawl(['init', dir])).code, 0);
  const seeds = join(dir, 'seeds.txt');
  await writeFile(seeds, lines.join('\n'));
  assert.equal((await crawl(['inject', '-C', dir, seeds])).code, 0);
  return dir;
}

const urls = async (dir: string): Promise<string[]> =>
  (await query<{url: string}>(dir, 'SELECT url FROM fetchlist ORDER BY rank')).map(({url}) => url);

test('a rule made after URLs were found keeps them out of the fetchlist, and others take their places', async (t) => {
  const lines = Array.from(
    {length: 30},
    (_, i) => `http://${i % 2 ? 'good' : 'bad'}${i}.test/\tscore=${100 - i}`,
  );
  const dir = await injected(t, lines);
  const rules = ['--set', 'scope.rules=- regex ^http://bad'];
  const {code, stderr} = await crawl(['generate', '-C', dir, '--top-n', '10', ...rules]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    await urls(dir),
    Array.from({length: 10}, (_, i) => `http://good${2 * i + 1}.test/`),
  );
  assert.match(stderr, /scope_rule/);
});

test('where the scope refuses all that is due there is no segment, and the code says so', async (t) => {
  const dir = await injected(t, ['http://a.test/', 'http://b.test/x']);
  const none = await crawl(['generate', '-C', dir, '--set', 'scope.otherwise=reject']);
  assert.equal(none.code, 3, none.stderr);
  assert.equal(none.stdout, '');
  assert.deepEqual(await query(dir, 'SELECT url FROM fetchlist'), []);
  const run = await crawl(['run', '-C', dir, '--set', 'scope.otherwise=reject']);
  assert.equal(run.code, 3, run.stderr);
  assert.equal((await crawl(['generate', '-C', dir])).code, 0, 'with the rule gone they are due again');
});

test('what a seed line says of its scope holds at generate too', async (t) => {
  const dir = await injected(t, ['http://a.test/dir/page\tscope=path', 'http://a.test/other']);
  assert.equal((await crawl(['generate', '-C', dir])).code, 0);
  assert.deepEqual((await urls(dir)).sort(), ['http://a.test/dir/page', 'http://a.test/other']);
});
