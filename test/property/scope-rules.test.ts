import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {CrawlError} from '../../lib/errors.ts';
import type {HopType} from '../../lib/schema/status.ts';
import {nutchForms, parseNutchFile} from '../../lib/scope/nutch-forms.ts';
import {parseOwnRules} from '../../lib/scope/own-form.ts';
import {repeatsAlternately, repeatsSegment} from '../../lib/scope/repeats.ts';
import {firstMatch, firstMatchPlain} from '../../lib/scope/rule-list.ts';
import {type LinkFacts, makeScope} from '../../lib/scope/scope.ts';
import {targetOf} from '../../lib/scope/target.ts';
import {normalizeUrl, urlPolicy} from '../../lib/url/normalize.ts';
import {defaultConfig} from '../support/url-config.ts';
import {urlText} from '../support/url-samples.ts';

const {url, links, scope} = defaultConfig;
const policy = urlPolicy(url);

const host = fc
  .array(fc.constantFrom('a', 'b', 'www', 'www2', 'example', 'org', 'com', 'co', 'uk'), {
    minLength: 1,
    maxLength: 5,
  })
  .map((labels) => labels.join('.'));
const path = fc
  .array(
    fc.constantFrom(
      '/',
      '/a',
      '/b',
      '/a.zip',
      '/A.ZIP',
      '/x.tar.gz',
      '/a/b/',
      '?q=1',
      '?a=1&b=2',
      '&replytocom=3',
    ),
    {maxLength: 6},
  )
  .map((parts) => `/${parts.join('')}`);
const target = fc
  .tuple(fc.constantFrom('http', 'https'), host, path, fc.nat(30))
  .map(([scheme, name, rest, depth]) =>
    targetOf(`${scheme}://${name}${rest.replace(/\/{2,}/g, '/')}`, depth),
  );
const rule = fc
  .tuple(
    fc.constantFrom('+', '-'),
    fc.oneof(
      host.map((name) => `host ${name}`),
      host.map((name) => `domain ${name}`),
      fc.tuple(host, path).map(([name, rest]) => `surt ${name.split('.').reverse().join(',')})${rest}`),
      host.map((name) => `surt ${name.split('.').reverse().join(',')}`),
      fc.tuple(host, path).map(([name, rest]) => `prefix http://${name}${rest}`),
      fc.constantFrom(
        'suffix .zip',
        'suffix .gz .zip',
        'suffix /b/',
        'scheme https',
        'parameter replytocom a*',
      ),
      fc.constantFrom(
        'regex \\.zip$',
        'regex ^http:',
        'length 40',
        'depth 12',
        'segments 2',
        'parameters 1',
        'repeats 2',
        'all',
      ),
    ),
  )
  .map(([sign, rest]) => `${sign} ${rest}`);

test('look-ups find the rule that asking one after the other finds', () => {
  fc.assert(
    fc.property(
      fc.array(rule, {maxLength: 12}),
      fc.array(target, {minLength: 1, maxLength: 8}),
      (texts, targets) => {
        const rules = parseOwnRules(
          texts.map((text, index) => [index + 1, text] as const),
          'rules',
        );
        const [fast, plain] = [firstMatch(rules), firstMatchPlain(rules)];
        for (const one of targets) assert.equal(fast(one)?.line, plain(one)?.line, one.url);
      },
    ),
    {numRuns: 3000},
  );
});

test('repeated segments are those that the back-references find', () => {
  const text = fc
    .array(fc.constantFrom('/', 'a', 'b', '/a', '/b', '/a/', 'http:', '?'), {maxLength: 20})
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, (one) => {
      assert.equal(repeatsSegment(one, 3), /.*(\/.+?)\/.*?\1\/.*?\1\//.test(one), one);
      assert.equal(repeatsSegment(one, 2), /(\/.+?)\/.*?\1\//.test(one), one);
      assert.equal(repeatsAlternately(one, 3), /.*(\/[^/]+)\/[^/]+\1\/[^/]+\1\//.test(one), one);
    }),
    {numRuns: 20_000},
  );
});

test('a rule file of any text is rules or an error with file and line', () => {
  const words = fc.constantFrom(
    ...[
      '+',
      '-',
      '>',
      '<',
      '#',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '\t',
      'domain',
      'host',
      'regex',
      'surt',
      'suffix',
      '.zip',
      '.*',
    ],
    ...[
      'example.org',
      'Host',
      'Domain',
      '.',
      'DenyPath',
      'DenyPathQuery',
      '(',
      '[a-',
      '\\1',
      '(?=x)',
      'org,example)/',
      'P',
      'I',
    ],
    ...['length', '12', '-1', 'all', '\ufeff', '\0', 'ü'],
  );
  const text = fc.oneof(
    fc.array(words, {maxLength: 30}).map((parts) => parts.join('')),
    fc.string({unit: 'binary', maxLength: 80}),
  );
  fc.assert(
    fc.property(text, fc.constantFrom('own', ...nutchForms), (content, form) => {
      try {
        if (form === 'own') {
          makeScope({...scope, rules: [content]}, url, links, [{file: 'rules.txt', text: content}]);
          return;
        }
        const filter = parseNutchFile(form, content, 'rules.txt');
        const verdict = filter(targetOf('http://example.org/a?b', 1));
        if (verdict.rule) assert.ok(verdict.rule.line >= 1);
      } catch (error) {
        assert.ok(error instanceof CrawlError && error.code === 'CONFIG_INVALID', String(error));
        assert.match(error.message, /^(?:rules\.txt|scope\.rules):\d+: /);
      }
    }),
    {numRuns: 4000},
  );
});

test('a verdict is given for any normalized URL, names its reason, and is the same again', () => {
  const scopes = [
    makeScope(scope, url, links, []),
    makeScope(
      {
        ...scope,
        embeds: true,
        stay: 'host',
        otherwise: 'reject',
        rules: ['+ domain example.org', '- regex b'],
      },
      url,
      links,
      [],
    ),
    makeScope(scope, url, {...links, external: false, internal: false}, [
      {file: 'regex-urlfilter.txt', text: '-a\n+.'},
    ]),
  ];
  const hop = fc.constantFrom<HopType>('I', 'L', 'E', 'R', 'S');
  fc.assert(
    fc.property(urlText, urlText, urlText, hop, fc.nat(40), (to, from, seed, hopType, depth) => {
      const [a, b, c] = [to, from, seed].map((text) => normalizeUrl(text, policy));
      if (!(a && 'url' in a && b && 'url' in b && c && 'url' in c)) return;
      for (const one of scopes) {
        const facts: LinkFacts = {url: a.url, from: b.url, seed: c.url, hopType, depth};
        const verdict = one.check(facts);
        assert.deepEqual(one.check(facts), verdict);
        if (!verdict.accepted) assert.ok(verdict.rule);
      }
    }),
    {numRuns: 3000},
  );
});
