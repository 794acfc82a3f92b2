import assert from 'node:assert/strict';
import {test} from 'node:test';
import {settingsByName} from '../../lib/config/load.ts';
import {
  defaultValue,
  formatDuration,
  formatSize,
  formatValue,
  type KindValue,
  parseData,
  parseText,
  parseTexts,
} from '../../lib/kinds.ts';
import type {OptionDeclaration, OptionKind} from '../../lib/options.ts';

const of = (kind: OptionKind, more: Partial<OptionDeclaration> = {}): OptionDeclaration => ({
  kind,
  doc: '',
  ...more,
});

const good: readonly [OptionKind, string, KindValue][] = [
  ['flag', 'true', true],
  ['flag', 'no', false],
  ['count', '0', 0],
  ['count', '50_000', 50_000],
  ['number', '-0.5', -0.5],
  ['number', '1e3', 1000],
  ['duration', '300ms', 300],
  ['duration', '30s', 30_000],
  ['duration', '1.5m', 90_000],
  ['duration', '12h', 43_200_000],
  ['duration', '30d', 2_592_000_000],
  ['duration', '0', 0],
  ['size', '512', 512],
  ['size', '64KiB', 65_536],
  ['size', '1GB', 1_000_000_000],
  ['size', '1.5 mib', 1_572_864],
  ['rate', '10/s', 10],
  ['rate', '600/min', 10],
  ['rate', '5MiB/s', 5_242_880],
  ['list', 'a, b,c', ['a', 'b', 'c']],
  ['list', 'a\\,b,c', ['a,b', 'c']],
  ['list', '', []],
  ['map', 'a:80=b:1,c=d=e', {'a:80': 'b:1', c: 'd=e'}],
];
for (const [kind, text, value] of good)
  test(`${kind} ${JSON.stringify(text)} is read`, () => assert.deepEqual(parseText(of(kind), text), {value}));

const bad: readonly [OptionKind, string, RegExp][] = [
  ['flag', 'maybe', /not true or false/],
  ['text', '', /empty/],
  ['count', 'abc', /not a whole number/],
  ['count', '1.5', /not a whole number/],
  ['count', '-1', /not a whole number/],
  ['count', '99999999999999999999', /too large/],
  ['count', '', /not a whole number/],
  ['number', 'NaN', /not a number/],
  ['number', 'Infinity', /not a number/],
  ['number', '0x10', /not a number/],
  ['duration', '30', /no unit: write 30s/],
  ['duration', '30 parsecs', /unit parsecs; known are ms s m h d/],
  ['duration', '-5s', /not a number with its unit/],
  ['size', '10XB', /unit XB/],
  ['size', 'big', /not bytes/],
  ['rate', '10', /not an amount per time/],
  ['rate', '10/fortnight', /per fortnight/],
  ['map', 'a', /not KEY=VALUE/],
  ['map', 'a=1,a=2', /given twice/],
];
for (const [kind, text, problem] of bad)
  test(`${kind} ${JSON.stringify(text)} is refused`, () => {
    const parsed = parseText(of(kind), text);
    assert.ok('problem' in parsed, JSON.stringify(parsed));
    assert.match(parsed.problem, problem);
  });

test('bounds and choices name what is allowed', () => {
  const count = of('count', {min: 1, max: 64});
  assert.deepEqual(parseText(count, '64'), {value: 64});
  assert.deepEqual(parseText(count, '0'), {problem: '0 is less than 1'});
  assert.deepEqual(parseText(count, '65'), {problem: '65 is more than 64'});
  const choice = of('choice', {values: ['any', 'host']});
  assert.deepEqual(parseText(choice, 'host'), {value: 'host'});
  assert.deepEqual(parseText(choice, 'Host'), {problem: 'Host is none of: any, host'});
});

test('only lists and maps may be repeated; a map keeps its commas on the command line', () => {
  assert.deepEqual(parseTexts(of('count'), ['1', '2']), {problem: 'it is given 2 times'});
  assert.deepEqual(parseTexts(of('list'), ['a,b', 'c']), {value: ['a', 'b', 'c']});
  assert.deepEqual(parseTexts(of('map'), ['accept=a,b']), {value: {accept: 'a,b'}});
});

test('YAML values keep their kind', () => {
  assert.deepEqual(parseData(of('count'), 5), {value: 5});
  assert.deepEqual(parseData(of('size'), 1e21), {problem: '1000000000000000000000 is too large'});
  assert.deepEqual(parseData(of('list'), ['a', 1]), {value: ['a', '1']});
  assert.deepEqual(parseData(of('map'), {a: 80}), {value: {a: '80'}});
  for (const [kind, data] of [
    ['flag', 'true'],
    ['count', true],
    ['text', 5],
    ['list', 'a'],
    ['list', [['a']]],
    ['map', ['a=b']],
    ['duration', 30],
    ['count', null],
    ['choice', 5],
  ] as const)
    assert.ok('problem' in parseData(of(kind), data), `${kind} ${JSON.stringify(data)}`);
});

test('durations and sizes are written with the largest exact unit', () => {
  assert.deepEqual([0, 1, 1000, 90_000, 86_400_000].map(formatDuration), ['0s', '1ms', '1s', '90s', '1d']);
  assert.deepEqual([0, 1023, 1024, 65_536, 2e9].map(formatSize), ['0', '1023', '1KiB', '64KiB', '2GB']);
});

test('each default of the settings is read, and what is written of it is read as the same', () => {
  for (const [name, declaration] of settingsByName) {
    const value = defaultValue(declaration);
    if (value === undefined) continue;
    assert.deepEqual(parseText(declaration, formatValue(declaration, value)), {value}, name);
  }
});
