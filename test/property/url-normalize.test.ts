import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {CrawlError} from '../../lib/errors.ts';
import {identify} from '../../lib/url/keys.ts';
import {
  explainUrl,
  normalizePlain,
  normalizeUrl,
  type UrlPolicy,
  urlPolicy,
} from '../../lib/url/normalize.ts';
import {defaultConfig} from '../support/url-config.ts';
import {corpusUrls, mutated, urlText} from '../support/url-samples.ts';

const base = defaultConfig.url;
const everything = {
  ...base,
  sort_parameters: true,
  collapse_slashes: true,
  strip_www: true,
  strip_parameters: ['a', 'x*'],
  keep_parameters: ['gclid'],
};
const rules =
  '^http://\thttps://\n/index\\.html$\t/\n@domain example.org\n:strip b\n:sort\n(\\d)\\.php\t$1\n';
const policies: readonly (readonly [string, UrlPolicy])[] = [
  ['defaults', urlPolicy(base)],
  ['no stripping', urlPolicy({...base, strip_tracking: false, strip_session_ids: false})],
  ['every step', urlPolicy(everything)],
  ['rules', urlPolicy(base, {text: rules, file: 'rules.txt'})],
  ['rules that never settle', urlPolicy(base, {text: 'a\taa\n', file: 'rules.txt'})],
];
const real = corpusUrls();
const texts =
  real.length === 0
    ? urlText
    : fc.oneof(urlText, fc.constantFrom(...real), mutated(fc.constantFrom(...real)));
const bases = fc.oneof(
  fc.constant(undefined),
  fc.constantFrom(
    ...['https://example.org/dir/page.html', 'http://user@www.example.org:8080/a/b/?q=1#f', 'http://h/'],
    ...[
      'mailto:a@b',
      'file:///a/b',
      'nonsense',
      'https://example.org/a//b/%7Ec/./x?utm_source=1',
      'http://1.2.3.4/x/',
    ],
  ),
  texts,
);

for (const [name, policy] of policies) {
  // Those that never settle go through their passes for every text
  const numRuns = name === 'rules that never settle' ? 400 : 2000;
  test(`normalizing twice is once, and any text is a URL or a reason: ${name}`, () => {
    fc.assert(
      fc.property(texts, bases, (text, from) => {
        const once = normalizeUrl(text, policy, from);
        if (!('url' in once))
          return assert.ok(once.reason === 'url_invalid' || once.reason === 'url_too_long');
        assert.deepEqual(normalizeUrl(once.url, policy), once);
        assert.deepEqual(normalizePlain(once.url, policy), once);
        assert.ok(!once.url.includes('#'));
        identify(once.url);
      }),
      {numRuns},
    );
  });

  test(`the short way and the plain way agree: ${name}`, () => {
    fc.assert(
      fc.property(texts, bases, (text, from) => {
        assert.deepEqual(normalizeUrl(text, policy, from), normalizePlain(text, policy, from));
      }),
      {numRuns: 2 * numRuns},
    );
  });
}

test('an explanation ends in the result, and each of its steps changed something', () => {
  for (const [, policy] of policies)
    fc.assert(
      fc.property(texts, bases, (text, from) => {
        const {steps, result} = explainUrl(text, policy, from);
        assert.deepEqual(result, normalizeUrl(text, policy, from));
        let before = text;
        for (const step of steps) {
          assert.notEqual(step.url, before);
          before = step.url;
        }
        if ('url' in result) assert.equal(before, result.url);
      }),
      {numRuns: 500},
    );
});

test('a URL of http or https is ASCII in the characters of RFC 3986 alone', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const result = normalizeUrl(text, policies[0]![1]);
      if (!('url' in result) || !/^https?:/.test(result.url)) return;
      assert.match(
        result.url,
        /^https?:\/\/(?:\[[0-9a-f:]+\]|[^/?#[\]@]+)(?::\d+)?\/(?:[\w\-.~!$&'()*+,;=:@/?]|%[0-9A-F]{2})*$/,
      );
    }),
    {numRuns: 2000},
  );
});

test('the settings that remove nothing leave what a server sees as the same text once decoded', () => {
  const policy = policies[1]![1];
  const decode = (text: string) => {
    const bytes = Buffer.from(text, 'utf8').toString('latin1');
    return bytes.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  };
  fc.assert(
    fc.property(texts, (text) => {
      const result = normalizeUrl(text, policy);
      if (!('url' in result) || !/^https?:/.test(result.url)) return;
      const parsed = new URL(text);
      const after = new URL(result.url);
      assert.equal(decode(after.pathname), decode(parsed.pathname));
      assert.equal(decode(after.search), decode(parsed.search));
    }),
    {numRuns: 2000},
  );
});

test('a rule file of any text is a policy that never throws, or an error with file and line', () => {
  const words = fc.constantFrom(
    ...[
      '\t',
      '\n',
      '\r\n',
      '#',
      '@all',
      '@domain ',
      '@host ',
      'example.org',
      ':strip ',
      ':keep ',
      ':sort',
      ' ',
      'a',
    ],
    ...[
      '(a)',
      '(?<n>h)',
      '(?:t|x)*',
      '[a-z]+',
      '^',
      '$',
      '.*',
      '$1',
      '$2',
      '$' + '{n}',
      '\\',
      '\\$',
      '\\1',
      '(?!a)',
      '\ufeff',
    ],
    ...[
      '<regex-normalize>',
      '<regex>',
      '</regex>',
      '<pattern>',
      '</pattern>',
      '<substitution>',
      '</substitution>',
    ],
    ...['<substitution/>', '<!--', '-->', '&amp;', '&#x110000;', '&#0;'],
  );
  const text = fc.oneof(
    fc.array(words, {maxLength: 25}).map((parts) => parts.join('')),
    fc.array(words, {maxLength: 12}).map((parts) => `<regex-normalize><regex><pattern>${parts.join('')}`),
    fc.string({unit: 'binary', maxLength: 60}),
  );
  fc.assert(
    fc.property(text, texts, (rules, input) => {
      let policy: UrlPolicy;
      try {
        policy = urlPolicy(base, {text: rules, file: 'rules.txt'});
      } catch (error) {
        assert.ok(error instanceof CrawlError && error.code === 'CONFIG_INVALID', String(error));
        assert.match(error.message, /^rules\.txt:\d+: /);
        return;
      }
      const once = normalizeUrl(input, policy);
      if ('url' in once) assert.deepEqual(normalizeUrl(once.url, policy), once);
    }),
    {numRuns: 4000},
  );
});
