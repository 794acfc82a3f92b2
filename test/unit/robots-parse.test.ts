import assert from 'node:assert/strict';
import {test} from 'node:test';
import {agentToken, maxNotes, parseRobots} from '../../lib/robots/parse.ts';

const options = {maxBytes: 500 * 1024, typos: false};
const parse = (text: string | Uint8Array, more: Partial<typeof options> = {}) =>
  parseRobots(typeof text === 'string' ? Buffer.from(text) : text, {...options, ...more});
const rulesOf = (text: string | Uint8Array, more: Partial<typeof options> = {}) =>
  parse(text, more).groups.flatMap((group) => group.rules.map((rule) => rule.octets));

test('groups, rules and their lines', () => {
  const file = parse(
    'User-agent: a\nUser-agent: B\n\n# x\nDisallow: /p # why\nAllow: /q\nUser-agent: *\nDisallow:\n',
  );
  assert.deepEqual(file.groups, [
    {
      agents: [
        {token: 'a', line: 1},
        {token: 'b', line: 2},
      ],
      rules: [
        {allow: false, octets: '/p', line: 5},
        {allow: true, octets: '/q', line: 6},
      ],
      delays: [],
    },
    {agents: [{token: '*', line: 7}], rules: [], delays: []},
  ]);
});

for (const [name, end] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
] as const) {
  test(`${name} ends a line, and lines are counted by it`, () => {
    const {groups} = parse(['User-agent: *', 'Disallow: /a', '', 'Disallow: /b'].join(end));
    assert.deepEqual(
      groups[0]!.rules.map(({octets, line}) => [octets, line]),
      [
        ['/a', 2],
        ['/b', 4],
      ],
    );
  });
}

for (const line of [
  'Frobnicate: yes',
  'Crawl-delay: 5',
  'Sitemap: https://example.com/s.xml',
  '',
  '# x',
  'junk',
]) {
  test(`"${line}" between agent lines does not part them`, () => {
    const {groups} = parse(`User-agent: a\n${line}\nUser-agent: b\nDisallow: /`);
    assert.deepEqual(
      groups.map(({agents}) => agents.map(({token}) => token)),
      [['a', 'b']],
    );
  });
}

test('an empty rule parts groups as any rule does', () => {
  assert.equal(parse('User-agent: a\nDisallow:\nUser-agent: b\nDisallow: /').groups.length, 2);
});

test('a byte order mark is no part of the first key', () => {
  assert.deepEqual(rulesOf('\uFEFFUser-agent: *\nDisallow: /a'), ['/a']);
});

test('UTF-16 files are read, with and without byte order mark', () => {
  const text = 'User-agent: *\r\nDisallow: /caf\u00E9\r\n';
  const little = Buffer.from(text, 'utf16le');
  const big = Buffer.from(little).swap16();
  for (const [bytes, encoding] of [
    [Buffer.concat([Buffer.from([0xff, 0xfe]), little]), 'utf-16le'],
    [Buffer.concat([Buffer.from([0xfe, 0xff]), big]), 'utf-16be'],
    [little, 'utf-16le'],
    [big, 'utf-16be'],
  ] as const) {
    assert.deepEqual(rulesOf(bytes), ['/caf\u00C3\u00A9']);
    assert.equal(parse(bytes).encoding, encoding);
  }
});

test('NUL bytes are dropped', () => {
  assert.deepEqual(rulesOf('User-agent: *\nDis\0allow: /a\0b'), ['/ab']);
});

test('bytes that are no UTF-8 stay bytes', () => {
  assert.deepEqual(rulesOf(Buffer.from('User-agent: *\nDisallow: /caf\xE9\xA0', 'latin1')), ['/caf\xE9\xA0']);
});

test('beyond maxBytes nothing is read, and the line that was cut does not count', () => {
  const text = 'User-agent: *\nDisallow: /a\nDisallow: /private\n';
  const whole = parse(text);
  assert.equal(whole.truncated, false);
  const cut = parse(text, {maxBytes: text.length - '/private\n'.length + 1}); // would be "Disallow: /"
  assert.equal(cut.truncated, true);
  assert.deepEqual(
    cut.groups[0]!.rules.map(({octets}) => octets),
    ['/a'],
  );
});

test('Crawl-delay: decimal seconds; anything else is no delay', () => {
  const delay = (value: string) =>
    parse(`User-agent: *\nCrawl-delay: ${value}`).groups[0]!.delays[0]?.seconds ?? null;
  const cases: Record<string, number | null> = {
    '10': 10,
    '0.5': 0.5,
    '.5': 0.5,
    '0,5': 0.5,
    '1.': 1,
    '10 s': 10,
    '10 seconds': 10,
    '-1': null,
    '-inf': null,
    '1e3': null,
    ten: null,
    '': null,
    '1/5': null,
    '99999999999999': 31_536_000,
  };
  for (const [value, seconds] of Object.entries(cases)) assert.equal(delay(value), seconds, value);
});

test('a Crawl-delay holds for the agents above it', () => {
  const [group] = parse('User-agent: a\nCrawl-delay: 5\nUser-agent: b\nDisallow: /').groups;
  assert.deepEqual(group!.delays, [{seconds: 5, line: 2, agents: 1}]);
});

test('sitemaps belong to no group and keep their text', () => {
  const file = parse('Sitemap: https://example.com/a.xml\nUser-agent: *\nSITEMAP:/b.xml\nSitemap:\n');
  assert.deepEqual(file.sitemaps, [
    {url: 'https://example.com/a.xml', line: 1},
    {url: '/b.xml', line: 3},
  ]);
});

test('misspelled keys and a missing colon count only with typos', () => {
  const text =
    'Useragent: *\nDisalow: /a\ndissallow /b\nDissalow: /c\nDisallaw: /d\nDiasllow: /e\nSite-map: /s\n';
  assert.deepEqual(rulesOf(text), []);
  assert.deepEqual(rulesOf(text, {typos: true}), ['/a', '/b', '/c', '/d', '/e']);
  assert.equal(parse(text, {typos: true}).sitemaps.length, 1);
});

test('lines without effect are noted with their reason, and not without end', () => {
  const file = parse('Disallow: /a\nUser-agent: (x)\nfoo: bar\nno colon\nDisallow: a\nCrawl-delay: x\n');
  assert.deepEqual(
    file.notes.map(({problem, line}) => [line, problem]),
    [
      [1, 'no_agent'],
      [2, 'bad_agent'],
      [3, 'unknown_key'],
      [4, 'no_colon'],
      [5, 'bad_pattern'],
      [6, 'bad_delay'],
    ],
  );
  assert.equal(parse('x\n'.repeat(5000)).notes.length, maxNotes);
});

test('the product token is the start of the value', () => {
  const cases: Record<string, string> = {
    Kestrel: 'kestrel',
    'Kestrel/1.0': 'kestrel',
    'kestrel (+https://example.com/bot)': 'kestrel',
    'kestrel, heron': 'kestrel',
    'Kestrel Bot': 'kestrel',
    'kes*': 'kes',
    MJ12bot: 'mj12bot',
    'a_b-c': 'a_b-c',
    '*': '*',
    '* baz': '*',
    '*bot': '',
    '(x)': '',
    '': '',
  };
  for (const [value, token] of Object.entries(cases)) assert.equal(agentToken(value), token, value);
});

test('names of the prototype are no keys', () => {
  assert.deepEqual(rulesOf('constructor: x\n__proto__: y\nUser-agent: constructor\nDisallow: /a'), ['/a']);
});
