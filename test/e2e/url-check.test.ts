import assert from 'node:assert/strict';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {test} from 'node:test';
import {crawl} from '../support/command.ts';
import {corpus, withoutCorpus} from '../support/corpora.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const jsonl = (questions: readonly object[]) => questions.map((one) => `${JSON.stringify(one)}\n`).join('');

test('check url shows each step, and needs no crawl', async (t) => {
  const cwd = await temporaryFolder(t);
  const {code, stdout} = await crawl(['check', 'url', 'HTTP://Example.org/%7Ea?utm_source=x&b=1#top'], {cwd});
  assert.equal(code, 0);
  assert.equal(
    stdout,
    [
      'HTTP://Example.org/%7Ea?utm_source=x&b=1#top',
      '  parse                http://example.org/%7Ea?utm_source=x&b=1#top',
      '  fragment             http://example.org/%7Ea?utm_source=x&b=1',
      '  percent_encoding     http://example.org/~a?utm_source=x&b=1',
      '  tracking_parameters  http://example.org/~a?b=1',
      '  url                  http://example.org/~a?b=1',
      '  surt                 org,example)/~a?b=1',
      '  host                 example.org',
      '  domain               example.org',
      '',
    ].join('\n'),
  );
  const none = await crawl(['check', 'url', '--json', 'http://a b/'], {cwd});
  assert.equal(none.code, 0);
  assert.equal(lines(none.stdout)[0]!.reason, 'url_invalid');
});

test('check scope names rule, file and line of the crawl', async (t) => {
  const cwd = await temporaryFolder(t);
  mkdirSync(join(cwd, 'conf'));
  writeFileSync(join(cwd, 'crawl.yaml'), 'scope:\n  files: [conf/regex-urlfilter.txt]\n  stay: host\n');
  writeFileSync(join(cwd, 'conf/regex-urlfilter.txt'), '# images\n-(?i)\\.gif$\n+.\n');
  const shown = await crawl(['check', 'scope', 'https://example.org/a.GIF'], {cwd});
  assert.equal(
    shown.stdout,
    'https://example.org/a.GIF\n  rejected: scope_rule\n  by  conf/regex-urlfilter.txt:2: -(?i)\\.gif$\n',
  );
  const {code, stdout} = await crawl(['check', 'scope', '--jsonl'], {
    cwd,
    stdin: jsonl([
      {url: 'https://example.org/a.gif'},
      {url: 'b', from: 'https://example.org/a', seed: 'https://www.example.org/', depth: 2},
      {url: 'https://example.com/', seed: 'https://example.org/'},
      {url: 'mailto:a@example.org'},
    ]),
  });
  assert.equal(code, 0);
  const file = 'conf/regex-urlfilter.txt';
  assert.deepEqual(lines(stdout), [
    {
      accepted: false,
      reason: 'scope_rule',
      rule: '-(?i)\\.gif$',
      file,
      line: 2,
      url: 'https://example.org/a.gif',
    },
    {accepted: true, reason: null, rule: '+.', file, line: 3, url: 'https://example.org/b'},
    {
      accepted: false,
      reason: 'scope_seed',
      rule: 'scope.stay host https://example.org/',
      file: null,
      line: null,
      url: 'https://example.com/',
    },
    {
      accepted: false,
      reason: 'scheme',
      rule: 'scope.schemes http https',
      file: null,
      line: null,
      url: 'mailto:a@example.org',
    },
  ]);
  writeFileSync(join(cwd, 'conf/regex-urlfilter.txt'), '+.\nwhat\n');
  const bad = await crawl(['check', 'scope', 'https://example.org/'], {cwd});
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /conf\/regex-urlfilter\.txt:2: expected \+, -, > or </);
});

test('a line that is no question is answered, and told by the exit code', async (t) => {
  const cwd = await temporaryFolder(t);
  const stdin = `{"url":"http://a.org"}\r\n\n{"url":1}\n[]\nnull\n{\n{"url":"http://b.org","text":"\u2028"}`;
  const {code, stdout, stderr} = await crawl(['check', 'url', '--jsonl'], {cwd, stdin});
  assert.equal(code, 6);
  assert.deepEqual(
    lines(stdout).map(({url, error}) => (error === undefined ? url : String(error).split(':')[0])),
    ['http://a.org/', '"url" must be a text', 'not an object', 'not an object', 'not JSON', 'http://b.org/'],
  );
  assert.match(stderr, /4 lines without a question/);
});

test('wrong use is exit code 2, before anything is read', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const argv of [
    ['check'],
    ['check', 'nothing'],
    ['check', 'url'],
    ['check', 'robots', 'robots.txt'],
    ['check', 'robots', 'none.txt', 'http://a.org/'],
    ['check', 'url', '--jsonl', 'none.jsonl'],
    ['check', 'url', 'http://a.org/', '-C', 'none'],
  ])
    assert.equal((await crawl(argv, {cwd})).code, 2, argv.join(' '));
});

test('check robots and check sitemap read files', async (t) => {
  const cwd = await temporaryFolder(t);
  writeFileSync(join(cwd, 'robots.txt'), 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\n');
  const robots = await crawl(
    ['check', 'robots', 'robots.txt', 'https://example.org/private/a', 'https://example.org/'],
    {cwd},
  );
  assert.equal(robots.code, 0);
  assert.match(robots.stdout, /forbidden\n {2}by {2}line 2: /);
  assert.match(robots.stdout, /allowed\n {2}by {2}no rule matches/);
  writeFileSync(
    join(cwd, 'sitemap.xml'),
    '<urlset>\n<url><loc>http://example.org/a</loc></url>\n<url></url>\n</urlset>',
  );
  const sitemap = await crawl(['check', 'sitemap', 'sitemap.xml'], {cwd});
  assert.equal(sitemap.code, 0);
  assert.match(
    sitemap.stdout,
    /^sitemap\.xml\n {2}urlset, 1 entry, 1 problem\n {2}2:\d+ {2}http:\/\/example\.org\/a\n {2}3:\d+ {2}no_loc/,
  );
});

test('the public vectors run through the command', {
  skip: withoutCorpus('vectors/url-relative.json') || withoutCorpus('vectors/robots.json'),
}, async (t) => {
  const cwd = await temporaryFolder(t);
  const casesOf = <C>(file: string) =>
    (JSON.parse(readFileSync(corpus(file)!, 'utf8')) as {cases: C[]}).cases;
  const relative = casesOf<{base: string; href: string; whatwg: string | null}>('vectors/url-relative.json');
  const urls = await crawl(['check', 'url', '--jsonl'], {
    cwd,
    stdin: jsonl(relative.map(({base, href}) => ({url: href, base}))),
  });
  assert.deepEqual(
    lines(urls.stdout).map(({resolved}) => resolved),
    relative.map(({whatwg}) => whatwg),
  );
  const robots = casesOf<{robots: string; agent: string; url: string; allowed: boolean; basis: string}>(
    'vectors/robots.json',
  ).filter(({basis}) => basis === 'rfc9309');
  const answers = await crawl(['check', 'robots', '--jsonl'], {
    cwd,
    stdin: jsonl(robots.map(({robots, agent, url}) => ({robots, agent, url}))),
  });
  assert.deepEqual(
    lines(answers.stdout).map(({allowed}) => allowed),
    robots.map(({allowed}) => allowed),
  );
});
