import assert from 'node:assert/strict';
import {test} from 'node:test';
import fc from 'fast-check';
import {parseArguments} from '../../cli/arguments.ts';
import {expandKeys} from '../../jobs/query/text.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {CrawlError} from '../../lib/errors.ts';
import {formatValue, parseText} from '../../lib/kinds.ts';
import type {OptionDeclaration, OptionDeclarations, OptionKind} from '../../lib/options.ts';

const declarations = {
  topN: {kind: 'count', min: 1, short: 'n', doc: ''},
  window: {kind: 'duration', doc: ''},
  where: {kind: 'text', doc: ''},
  segments: {kind: 'list', default: [], doc: ''},
  set: {kind: 'map', default: {}, doc: ''},
  parse: {kind: 'flag', default: true, doc: ''},
  quiet: {kind: 'flag', default: false, short: 'q', doc: ''},
} as const satisfies OptionDeclarations;

const word = fc.oneof(
  fc.constantFrom(
    '--top-n',
    '-n',
    '-n5',
    '--top-n=7',
    '--window',
    '--where',
    '--segments',
    '--set',
    '--parse',
    '--no-parse',
  ),
  fc.constantFrom(
    '-q',
    '--quiet',
    '--',
    '-',
    '--__proto__',
    '--constructor=1',
    '--a.b=1',
    '-nq',
    '-_',
    '-q_',
    '--_=x',
    '----',
    '-- a comment',
    'true',
    '5',
    '30s',
    'a=b',
    '',
  ),
  fc.string({maxLength: 8}),
);

test('any line of words is values of the declared kinds, or one usage error', () => {
  fc.assert(
    fc.property(fc.array(word, {maxLength: 8}), (argv) => {
      try {
        const {values, positionals} = parseArguments(argv, declarations, 'help');
        assert.deepEqual(Object.keys(values), Object.keys(declarations));
        const {topN, window, where, segments, parse, quiet} = values;
        assert.ok(topN === undefined || (Number.isSafeInteger(topN) && (topN as number) >= 1));
        assert.ok(window === undefined || Number.isFinite(window));
        assert.ok(where === undefined || (typeof where === 'string' && where !== ''));
        assert.ok(Array.isArray(segments) && typeof parse === 'boolean' && typeof quiet === 'boolean');
        for (const text of positionals) assert.ok(argv.includes(text), 'no argument is made up');
      } catch (error) {
        if (!(error instanceof CrawlError)) throw error;
        assert.equal(error.code, 'USAGE');
      }
    }),
    {numRuns: 2000},
  );
});

test('words that the parser has a use of its own for are told, or stay as they are', () => {
  for (const word of ['-_', '--_', '--_=x', '-q_', '-_=3'])
    assert.throws(() => parseArguments([word, 'x'], declarations, 'help'), {
      code: 'USAGE',
      message: 'unknown option -_',
    });
  const kept = ['-- how many\nSELECT 1', '----', '--', '-_', '-- a file'];
  assert.deepEqual(
    parseArguments(kept, declarations, 'help').positionals,
    kept.filter((word) => word !== '--'),
  );
  const {values} = parseArguments(['--where', '-- all\ntrue'], declarations, 'help');
  assert.equal(values.where, '-- all\ntrue');
});

test('a value is read back from what is written of it', () => {
  const of = (kind: OptionKind): OptionDeclaration => ({kind, doc: ''});
  const whole = fc.nat({max: Number.MAX_SAFE_INTEGER});
  const cases: [OptionKind, fc.Arbitrary<number | string[]>][] = [
    ['count', whole],
    ['duration', whole],
    ['size', whole],
    ['number', fc.double({noNaN: true, noDefaultInfinity: true})],
    [
      'list',
      fc.array(
        fc.stringMatching(/^[a-z,. ]*[a-z]$/).map((text) => text.trim()),
        {minLength: 1},
      ),
    ],
  ];
  for (const [kind, values] of cases)
    fc.assert(
      fc.property(values, (value) => {
        assert.deepEqual(parseText(of(kind), formatValue(of(kind), value)), {
          value: Object.is(value, -0) ? 0 : value,
        });
      }),
    );
});

test('any text as crawl.yaml is a configuration or CONFIG_INVALID', () => {
  const line = fc.oneof(
    fc.constantFrom(
      'fetch:',
      '  window: 8h',
      '  window: [',
      'agent: {name: x}',
      '- a',
      '---',
      '&a',
      '*a',
      '? b',
      '  <<: *a',
      '!!js x',
      'scope: !x',
    ),
    fc.string({maxLength: 12}),
  );
  fc.assert(
    fc.property(fc.array(line, {maxLength: 8}), (lines) => {
      try {
        loadConfig({file: {name: 'crawl.yaml', text: lines.join('\n')}, env: {}});
      } catch (error) {
        if (!(error instanceof CrawlError)) throw error;
        assert.equal(error.code, 'CONFIG_INVALID');
        for (const problem of error.message.split('\n')) assert.match(problem, /^crawl\.yaml:\d+: /);
      }
    }),
    {numRuns: 2000},
  );
});

test('what is no call of a key function stays as it is', () => {
  fc.assert(
    fc.property(fc.string(), (sql) => {
      fc.pre(!/(url|host)_key\s*\(/i.test(sql));
      assert.equal(
        expandKeys(sql, () => 0n),
        sql,
      );
    }),
  );
});
