import assert from 'node:assert/strict';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl, query} from '../support/command.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

async function newCrawl(t: Parameters<typeof temporaryFolder>[0]): Promise<string> {
  const dir = join(await temporaryFolder(t), 'crawl');
  await mkdir(dir, {recursive: true});
  assert.equal((await crawl(['init', dir])).code, 0);
  return dir;
}

const fetchlist = (dir: string) =>
  query<{url: string; selected_as: string; seed: string; kind: string}>(
    dir,
    'SELECT url, selected_as, seed, kind FROM fetchlist ORDER BY segment, rank',
  );

test('freegen makes a segment of a list in its order, known or not; what it leaves out is counted', async (t) => {
  const dir = await newCrawl(t);
  assert.equal((await crawl(['inject', '-C', dir, 'http://known.test/'])).code, 0);
  const file = join(dir, 'list.txt');
  const lines = [
    '# a list',
    'http://z.test/1',
    'http://known.test/',
    'HTTP://z.test:80/1',
    'no url',
    'http://bad.test/x',
  ];
  await writeFile(file, lines.join('\n'));
  const made = await crawl(['freegen', '-C', dir, file, '--set', 'scope.rules=- host bad.test']);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^\d{14}\n$/);
  assert.match(made.stderr, /3 lines left out: .*scope_rule 1/);
  assert.match(made.stderr, /forecast for/);
  assert.deepEqual(
    (await fetchlist(dir)).map(({url, selected_as, seed}) => [url, selected_as, seed]),
    [
      ['http://z.test/1', 'forced', 'http://z.test/1'],
      ['http://known.test/', 'forced', 'http://known.test/'],
    ],
  );

  const again = await crawl(['freegen', '-C', dir, 'http://z.test/1']);
  assert.equal(again.code, 3, again.stderr);
  assert.match(again.stderr, /open_segment 1/);
  const unfiltered = await crawl([
    'freegen',
    '-C',
    dir,
    'http://bad.test/x',
    '--no-filter',
    '--set',
    'scope.rules=- host bad.test',
  ]);
  assert.equal(unfiltered.code, 0, unfiltered.stderr);
  assert.equal((await crawl(['generate', '-C', dir])).code, 3, 'what it took is locked');
});

test('freegen --sql takes what a query finds; a bad query or list touches nothing', async (t) => {
  const dir = await newCrawl(t);
  const urls = ['http://a.test/1', 'http://a.test/2', 'http://b.test/'];
  assert.equal((await crawl(['inject', '-C', dir, ...urls])).code, 0);
  for (const [args, code] of [
    [['--sql', 'SELECT nothing FROM crawldb'], 1],
    [['--sql', 'DROP TABLE crawldb'], 2],
    [['--sql', 'SELECT score FROM crawldb'], 2],
    [['--sql', 'SELECT url FROM crawldb', 'http://a.test/'], 2],
    [[], 2],
    [['--sql', 'SELECT url FROM crawldb WHERE false'], 3],
  ] as const) {
    const bad = await crawl(['freegen', '-C', dir, ...args]);
    assert.equal(bad.code, code, `${args.join(' ')}: ${bad.stderr}`);
  }
  assert.deepEqual(await fetchlist(dir), []);
  const made = await crawl([
    'freegen',
    '-C',
    dir,
    '--sql',
    "SELECT score, url FROM crawldb WHERE url LIKE '%a.test%' ORDER BY url DESC",
  ]);
  assert.equal(made.code, 0, made.stderr);
  assert.deepEqual(
    (await fetchlist(dir)).map(({url}) => url),
    ['http://a.test/2', 'http://a.test/1'],
  );
});
