import assert from 'node:assert/strict';
import {mkdirSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import {crawl} from '../support/command.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const page = Buffer.from(
  '<html lang=ru><meta charset=koi8-r><title>\xf2\xc1\xd3</title><meta name=robots content=noindex>' +
    '<base href=/b/><a href=x>one</a><a href="https://other.test/?utm_source=y" rel=nofollow>two</a>',
  'latin1',
);

test('check parse shows what is read in a file, and needs no crawl', async (t) => {
  const cwd = await temporaryFolder(t);
  writeFileSync(join(cwd, 'page.html'), page);
  const {code, stdout} = await crawl(['check', 'parse', 'page.html', '--url', 'https://example.org/a'], {
    cwd,
  });
  assert.equal(code, 0);
  for (const line of [
    /^page\.html$/m,
    /^ {2}status {4}success$/m,
    /^ {2}charset {3}koi8-r, by meta$/m,
    /^ {2}title {5}Рас$/m,
    /^ {2}base {6}https:\/\/example\.org\/b\/$/m,
    /^ {2}robots {4}noindex$/m,
    /^ {2}simhash {3}[0-9a-f]{16}$/m,
    /^ {2}links {5}2, 1 rejected$/m,
    /^ {2}a {9}https:\/\/example\.org\/b\/x {2}“one”$/m,
    /^ {2}a {9}https:\/\/other\.test\/ {2}“two” {2}rel=nofollow {2}nofollow/m,
  ])
    assert.match(stdout, line);
  assert.deepEqual(readdirSync(cwd), ['page.html']);
  const header = await crawl(
    ['check', 'parse', 'page.html', '--content-type', 'text/html; charset=latin1', '--json'],
    {cwd},
  );
  const found = JSON.parse(header.stdout) as Record<string, unknown>;
  assert.deepEqual([found.charset, found.charset_source, found.title], ['windows-1252', 'transport', 'òÁÓ']);
});

test('check parse keeps kinds of links apart from their URLs, however long', async (t) => {
  const cwd = await temporaryFolder(t);
  const stdin = '<title>t</title><meta http-equiv=refresh content="0; url=/r"><a href=/x>y</a>';
  const {stdout} = await crawl(['check', 'parse', '-', '--url', 'https://example.org/'], {cwd, stdin});
  for (const line of [
    /^ {2}title {9}t$/m,
    /^ {2}meta_refresh {2}https:\/\/example\.org\/r/m,
    /^ {2}a {13}https:\/\/example\.org\/x/m,
  ])
    assert.match(stdout, line);
});

test('check parse reads standard input, with the settings of the crawl', async (t) => {
  const cwd = await temporaryFolder(t);
  const yaml = 'parse:\n  default_charset: windows-1251\nscope:\n  rules:\n    - "- domain example.org"\n';
  writeFileSync(join(cwd, 'crawl.yaml'), yaml);
  const {code, stdout} = await crawl(['check', 'parse', '-', '--json', '--url', 'https://example.org/'], {
    cwd,
    stdin: '<title>ok</title><a href=/x>y</a>',
  });
  assert.equal(code, 0);
  const found = JSON.parse(stdout) as {charset: string; outlinks: Record<string, unknown>[]};
  assert.equal(found.charset, 'windows-1251');
  assert.deepEqual(
    found.outlinks.map(({accepted, reason, rule}) => [accepted, reason, rule]),
    [[false, 'scope_rule', 'scope.rules:1: - domain example.org']],
  );
});

test('check parse --jsonl answers each line, bad ones too', async (t) => {
  const cwd = await temporaryFolder(t);
  mkdirSync(join(cwd, 'in'));
  writeFileSync(join(cwd, 'in', 'page.html'), page);
  const questions = [
    {file: 'in/page.html', url: 'https://example.org/'},
    {body_base64: page.toString('base64'), url: 'https://example.org/'},
    {body: '<title>x</title>', content_type: 'text/html; charset=big5'},
    {body_base64: gzipSync('<title>packed</title>').toString('base64'), content_encoding: 'gzip'},
    {body: '', url: 'https://example.org/'},
    {body: '\u0000\u0001', content_type: 'application/x-nobody-knows'},
    {file: 'in/none'},
    {file: 'in/page.html', body: 'twice'},
    {url: 'https://example.org/'},
    {body: 'x', url: 'no url'},
    {body: 7},
  ];
  const {code, stdout, stderr} = await crawl(['check', 'parse', '--jsonl'], {
    cwd,
    stdin: questions.map((question) => `${JSON.stringify(question)}\n`).join(''),
  });
  assert.equal(code, 6);
  assert.match(stderr, /5 lines without a question/);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(answers[0], answers[1]);
  assert.deepEqual(
    answers.slice(1, 6).map(({title, charset, reason}) => [title, charset, reason]),
    [
      ['Рас', 'koi8-r', null],
      ['x', 'big5', null],
      ['packed', 'windows-1252', null],
      [null, null, 'empty'],
      [null, null, 'type_unsupported'],
    ],
  );
  assert.deepEqual(
    answers.slice(6).map(({error}) => error),
    [
      '"file" cannot be read: ENOENT',
      'one of these must be given: "file", "body", "body_base64"',
      'one of these must be given: "file", "body", "body_base64"',
      '"url" is none: not a URL',
      '"body" must be a text',
    ],
  );
});

test('wrong use of check parse is told', async (t) => {
  const cwd = await temporaryFolder(t);
  writeFileSync(join(cwd, 'page.html'), page);
  for (const [argv, message] of [
    [[], /nothing to check: give files/],
    [['none.html'], /none\.html cannot be read: ENOENT/],
    [['page.html', '--url', 'no url'], /"url" is none/],
    [
      ['https://example.org/'],
      /asks no server[\s\S]*crawl cat https:\/\/example\.org\/ \| crawl check parse -/,
    ],
  ] as const) {
    const {code, stdout, stderr} = await crawl(['check', 'parse', ...argv], {cwd});
    assert.match(stderr, message);
    assert.deepEqual([code, stdout], [2, '']);
  }
});
