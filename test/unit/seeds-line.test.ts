import assert from 'node:assert/strict';
import {test} from 'node:test';
import {parseSeedLine} from '../../lib/seeds/line.ts';

const nothing = {
  score: null,
  interval_s: null,
  fixed: false,
  tag: null,
  group: null,
  scope: null,
  metadata: null,
};

test('lines that say something', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['http://a.test/', {}],
    ['  http://a.test/  ', {}],
    ['http://a.test/\t', {}],
    ['http://a.test/\tnutch.score=1.5', {score: 1.5}],
    ['http://a.test/\tscore=-2', {score: -2}],
    ['http://a.test/\tscore=1e3', {score: 1000}],
    ['http://a.test/\tnutch.fetchInterval=86400', {interval_s: 86_400}],
    ['http://a.test/\tinterval=1.5d', {interval_s: 129_600}],
    ['http://a.test/\tnutch.fetchInterval.fixed=60', {interval_s: 60, fixed: true}],
    ['http://a.test/\tinterval=1d\tfixed_interval=2h', {interval_s: 7200, fixed: true}],
    ['http://a.test/\ttag=t\tgroup=g\tscope=host', {tag: 't', group: 'g', scope: 'host'}],
    ['http://a.test/\tcolour=a=b\tempty=', {metadata: {colour: 'a=b', empty: ''}}],
    ['http://a.test/\t__proto__=x', {metadata: Object.fromEntries([['__proto__', 'x']])}],
  ];
  for (const [line, expected] of cases)
    assert.deepEqual(parseSeedLine(line), {seed: {url: 'http://a.test/', ...nothing, ...expected}}, line);
});

test('lines that say nothing', () => {
  for (const line of ['', '   ', '\t', '# http://a.test/', '  #x'])
    assert.equal(parseSeedLine(line), null, line);
});

test('lines that cannot be read are told with what is wrong', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['score=abc', /score=abc is not a number/],
    ['score=', /not a number/],
    ['nutch.score=NaN', /not a number/],
    ['score=1e999', /not a number/],
    ['score=0x10', /not a number/],
    ['interval=0', /not an interval/],
    ['interval=-5', /not an interval/],
    ['interval=5w', /not an interval/],
    ['interval=9999999999', /not an interval/],
    ['nutch.fetchInterval.fixed=soon', /nutch.fetchInterval.fixed=soon/],
    ['scope=galaxy', /scope=galaxy/],
    ['novalue', /not a key=value pair: novalue/],
    ['=x', /not a key=value pair/],
    ['score=1\tnutch.score=2', /nutch.score is given twice/],
    ['a=1\ta=2', /a is given twice/],
  ];
  for (const [pair, expected] of cases) {
    const result = parseSeedLine(`http://a.test/\t${pair}`);
    assert.ok(result !== null && 'malformed' in result, pair);
    assert.match(result.malformed, expected);
  }
});
