import assert from 'node:assert/strict';
import {test} from 'node:test';
import {table} from '../../lib/schema/table.ts';
import {RowGroup} from '../../lib/store/row-group.ts';

const sample = table({
  name: 'sample',
  version: 1,
  doc: 'Sample.',
  key: ['k'],
  columns: {
    k: {type: 'key', doc: 'Key.'},
    n: {type: 'count', nullable: true, doc: 'Count.'},
    prose: {type: 'text', nullable: true, doc: 'Prose.'},
    name: {type: 'text', doc: 'Name.'},
    raw: {type: 'bytes', nullable: true, doc: 'Bytes.'},
  },
});
const row = {k: 1n, n: 7, prose: 'grün', name: 'a', raw: new Uint8Array(5)};

test('rows become columns in order, with their bytes counted', () => {
  const group = new RowGroup(sample, new Set(['prose']));
  group.add([row, {...row, k: 2n, n: null, prose: null, raw: null}]);
  group.add([{...row, k: 3n, name: 'bcd'}]);
  assert.equal(group.rows, 3);
  assert.deepEqual(group.columns[0], [1n, 2n, 3n]);
  assert.deepEqual(group.columns[1], [7n, null, 7n]);
  assert.deepEqual(
    group.columns[2]!.map((value) => (value === null ? null : Buffer.from(value as Uint8Array).toString())),
    ['grün', null, 'grün'],
  );
  assert.deepEqual(group.columns[3], ['a', 'a', 'bcd']);
  // Keys and counts 8 each, texts and bytes their length and 4, nulls 8.
  assert.equal(group.bytes, 3 * 16 + (8 + 8 + 8) + (5 + 5 + 7) + (9 + 8 + 9));
});

test('a cleared group is empty, and what it gave stays with the one who took it', () => {
  const group = new RowGroup(sample, new Set(['prose']));
  group.add([row]);
  const taken = group.columns[3]!;
  group.clear();
  assert.deepEqual([group.rows, group.bytes], [0, 0]);
  group.add([{...row, name: 'z'}]);
  assert.deepEqual([taken, group.columns[3]], [['a'], ['z']]);
});

test('a row that lacks a value is refused with its column', () => {
  const group = new RowGroup(sample, new Set());
  const lacking = {...row, name: null} as unknown as typeof row;
  assert.throws(() => group.add([row, lacking]), {code: 'INTERNAL', message: /null at the column name/});
  const without = {...row, n: undefined} as unknown as typeof row;
  assert.throws(() => new RowGroup(sample, new Set()).add([without]), {
    code: 'INTERNAL',
    message: /undefined at the column n/,
  });
});
