import assert from 'node:assert/strict';
import {test} from 'node:test';
import {isAllowed, rulesFor} from '../../lib/robots/match.ts';
import {parseRobots} from '../../lib/robots/parse.ts';

/**
 * What a question costs, counted in comparisons of the matcher, on the worst input known for each of its
 * parts. Twice the input may cost about twice as much; a pattern that were tried by backtracking, or a search
 * that began again, would cost four times or more.
 */
const shapes: Readonly<Record<string, (n: number) => {rules: string[]; path: string}>> = {
  'stars that nearly match': (n) => ({rules: [`/${'*a'.repeat(n)}$`], path: '/' + 'a'.repeat(n) + 'b'}),
  'stars that match': (n) => ({rules: [`/${'*a'.repeat(n)}$`], path: '/' + 'a'.repeat(n)}),
  'a long part that nearly matches everywhere': (n) => ({
    rules: [`/*${'a'.repeat(n)}b`],
    path: '/' + 'a'.repeat(2 * n),
  }),
  'two long parts': (n) => ({
    rules: [`/*${'ab'.repeat(n)}c*${'ab'.repeat(n)}d`],
    path: `/${'ab'.repeat(3 * n)}c`,
  }),
  'nested paths': (n) => ({
    rules: Array.from({length: n}, (_, i) => '/' + 'a'.repeat(i)),
    path: '/' + 'a'.repeat(n),
  }),
  'one four shared by all rules': (n) => ({
    rules: Array.from({length: n}, (_, i) => `/*abcd*${i}x`),
    path: '/abcd-y',
  }),
  'short parts only': (n) => ({
    rules: Array.from({length: n}, (_, i) => `/*${i % 10}*${i % 7}*z`),
    path: '/0123456789',
  }),
  'fours of the path that repeat': (n) => ({rules: ['/*abcd*q', '/*bcda*q'], path: '/' + 'abcd'.repeat(n)}),
};

function steps({rules, path}: {rules: string[]; path: string}): number {
  const text = 'User-agent: *\n' + rules.map((rule) => `Disallow: ${rule}`).join('\n');
  const meter = {steps: 0};
  isAllowed(rulesFor(parseRobots(Buffer.from(text), {maxBytes: 1e9, typos: false}), 'a'), path, meter);
  return meter.steps;
}

for (const [name, shape] of Object.entries(shapes)) {
  test(`${name}: twice the input, about twice the steps`, () => {
    const small = steps(shape(1000));
    const large = steps(shape(2000));
    assert.ok(small > 100, `${small} steps were counted`);
    assert.ok(large < 2.5 * small, `${small} steps became ${large}`);
  });
}

test('rules of other paths cost nothing but the search among them', () => {
  const few = steps({
    rules: Array.from({length: 100}, (_, i) => `/section-${i}/*.html`),
    path: '/other/page.html',
  });
  const many = steps({
    rules: Array.from({length: 10_000}, (_, i) => `/section-${i}/*.html`),
    path: '/other/page.html',
  });
  assert.ok(many < 2 * few + 1000, `${few} steps became ${many}`);
});
