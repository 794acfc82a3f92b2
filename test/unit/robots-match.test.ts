import assert from 'node:assert/strict';
import {test} from 'node:test';
import {allowAll, denyAll, isAllowed, pathOf, rulesFor} from '../../lib/robots/match.ts';
import {parseRobots} from '../../lib/robots/parse.ts';

const file = (text: string) => parseRobots(Buffer.from(text), {maxBytes: 1_000_000, typos: false});
const rules = (text: string, agent = 'kestrel') => rulesFor(file(text), agent);
/** The line that decides about a path under the given rules, or null. */
const decides = (lines: string[], path: string) =>
  isAllowed(rules(['User-agent: *', ...lines].join('\n')), `https://example.com${path}`).rule;

const cases: readonly [name: string, lines: string[], answers: Record<string, number | null>][] = [
  [
    'longest pattern',
    ['Allow: /a', 'Disallow: /a/b', 'Allow: /a/b/c'],
    {'/a': 0, '/a/b': 1, '/a/b/c': 2, '/b': null},
  ],
  ['Allow where equally long', ['Disallow: /ab', 'Allow: /ab'], {'/ab': 1, '/abc': 1}],
  ['the first of equal rules', ['Disallow: /ab', 'Disallow: /ab'], {'/ab': 0}],
  ['wildcards count', ['Allow: /page', 'Disallow: /*.html'], {'/page.html': 1, '/page': 0, '/x.html': 1}],
  [
    'a star at the end counts too',
    ['Allow: /', 'Disallow: /*', 'Disallow: /a*', 'Allow: /a'],
    {'/b': 1, '/a': 2},
  ],
  ['stars at the end beat a deeper path', ['Disallow: /a***', 'Allow: /ab'], {'/ab': 0, '/a': 0, '/abc': 0}],
  ['$ at the end', ['Disallow: /a$', 'Allow: /a'], {'/a': 0, '/ab': 1, '/a?x': 1}],
  ['$ after a star', ['Disallow: /*/$'], {'/a/': 0, '/a/b': null, '/': null}],
  ['$ alone after a star', ['Disallow: /a*$'], {'/a': 0, '/abc': 0, '/b': null}],
  ['$ in the middle is a character', ['Disallow: /a$b'], {'/a$b': 0, '/a': null, '/a%24b': 0}],
  [
    'star in the middle',
    ['Disallow: /fish*.php'],
    {'/fish.php': 0, '/fishheads/x.php?a': 0, '/fish.html': null},
  ],
  ['parts do not overlap', ['Disallow: /aba*aba$'], {'/aba': null, '/ababa': null, '/abaaba': 0}],
  ['parts in order', ['Disallow: /*x1*x2*x3'], {'/x1x2x3': 0, '/x3x2x1': null, '/-x1--x2--x3-': 0}],
  ['star first', ['Disallow: *.gif$'], {'/a.gif': 0, '/a.gif?x': null}],
  ['only a star', ['Disallow: *'], {'/': 0, '/x': 0}],
  [
    'long parts',
    [`Disallow: /*${'ab'.repeat(20)}c`],
    {[`/${'ab'.repeat(30)}c`]: 0, [`/${'ab'.repeat(30)}`]: null},
  ],
  ['escapes of unreserved characters are the characters', ['Disallow: /%62%61%7A'], {'/baz': 0, '/%62az': 0}],
  ['escapes of reserved characters are not', ['Disallow: /a%2fb'], {'/a%2Fb': 0, '/a/b': null}],
  [
    'UTF-8 and its escapes',
    ['Disallow: /caf\u00E9'],
    {'/caf%C3%A9': 0, '/caf%c3%a9': 0, '/caf\u00E9': 0, '/cafe': null},
  ],
  [
    '%2A and %24 are characters',
    ['Disallow: /a%2Ab', 'Disallow: /c%24'],
    {'/a*b': 0, '/axb': null, '/c$': 1, '/c': null},
  ],
  ['a blank in a rule', ['Disallow: /a b'], {'/a%20b': 0}],
  ['a quote mark, which URLs escape in queries only', ["Disallow: /*q='x"], {"/?q='x": 0, '/?q=%27x': 0}],
  ['a percent sign that is no escape', ['Disallow: /100%'], {'/100%25': 0, '/100%zz': 0, '/100': null}],
  ['a question mark at the end', ['Disallow: /a?'], {'/a?': 0, '/a': null, '/a?b': 0}],
  [
    'characters of regular expressions',
    ['Disallow: /a.b+c(d)[e]'],
    {'/a.b+c(d)[e]': 0, '/aXb+c(d)[e]': null},
  ],
  ['letter case counts in paths', ['Disallow: /Fish'], {'/Fish': 0, '/fish': null}],
  ['no leading slash: no rule', ['Disallow: fish'], {'/fish': null}],
];
for (const [name, lines, answers] of cases) {
  test(name, () => {
    for (const [path, line] of Object.entries(answers)) {
      assert.equal(decides(lines, path), line === null ? null : lines[line], path);
    }
  });
}

test('the answer names the line in the file', () => {
  const answer = isAllowed(
    rules('# hello\r\nUser-agent: *\r\nDisallow: /a # b\r\n'),
    'https://example.com/a',
  );
  assert.deepEqual(answer, {allowed: false, line: 3, rule: 'Disallow: /a'});
});

test('rules of all groups that name us hold, and then none of those for all', () => {
  const text =
    'User-agent: *\nDisallow: /x\n\nUser-agent: Kestrel\nDisallow: /a\n\nUser-agent: kestrel/2\nDisallow: /b\n';
  const ours = rules(text);
  assert.equal(ours.group, 'named');
  assert.deepEqual(
    ['/a', '/b', '/x'].map((path) => isAllowed(ours, path).allowed),
    [false, false, true],
  );
  assert.equal(rules(text, 'heron').group, 'any');
  assert.equal(rules('User-agent: heron\nDisallow: /', 'kestrel').group, 'none');
});

test('a group that names us and has no rules allows all', () => {
  const ours = rules('User-agent: *\nDisallow: /\n\nUser-agent: kestrel\n');
  assert.equal(ours.group, 'named');
  assert.equal(isAllowed(ours, '/a').allowed, true);
});

test('a whole User-Agent header is cut to its token; * is not a name', () => {
  const text = 'User-agent: *\nDisallow: /a\nUser-agent: kestrel\nDisallow: /b';
  assert.equal(rules(text, 'Kestrel/1.0 (+https://example.com)').group, 'named');
  assert.equal(rules(text, '*').group, 'any');
  assert.equal(rules(text, '').group, 'any');
});

test('the longest Crawl-delay of our groups holds, and none of the others', () => {
  const text =
    'User-agent: *\nCrawl-delay: 60\nDisallow: /x\n\nUser-agent: kestrel\nCrawl-delay: 2\nDisallow:\n\nUser-agent: kestrel\nCrawl-delay: 7\n';
  assert.equal(rules(text).crawlDelayS, 7);
  assert.equal(rules(text, 'heron').crawlDelayS, 60);
  assert.equal(rules('User-agent: a\nCrawl-delay: 5\nUser-agent: kestrel\nDisallow: /').crawlDelayS, null);
});

test('/robots.txt is always allowed, its name with a query is a page', () => {
  const all = rules('User-agent: *\nDisallow: /');
  assert.equal(isAllowed(all, 'https://example.com/robots.txt').allowed, true);
  assert.equal(isAllowed(all, 'https://example.com/robots.txt#x').allowed, true);
  assert.equal(isAllowed(all, 'https://example.com/robots.txt?x').allowed, false);
  assert.equal(isAllowed(denyAll, 'https://example.com/robots.txt').allowed, true);
});

test('no file allows all, an unreadable one nothing', () => {
  assert.deepEqual(isAllowed(allowAll, 'https://example.com/a'), {allowed: true, line: null, rule: null});
  assert.deepEqual(isAllowed(denyAll, 'https://example.com/a'), {allowed: false, line: null, rule: null});
});

test('what is matched is path and query of the parsed URL', () => {
  const paths: Record<string, string> = {
    'https://example.com': '/',
    'https://example.com?x=1': '/?x=1',
    'https://example.com/a#b': '/a',
    'https://example.com#/a': '/',
    'https://example.com/a/./b/../c': '/a/c',
    'https://example.com/a/%2e%2E/c': '/c',
    'https://example.com\\a\\b': '/a/b',
    'https://example.com/a?b=../c/./d': '/a?b=../c/./d',
    'https://user@example.com:8080/a': '/a',
    'https://example.com/a?u=http://b.c/': '/a?u=http://b.c/',
    ' https://example.com/a ': '/a',
    '/a/b': '/a/b',
    'https://example.com/a//b': '/a//b',
    'https://example.com/*$': '/%2A%24',
  };
  for (const [url, path] of Object.entries(paths)) assert.equal(pathOf(url), path, url);
});
