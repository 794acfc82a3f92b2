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
    yes: {type: 'boolean', nullable: true, doc: 'Boolean.'},
    at: {type: 'timestamp', doc: 'Time.'},
    small: {type: 'int16', doc: 'Small.'},
    share: {type: 'double', doc: 'Share.'},
  },
});
const row = {
  k: 1n,
  n: 7,
  prose: 'grün',
  name: 'a',
  raw: new Uint8Array(5),
  yes: true,
  at: new Date(5),
  small: -2,
  share: 0.5,
};

test('rows become columns, with their bytes counted', () => {
  const group = new RowGroup(sample, new Set(['prose']));
  group.add([row, {...row, k: 2n, n: null, prose: null, raw: null}]);
  group.add([{...row, k: 3n, name: 'bcd'}]);
  assert.equal(group.rows, 3);
  const [, n, prose] = group.columns.map((column) => column.chunk());
  const [page] = n!.pages;
  assert.deepEqual([page!.rows, page!.nulls, [...page!.present!]], [3, 1, [1, 0, 1]]);
  assert.deepEqual(
    Buffer.from(prose!.pages[0]!.values as Uint8Array).toString('latin1'),
    Buffer.from('\u0005\0\0\0grün\u0005\0\0\0grün').toString('latin1'),
  );
  // Numbers, times, truth values and nulls 8 each, texts and bytes their length and 4.
  assert.equal(group.bytes, 3 * 8 * 6 + (5 + 5 + 7) + (8 + 8 + 8) + (9 + 8 + 9));
});

test('equal values become a dictionary where that takes at most half, each row group anew', () => {
  const group = new RowGroup(sample, new Set());
  group.add(Array.from({length: 100}, (_, at) => ({...row, k: BigInt(at), name: `name ${at % 3}`})));
  const [key, , , name] = group.columns.map((column) => column.chunk());
  assert.equal(key!.dictionary, undefined);
  assert.equal(name!.dictionary?.values, 3);
  const {values} = name!.pages[0]!;
  assert.ok('places' in values);
  assert.deepEqual([...values.places.subarray(0, 5)], [0, 1, 2, 0, 1]);
  group.clear();
  assert.deepEqual([group.rows, group.bytes], [0, 0]);
  group.add([row, {...row, name: 'b'}]);
  const [few, , , short] = group.columns.map((column) => column.chunk());
  assert.equal(few!.pages[0]!.rows, 2);
  assert.equal(short!.dictionary, undefined);
  const list = Buffer.from(short!.pages[0]!.values as Uint8Array);
  assert.equal(list.toString('latin1'), '\u0001\0\0\0a\u0001\0\0\0b');
});

test('a row that lacks a value, or has one of another type, is refused with its column', () => {
  const refused = (change: Record<string, unknown>, message: RegExp): void => {
    const wrong = {...row, ...change} as unknown as typeof row;
    assert.throws(() => new RowGroup(sample, new Set(['prose'])).add([row, wrong]), {
      code: 'INTERNAL',
      message,
    });
  };
  refused({name: null}, /null at the column name/);
  refused({n: undefined}, /undefined at the column n/);
  refused({k: 1}, /1 at the column k/);
  refused({k: 2n ** 64n}, /18446744073709551616 at the column k/);
  refused({n: 1.5}, /1.5 at the column n/);
  refused({prose: 7}, /7 at the column prose/);
  refused({name: new Uint8Array(1)}, /0 at the column name/);
  refused({yes: 1}, /1 at the column yes/);
  refused({at: new Date(Number.NaN)}, /NaN at the column at/);
  refused({small: 2 ** 31}, /2147483648 at the column small/);
  refused({share: '0'}, /0 at the column share/);
});
