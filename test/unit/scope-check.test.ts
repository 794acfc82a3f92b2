import assert from 'node:assert/strict';
import {test} from 'node:test';
import type {Config} from '../../lib/config/settings.ts';
import {CrawlError} from '../../lib/errors.ts';
import {checkScope, type ScopeQuestion} from '../../lib/scope/check.ts';
import {makeScope, type RuleFile} from '../../lib/scope/scope.ts';
import {urlPolicy} from '../../lib/url/normalize.ts';
import {defaultConfig} from '../support/url-config.ts';

const policy = urlPolicy(defaultConfig.url);

interface Settings {
  readonly scope?: Partial<Config['scope']>;
  readonly links?: Partial<Config['links']>;
  readonly files?: readonly RuleFile[];
}
function scopeOf({scope = {}, links = {}, files = []}: Settings) {
  return makeScope(
    {...defaultConfig.scope, ...scope},
    defaultConfig.url,
    {...defaultConfig.links, ...links},
    files,
  );
}
/** `accepted`, or reason, then the deciding rule as `file:line: rule`. */
function ask(settings: Settings, question: ScopeQuestion): string {
  const {accepted, reason, rule, file, line} = checkScope(question, policy, scopeOf(settings));
  const place = file === null ? '' : `${file}${line === null ? '' : `:${line}`}: `;
  return [accepted ? 'accepted' : reason, rule === null ? '' : place + rule]
    .filter((part) => part !== '')
    .join(' | ');
}

const seed = 'https://example.org/docs/intro.html';
const from = 'https://www.example.org/docs/a';

const cases: readonly (readonly [string, Settings, ScopeQuestion, string])[] = [
  // Limits
  ['a query is no reason to reject', {}, {url: 'https://example.org/?a=1&b=2'}, 'accepted'],
  ['schemes', {}, {url: 'ftp://example.org/a'}, 'scheme | scope.schemes http https'],
  ['mail addresses', {}, {url: 'mailto:a@example.org', from}, 'scheme | scope.schemes http https'],
  ['not a URL', {}, {url: 'http://exa mple.org/'}, 'url_invalid | not a URL'],
  [
    'length',
    {},
    {url: `https://example.org/${'a'.repeat(2000)}`},
    'url_too_long | 2020 characters, url.max_length is 2000',
  ],
  ['20 segments', {}, {url: `https://example.org${'/a'.repeat(20)}/`}, 'accepted'],
  [
    '21 segments',
    {},
    {url: `https://example.org${'/a'.repeat(21)}`},
    'path_segments | scope.max_path_segments 20',
  ],
  [
    'parameters',
    {scope: {max_query_parameters: 2}},
    {url: 'https://example.org/?a&b&c'},
    'query_parameters | scope.max_query_parameters 2',
  ],
  ['depth', {}, {url: 'https://example.org/', from, depth: 21}, 'depth | scope.max_depth 20'],
  ['depth reached', {}, {url: 'https://example.org/', from, depth: 20}, 'accepted'],
  // Direction
  [
    'internal off',
    {links: {internal: false}},
    {url: 'https://example.org/b', from},
    'internal_off | links.internal',
  ],
  [
    'internal off, redirect',
    {links: {internal: false}},
    {url: 'https://example.org/b', from, hop: 'R'},
    'accepted',
  ],
  [
    'external off',
    {links: {external: false}},
    {url: 'https://example.com/', from},
    'external_off | links.external',
  ],
  ['external off, www', {links: {external: false}}, {url: 'https://example.org/', from}, 'accepted'],
  [
    'external off, redirect',
    {links: {external: false}},
    {url: 'https://example.com/', from, hop: 'R'},
    'external_off | links.external',
  ],
  ['external off, a seed', {links: {external: false}}, {url: 'https://example.com/'}, 'accepted'],
  // What the seed allows
  ['stay any', {}, {url: 'https://example.com/', seed}, 'accepted'],
  ['stay host', {scope: {stay: 'host'}}, {url: 'http://www.example.org/x', seed}, 'accepted'],
  [
    'stay host, another',
    {scope: {stay: 'host'}},
    {url: 'https://a.example.org/', seed},
    `scope_seed | scope.stay host ${seed}`,
  ],
  ['stay domain', {scope: {stay: 'domain'}}, {url: 'https://a.b.example.org/', seed}, 'accepted'],
  [
    'stay domain, another',
    {scope: {stay: 'domain'}},
    {url: 'https://example.com/', seed},
    `scope_seed | scope.stay domain ${seed}`,
  ],
  [
    'stay domain among neighbours of a shared suffix',
    {scope: {stay: 'domain'}},
    {url: 'https://bob.github.io/', seed: 'https://alice.github.io/'},
    'scope_seed | scope.stay domain https://alice.github.io/',
  ],
  ['stay path', {scope: {stay: 'path'}}, {url: 'https://example.org/docs/b/c', seed}, 'accepted'],
  [
    'stay path, above',
    {scope: {stay: 'path'}},
    {url: 'https://example.org/doc', seed},
    `scope_seed | scope.stay path ${seed}`,
  ],
  [
    'the seed line wins',
    {scope: {stay: 'host'}},
    {url: 'https://example.com/', seed, stay: 'any'},
    'accepted',
  ],
  [
    'the seed line wins, narrower',
    {},
    {url: 'https://example.com/', seed, stay: 'host'},
    `scope_seed | scope of the seed host ${seed}`,
  ],
  [
    'a redirect of the seed widens nothing',
    {scope: {stay: 'host'}},
    {url: 'https://example.com/', from: seed, seed, hop: 'R'},
    `scope_seed | scope.stay host ${seed}`,
  ],
  [
    'a seed is not held to another',
    {scope: {stay: 'host'}},
    {url: 'https://example.com/', seed, hop: 'I'},
    'accepted',
  ],
  [
    'a seed that is none',
    {},
    {url: 'https://example.com/', seed: 'example'},
    'url_invalid | seed is not a URL',
  ],
  // Rules
  [
    'first match',
    {scope: {rules: ['- suffix .zip', '+ domain example.org', '- all']}},
    {url: 'https://example.org/a.ZIP?x'},
    'scope_rule | scope.rules:1: - suffix .zip',
  ],
  [
    'first match, second rule',
    {scope: {rules: ['- suffix .zip', '+ domain example.org', '- all']}},
    {url: 'https://a.example.org/'},
    'accepted | scope.rules:2: + domain example.org',
  ],
  [
    'last rule',
    {scope: {rules: ['- suffix .zip', '+ domain example.org', '- all']}},
    {url: 'https://notexample.org/'},
    'scope_rule | scope.rules:3: - all',
  ],
  [
    'otherwise reject',
    {scope: {otherwise: 'reject', rules: ['+ host a.org']}},
    {url: 'https://b.a.org/'},
    'scope_no_rule | scope.otherwise reject',
  ],
  [
    'surt',
    {scope: {rules: ['- surt org,example)/private']}},
    {url: 'https://www.example.org/private/a'},
    'scope_rule | scope.rules:1: - surt org,example)/private',
  ],
  [
    'surt, other host',
    {scope: {rules: ['- surt org,example)/private']}},
    {url: 'https://a.example.org/private/a'},
    'accepted',
  ],
  [
    'surt, all hosts',
    {scope: {rules: ['- surt http://(org,example,']}},
    {url: 'https://a.example.org/b'},
    'scope_rule | scope.rules:1: - surt http://(org,example,',
  ],
  ['surt is by labels', {scope: {rules: ['- surt org,exam']}}, {url: 'https://example.org/b'}, 'accepted'],
  [
    'parameter',
    {scope: {rules: ['- parameter replytocom']}},
    {url: 'https://example.org/?p=1&ReplyToCom=2'},
    'scope_rule | scope.rules:1: - parameter replytocom',
  ],
  [
    'repeats',
    {scope: {rules: ['- repeats 3']}},
    {url: 'https://example.org/a/b/a/b/a/b/'},
    'scope_rule | scope.rules:1: - repeats 3',
  ],
  [
    'repeats at the end',
    {scope: {rules: ['- repeats 3']}},
    {url: 'https://example.org/a/b/a/b/a'},
    'scope_rule | scope.rules:1: - repeats 3',
  ],
  [
    'IDN',
    {scope: {rules: ['- domain bücher.de']}},
    {url: 'https://www.xn--bcher-kva.de/'},
    'scope_rule | scope.rules:1: - domain bücher.de',
  ],
  // Files
  [
    'a file names its line',
    {files: [{file: 'conf/rules.txt', text: '# comment\r\n\r\n- host a.org\r\n'}]},
    {url: 'https://a.org/'},
    'scope_rule | conf/rules.txt:3: - host a.org',
  ],
  [
    'rules come before files',
    {scope: {rules: ['+ host a.org']}, files: [{file: 'rules.txt', text: '- all'}]},
    {url: 'https://a.org/'},
    'accepted | scope.rules:1: + host a.org',
  ],
  [
    'Nutch’s files must all accept',
    {
      files: [
        {file: 'regex-urlfilter.txt', text: '-\\.gif$\n+.\n'},
        {file: 'domaindenylist-urlfilter.txt', text: 'example.com\n'},
      ],
    },
    {url: 'https://www.example.com/'},
    'scope_rule | domaindenylist-urlfilter.txt:1: example.com',
  ],
  [
    'Nutch’s regex form rejects where nothing matches',
    {files: [{file: 'my-rules', text: '+^https://example\\.org/\n'}]},
    {url: 'https://example.com/'},
    'scope_no_rule | my-rules: no rule matches',
  ],
  [
    'Nutch’s prefix form',
    {files: [{file: 'prefix-urlfilter.txt', text: 'https://example.org/\n'}]},
    {url: 'https://example.org/a'},
    'accepted | prefix-urlfilter.txt:1: https://example.org/',
  ],
  [
    'Nutch’s suffix form',
    {files: [{file: 'suffix-urlfilter.txt', text: '+I\n.gif\n'}]},
    {url: 'https://example.org/a.GIF'},
    'scope_rule | suffix-urlfilter.txt:2: .gif',
  ],
  [
    'Nutch’s suffix form, path',
    {files: [{file: 'suffix-urlfilter.txt', text: '+P\n.gif\n'}]},
    {url: 'https://example.org/a.gif?x'},
    'scope_rule | suffix-urlfilter.txt:2: .gif',
  ],
  [
    'Nutch’s suffix form, listed only',
    {files: [{file: 'suffix-urlfilter.txt', text: '.html\n'}]},
    {url: 'https://example.org/a.html'},
    'accepted | suffix-urlfilter.txt:1: .html',
  ],
  [
    'Nutch’s domain form, suffix',
    {files: [{file: 'domain-urlfilter.txt', text: 'org\n'}]},
    {url: 'https://a.example.org/'},
    'accepted | domain-urlfilter.txt:1: org',
  ],
  [
    'Nutch’s domain form, host',
    {files: [{file: 'domain-urlfilter.txt', text: 'a.example.org\n'}]},
    {url: 'https://b.a.example.org/'},
    'scope_no_rule | domain-urlfilter.txt: no rule matches',
  ],
  [
    'Nutch’s automaton form',
    {files: [{file: 'automaton-urlfilter.txt', text: '-.*\\.(gif|png)\n+http://"www.a.org"/@\n'}]},
    {url: 'http://www.a.org/b?c=$'},
    'accepted | automaton-urlfilter.txt:2: +http://"www.a.org"/@',
  ],
  [
    'Nutch’s automaton form, text',
    {files: [{file: 'automaton-urlfilter.txt', text: '+http://"www.a.org"/@\n'}]},
    {url: 'http://www-a.org/'},
    'scope_no_rule | automaton-urlfilter.txt: no rule matches',
  ],
  [
    'Nutch’s automaton form, whole URL',
    {files: [{file: 'automaton-urlfilter.txt', text: '-.*\\.gif\n+.*[$^]?'}]},
    {url: 'http://a.org/b.gif?c'},
    'accepted | automaton-urlfilter.txt:2: +.*[$^]?',
  ],
  // Embeds
  [
    'embeds are off',
    {},
    {url: 'https://cdn.example.net/a.png', from, seed, hop: 'E'},
    'embed_off | scope.embeds',
  ],
  [
    'off-host embeds',
    {scope: {embeds: true, stay: 'host'}},
    {url: 'https://cdn.example.net/a.png', from, seed, hop: 'E'},
    'accepted | scope.embeds',
  ],
  [
    'embeds where nothing else is accepted',
    {scope: {embeds: true, otherwise: 'reject', rules: ['+ domain example.org']}},
    {url: 'https://cdn.example.net/a.png', from, seed, hop: 'E'},
    'accepted | scope.embeds',
  ],
  [
    'one hop: what an embed off-host embeds is out',
    {scope: {embeds: true, stay: 'host'}},
    {url: 'https://fonts.example.com/f', from: 'https://cdn.example.net/a.css', seed, hop: 'E'},
    `scope_seed | scope.stay host ${seed}`,
  ],
  [
    'a link in an embedded page is no embed',
    {scope: {embeds: true, stay: 'host'}},
    {url: 'https://cdn.example.net/', from: 'https://cdn.example.net/frame', seed},
    `scope_seed | scope.stay host ${seed}`,
  ],
  [
    'a rule rejects embeds too',
    {scope: {embeds: true, rules: ['- domain example.net'], stay: 'host'}},
    {url: 'https://cdn.example.net/a.png', from, seed, hop: 'E'},
    'scope_rule | scope.rules:1: - domain example.net',
  ],
  [
    'a limit rejects embeds too',
    {scope: {embeds: true}},
    {url: 'data:image/png;base64,AA', from, seed, hop: 'E'},
    'scheme | scope.schemes http https',
  ],
  [
    'embeds of the deepest pages',
    {scope: {embeds: true, max_depth: 3}},
    {url: 'https://example.org/a.png', from, seed, depth: 4, hop: 'E'},
    'accepted | scope.embeds',
  ],
  [
    'embeds where external is off',
    {scope: {embeds: true}, links: {external: false}},
    {url: 'https://cdn.example.net/a.png', from, seed, hop: 'E'},
    'accepted | scope.embeds',
  ],
];

for (const [name, settings, question, expected] of cases)
  test(name, () => assert.equal(ask(settings, question), expected));

test('a bad rule is an error with file and line', () => {
  const bad: readonly (readonly [string, RegExp])[] = [
    ['domain example.org', /^rules\.txt:2: expected \+ or -/],
    ['+ domian example.org', /^rules\.txt:2: unknown kind domian/],
    ['+ domain', /^rules\.txt:2: domain needs a value/],
    ['+ host http://example.org/', /^rules\.txt:2: not a host name/],
    ['- length many', /^rules\.txt:2: length needs a number/],
    ['- regex (', /^rules\.txt:2: bad regular expression/],
    ['- regex (a)\\1', /^rules\.txt:2: bad regular expression/],
    ['- surt org,example)private', /^rules\.txt:2: a SURT path begins with/],
    ['- repeats 1', /^rules\.txt:2: repeats needs a number of 2 or more/],
    ['- type video', /^rules\.txt:2: not a media type/],
    ['- all of it', /^rules\.txt:2: all takes no value/],
  ];
  for (const [rule, message] of bad)
    assert.throws(
      () => scopeOf({files: [{file: 'rules.txt', text: `+ host a.org\n${rule}\n`}]}),
      (error) =>
        error instanceof CrawlError && error.code === 'CONFIG_INVALID' && message.test(error.message),
      rule,
    );
});

test('what RE2 has no form for is an error, not another rule', () => {
  for (const [file, text, message] of [
    ['automaton-urlfilter.txt', '-.*&.*', /^automaton-urlfilter\.txt:1: not taken: the operator &/],
    ['automaton-urlfilter.txt', '-"abc', /^automaton-urlfilter\.txt:1: not taken: a " that is not closed/],
    [
      'regex-urlfilter.txt',
      '-[a-z&&[^b]]',
      /^regex-urlfilter\.txt:1: bad regular expression .*no intersection/,
    ],
    ['regex-urlfilter.txt', '-(a)\\1', /^regex-urlfilter\.txt:1: bad regular expression/],
    ['regex-urlfilter.txt', '-(?!a)', /^regex-urlfilter\.txt:1: bad regular expression/],
  ] as const)
    assert.throws(
      () => scopeOf({files: [{file, text}]}),
      (error) => error instanceof CrawlError && message.test(error.message),
      text,
    );
});

test('content types', () => {
  const scope = scopeOf({scope: {reject_types: ['video/*', 'application/zip']}});
  assert.equal(scope.checkType('Video/MP4; codecs="x"').accepted, false);
  assert.deepEqual(scope.checkType('application/zip'), {
    accepted: false,
    reason: 'content_type',
    rule: 'scope.reject_types application/zip',
  });
  assert.equal(scope.checkType('text/html').accepted, true);
});

test('content types by rule: the first decides, before the setting, and is named', () => {
  const scope = scopeOf({
    scope: {reject_types: ['video/*'], rules: ['+ type video/mp4', '- type video/* Application/Zip']},
  });
  assert.deepEqual(scope.checkType('video/mp4'), {
    accepted: true,
    rule: 'scope.rules:1: + type video/mp4',
    file: 'scope.rules',
    line: 1,
  });
  assert.deepEqual(scope.checkType('application/zip'), {
    accepted: false,
    reason: 'content_type',
    rule: 'scope.rules:2: - type video/* Application/Zip',
    file: 'scope.rules',
    line: 2,
  });
  assert.equal(scope.check({url: 'https://example.org/video/', depth: 1, hopType: 'L'}).accepted, true);
});

test('the digest is of all that decides and of nothing else', () => {
  const digest = (settings: Settings) => scopeOf(settings).digest;
  const plain = digest({});
  assert.equal(digest({}), plain);
  const others = [
    digest({scope: {stay: 'host'}}),
    digest({scope: {rules: ['- all']}}),
    digest({scope: {max_depth: 3}}),
    digest({links: {external: false}}),
    digest({files: [{file: 'a', text: '- all'}]}),
    digest({files: [{file: 'a', text: '+ all'}]}),
  ];
  assert.equal(new Set([plain, ...others]).size, 7);
  assert.equal(digest({links: {max_anchor: 3}}), plain);
});
