import assert from 'node:assert/strict';
import {test} from 'node:test';
import {dateIn, numberIn} from '../../lib/extract/values.ts';
import {readYamlExtractor} from '../../lib/extract/yaml.ts';

const problemsOf = (text: string): string[] => {
  try {
    readYamlExtractor(text, 'x.yaml', 'x');
  } catch (error) {
    return String((error as Error).message).split('\n');
  }
  return [];
};

test('a selector that breaks off is told as such', () => {
  assert.deepEqual(problemsOf('rows: h1[\ncolumns:\n  a:\n    doc: A.\n'), [
    'x.yaml:1: rows: h1[ is no CSS selector: Expected name, found its end',
  ]);
});

test('everything wrong in a file is told with its line', () => {
  assert.deepEqual(
    problemsOf(`name: Parse it
row: article
rows: "a[["
types: html
columns:
  title:
    selct: h1
  order:
    select: h2
    type: integer
  price:
    select: .p
    match: "(unclosed"
    all: yes please
  seen:
    decimal: comma
    select: time
    type: timestamp
`).map((problem) => problem.replace(/: bad regular expression.*/, ': bad pattern')),
    [
      'x.yaml:2: unknown key row; did you mean rows?',
      'x.yaml:1: the name "Parse it" must be lower case letters, digits and underlines, at most 63, a letter first',
      'x.yaml:3: rows: a[[ is no CSS selector: Expected name, found [',
      'x.yaml:4: types: it must be a list of content types, as [text/html]',
      'x.yaml:7: column title: unknown key selct; did you mean select?',
      'x.yaml:8: column order: its name is a reserved word of SQL',
      'x.yaml:10: type: "integer" is none of: text, url, count, int32, double, boolean, timestamp',
      'x.yaml:14: all: it must be true or false',
      'x.yaml:13: bad pattern',
      'x.yaml:16: column seen: decimal is for numbers',
    ],
  );
  assert.deepEqual(problemsOf('name: parse\ncolumns: {a: {select: b}}'), [
    'x.yaml:1: the name parse is that of a table of every crawl',
  ]);
  assert.deepEqual(problemsOf('doc: nothing'), ['x.yaml:1: columns: it must name at least one column']);
  assert.deepEqual(problemsOf('columns:\n  a: {type: text}'), [
    'x.yaml:2: column a: select is missing, and there are no rows',
  ]);
  assert.match(problemsOf('a: [')[0]!, /^x\.yaml:\d+: /);
  assert.match(problemsOf('just words')[0]!, /^x\.yaml:1: /);
  assert.deepEqual(problemsOf('columns: {a: {select: b}}'), []);
});

test('numbers and dates are read as people write them', () => {
  const cases: [string, 'point' | 'comma', number | null][] = [
    ['1,299.00 $', 'point', 1299],
    ['EUR 1.299,00', 'comma', 1299],
    ['1 234 567,8', 'comma', 1234567.8],
    ['from 12.5 to 13', 'point', 12.5],
    ['-3', 'point', -3],
    ['\u22123,5', 'comma', -3.5],
    ['12,50', 'point', 12],
    ['2026', 'point', 2026],
    ['5 2026', 'point', 5],
    ['3 1299 €', 'point', 3],
    ['1,2345', 'point', 1],
    ['1 234 5678', 'point', 1234],
    ['none', 'point', null],
  ];
  for (const [text, sign, expected] of cases) assert.equal(numberIn(text, sign), expected, text);
  assert.equal(dateIn(' 2026-05-01T08:00:00Z ')?.toISOString(), '2026-05-01T08:00:00.000Z');
  assert.equal(dateIn('yesterday'), null);
});
