import assert from 'node:assert/strict';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {checkRobots} from '../../lib/robots/check.ts';
import {parseRobots} from '../../lib/robots/parse.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';

/** Small odd files of other parsers' tests, and what RFC 9309 makes of them. */
const skip = withoutCorpus('robots/files');
const limit = {maxBytes: 500 * 1024, typos: false};

const check = (file: string, agent: string, path: string, typos = false) =>
  checkRobots(
    {
      robots_base64: readFileSync(corpus(`robots/files/${file}`)!).toString('base64'),
      agent,
      url: `https://example.com${path}`,
    },
    {...limit, typos},
  );
const denied = (file: string, agent: string, path: string, typos = false) =>
  check(file, agent, path, typos).allowed === false;

test('every file is read', {skip}, () => {
  const folder = corpus('robots/files')!;
  const names = readdirSync(folder, {recursive: true, withFileTypes: true}).filter((entry) => entry.isFile());
  assert.ok(names.length >= 28);
  for (const entry of names) {
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    for (const typos of [false, true]) assert.ok(parseRobots(bytes, {...limit, typos}).lines > 0, entry.name);
  }
});

test('byte order marks in three encodings make no difference', {skip}, () => {
  for (const encoding of ['utf8', 'utf16le', 'utf16be']) {
    const bytes = readFileSync(corpus(`robots/files/crawler-commons/robots-with-${encoding}-bom.txt`)!);
    const file = parseRobots(bytes, limit);
    assert.ok(file.groups.length > 0, encoding);
    assert.ok(file.groups[0]!.agents.length > 0, encoding);
    assert.ok(file.groups[0]!.rules.length > 0, encoding);
  }
});

test('typos count where they are switched on', {skip}, () => {
  const file = 'crawler-commons/directive-typos-robots.txt';
  for (const [agent, path, withTypos] of [
    ['bot1', '/desallow/', false],
    ['bot1', '/dissalow/', true],
    ['bot2', '/useragent/', true],
    ['bot3', '/useg-agent/', false],
    ['bot4', '/useragent-no-colon/', true],
  ] as const) {
    // Where a key is not known its line is nothing, so the rules below belong to the agents above.
    assert.equal(denied(file, agent, path, true), withTypos, path);
    assert.equal(denied(file, agent, path, false), false, path);
  }
});

test('blanks before the colon are allowed, a missing colon is a typo', {skip}, () => {
  const file = 'crawler-commons/format-errors-robots.txt';
  assert.equal(denied(file, 'bot1', '/whitespace-before-colon/'), true);
  assert.equal(denied(file, 'bot1', '/no-colon/'), false);
  assert.equal(denied(file, 'bot1', '/no-colon/', true), true);
  assert.equal(denied(file, 'bot2', '/no-colon-useragent/', true), true);
  assert.equal(denied(file, 'bot3', '/whitespace-before-colon'), false);
  assert.equal(denied(file, 'bot3', '/x'), true);
  assert.deepEqual(check(file, 'bot3', '/').sitemaps, ['https://example.com/sitemap.xml']);
});

test('extensions part no groups, rules of equal agents are joined', {skip}, () => {
  const file = 'crawler-commons/extensions-group-merging.txt';
  for (const agent of ['mybot', 'yourbot']) assert.equal(denied(file, agent, '/private/'), true, agent);
  assert.equal(denied(file, 'yourbot', '/login/'), true);
  assert.equal(denied(file, 'other', '/x'), true);
  assert.equal(denied(file, 'other', '/llms.txt'), false);
});

test('a broken escape is compared as it is', {skip}, () => {
  const file = 'crawler-commons/malformed-path.txt';
  assert.equal(denied(file, 'x', '/wiki/Wikipedia_talk:Mediation_Committee/'), true);
  assert.equal(denied(file, 'x', '/wiki/Wikipedia_talk%3Mediation_Committee/'), true);
  assert.equal(denied(file, 'x', '/wiki/'), false);
});

test('the examples of RFC 9309', {skip}, () => {
  const merging = 'crawler-commons/rfc9309-example-rule-group-merging.txt';
  const simple = 'crawler-commons/rfc9309-example-simple-robots.txt';
  assert.equal(denied(merging, 'ExampleBot', '/foo'), true);
  assert.equal(denied(merging, 'ExampleBot', '/baz'), true);
  assert.equal(denied(merging, 'x', '/bar'), true);
  assert.equal(denied(merging, 'x', '/baz'), false);
  assert.equal(denied(merging, 'BazBot', '/foo'), false);
  assert.equal(denied(simple, 'foobot', '/'), true);
  assert.equal(denied(simple, 'foobot', '/example/page.html'), false);
  assert.equal(denied(simple, 'quxbot', '/example/'), false);
  assert.equal(denied(simple, 'x', '/example/'), true);
  assert.equal(denied(simple, 'x', '/a.gif'), true);
});

test('a relative Sitemap line is read against the host', {skip}, () => {
  assert.deepEqual(check('crawler-commons/relative-sitemap-robots.txt', 'x', '/').sitemaps, [
    'https://example.com/sitemap.xml',
  ]);
});

test('lists of rules as Google documents them', {skip}, () => {
  const matching: Record<string, [path: string, denied: boolean][]> = {
    a: [['/x', true]],
    b: [['/x', true]],
    c: [
      ['/fish', true],
      ['/fish.html', true],
      ['/Fish.asp', false],
      ['/catfish', false],
    ],
    e: [
      ['/fish', false],
      ['/fish/', true],
      ['/fish/salmon.htm', true],
    ],
    f: [['/fish/', false]], // no leading slash: no rule
    g: [
      ['/filename.php?x', true],
      ['/', false],
    ],
    h: [
      ['/filename.php', true],
      ['/filename.php?x', false],
    ],
    i: [
      ['/fishheads/catfish.php?x', true],
      ['/Fish.PHP', false],
    ],
  };
  for (const [agent, paths] of Object.entries(matching)) {
    for (const [path, expected] of paths) {
      assert.equal(denied('robotstxt/google-matching', agent, path), expected, `${agent} ${path}`);
    }
  }
  assert.equal(denied('robotstxt/google-precedence', 'a', '/page'), false);
  assert.equal(denied('robotstxt/google-precedence', 'b', '/folder/page'), false);
  assert.equal(denied('robotstxt/google-precedence', 'c', '/page.htm'), true);
  assert.equal(denied('robotstxt/google-precedence', 'd', '/'), false);
  assert.equal(denied('robotstxt/google-precedence', 'd', '/page.htm'), true);
  assert.equal(denied('robotstxt/google-wildcards', 'x', '/path/to/l'), true);
  assert.equal(denied('robotstxt/google-wildcards', 'x', '/path/to/lx'), false);
});

test('what is no robots.txt forbids nothing', {skip}, () => {
  for (const file of [
    'html',
    'host-unicode',
    'parse-error-003',
    'scanner-comment1',
    'scanner-comment2',
    'scanner-d9d9',
    'scanner-u2010',
  ]) {
    const answer = check(`robotstxt/${file}`, 'bot', '/');
    assert.equal(answer.allowed, true, file);
    assert.equal(answer.crawl_delay_s, null, file);
  }
});
