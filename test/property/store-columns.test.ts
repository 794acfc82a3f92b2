import assert from 'node:assert/strict';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {gzipSync} from 'node:zlib';
import fc from 'fast-check';
import {ByteWriter, ParquetWriter} from 'hyparquet-writer';
import {type Row, table} from '../../lib/schema/table.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {TableReader} from '../../lib/store/parquet-read.ts';
import {parquetSchema, tableMetadata} from '../../lib/store/table-schema.ts';
import {comparable} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** Files of any rows, cut in any way, read as the same rows written by hyparquet-writer from plain lists. */

const sample = table({
  name: 'sample',
  version: 1,
  doc: 'All types, with nulls and without.',
  key: ['key'],
  columns: {
    key: {type: 'key', doc: 'Key.'},
    from: {type: 'key', nullable: true, doc: 'Key.'},
    time: {type: 'timestamp', doc: 'Time.'},
    changed: {type: 'timestamp', nullable: true, doc: 'Time.'},
    count: {type: 'count', doc: 'Count.'},
    left: {type: 'count', nullable: true, doc: 'Count.'},
    depth: {type: 'int32', doc: 'Number.'},
    status: {type: 'int16', nullable: true, doc: 'Number.'},
    score: {type: 'double', nullable: true, doc: 'Number.'},
    accepted: {type: 'boolean', doc: 'Truth value.'},
    cut: {type: 'boolean', nullable: true, doc: 'Truth value.'},
    kind: {type: 'text', doc: 'Text.'},
    url: {type: 'text', nullable: true, doc: 'Text.'},
    graph: {type: 'json', nullable: true, doc: 'JSON.'},
    anchor: {type: 'text', doc: 'Prose.'},
    text: {type: 'text', nullable: true, doc: 'Prose.'},
    signature: {type: 'bytes', nullable: true, doc: 'Bytes.'},
    payload: {type: 'bytes', doc: 'Raw bytes.'},
  },
});
type SampleRow = Row<typeof sample>;

const word = fc.oneof(
  fc.string({maxLength: 60}),
  fc.string({unit: 'binary', maxLength: 50}),
  fc.constantFrom(
    '',
    'x'.repeat(39),
    'é'.repeat(41),
    'ü'.repeat(70_000),
    'y'.repeat(1_200_000),
    '\ud800 alone',
  ),
);
const bytes = fc.uint8Array({maxLength: 60});
const row = fc.record<SampleRow>({
  key: fc.bigInt({min: 0n, max: 2n ** 64n - 1n}),
  from: fc.option(fc.constantFrom(0n, 7n, 2n ** 63n, 2n ** 64n - 1n)),
  time: fc.date({noInvalidDate: true}),
  changed: fc.option(fc.constantFrom(new Date(0), new Date(-1), new Date(1_764_501_600_123))),
  count: fc.maxSafeInteger(),
  left: fc.option(fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -(2 ** 32))),
  depth: fc.integer(),
  status: fc.option(fc.constantFrom(200, 404, -32768)),
  score: fc.option(fc.double({noNaN: true})),
  accepted: fc.boolean(),
  cut: fc.option(fc.boolean()),
  kind: fc.constantFrom('a', 'img', 'größe', ''),
  url: fc.option(word),
  graph: fc.option(fc.json({maxDepth: 1})),
  anchor: word,
  text: fc.option(word),
  signature: fc.option(bytes),
  payload: bytes,
});

/** The first rows as made, the rest like them with other keys and texts: more than a dictionary's trial. */
function manyRows(rows: readonly SampleRow[], times: number): SampleRow[] {
  return Array.from({length: times}, (_, time) =>
    rows.map((one, at) =>
      time === 0
        ? one
        : {
            ...one,
            key: BigInt(time * 1000 + at),
            url: one.url === null ? null : `/${time % 700}/${at}`,
            text: one.text?.slice(0, 100) ?? null,
            anchor: `${time} ${one.anchor.slice(0, 100)}`,
          },
    ),
  ).flat();
}

async function readAll(path: string): Promise<{rows: string[]; encodings: Record<string, string[]>}> {
  const reader = await TableReader.open(sample, path);
  try {
    const rows: SampleRow[] = [];
    for (const group of reader.groups) rows.push(...(await reader.rows(group.index)));
    const encodings: Record<string, string[]> = {};
    for (const {meta_data} of reader.metadata.row_groups[0]?.columns ?? [])
      encodings[meta_data!.path_in_schema[0]!] = meta_data!.encodings;
    return {rows: comparable(rows), encodings};
  } finally {
    reader.close();
  }
}

async function writePlainly(path: string, rows: readonly SampleRow[]): Promise<void> {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: parquetSchema(sample),
    codec: 'GZIP',
    compressors: {GZIP: (input) => gzipSync(input, {level: 1})},
    kvMetadata: [
      {key: tableMetadata.table, value: sample.name},
      {key: tableMetadata.version, value: '1'},
    ],
  });
  const columnData = Object.entries(sample.columns).map(([name, column]) => {
    const data = rows.map((one) => {
      const value = one[name as keyof SampleRow];
      return column.type === 'count' && value !== null ? BigInt(value as number) : value;
    });
    return {name, data};
  });
  parquet.write({columnData, rowGroupSize: Math.max(1, rows.length)});
  parquet.finish();
  await writeFile(path, writer.getBytes());
}

test('any rows, written in any pieces, read as those of hyparquet-writer', async (t) => {
  const dir = await temporaryFolder(t);
  let files = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, {maxLength: 30}),
      fc.constantFrom(1, 1, 60),
      fc.integer({min: 1, max: 500}),
      async (rows, times, piece) => {
        const all = manyRows(rows, times);
        const name = `${files++}`;
        const ours = createTableFile(sample, join(dir, `${name}.ours`), {key: name});
        for (let from = 0; from < all.length; from += piece) await ours.write(all.slice(from, from + piece));
        await ours.close();
        const theirs = join(dir, `${name}.theirs`);
        await writePlainly(theirs, all);
        const [found, expected] = [await readAll(ours.path), await readAll(theirs)];
        assert.deepEqual(found.rows, expected.rows);
        assert.equal(found.rows.length, all.length);
      },
    ),
    {numRuns: 40},
  );
});

test('dictionaries are where hyparquet-writer has them', async (t) => {
  const dir = await temporaryFolder(t);
  const [first] = fc.sample(row, {numRuns: 1, seed: 5});
  const rows = Array.from(
    {length: 3000},
    (_, at): SampleRow => ({
      ...first!,
      key: BigInt.asUintN(64, BigInt(at) * 0x9e3779b97f4a7c15n),
      from: at % 5 === 0 ? null : BigInt(at % 16) << 60n,
      time: new Date(at * 1000),
      changed: new Date(at % 7),
      count: at * 2 ** 20,
      left: at % 2 === 0 ? null : (at % 9) - 4,
      depth: at % 60,
      status: 200,
      score: at / 3,
      kind: `${at % 4}`,
      url: at < 1500 ? `https://example.org/${at}` : 'https://example.org/',
      graph: at % 3 === 0 ? null : `{"at":${at}}`,
    }),
  );
  const ours = createTableFile(sample, join(dir, 'ours'), {key: 'ours'});
  await ours.write(rows);
  await ours.close();
  const theirs = join(dir, 'theirs');
  await writePlainly(theirs, rows);
  const [found, expected] = [await readAll(ours.path), await readAll(theirs)];
  assert.deepEqual(found.rows, expected.rows);
  const numbers = [
    'key',
    'from',
    'time',
    'changed',
    'count',
    'left',
    'depth',
    'status',
    'score',
    'kind',
    'graph',
  ];
  for (const name of numbers) assert.deepEqual(found.encodings[name], expected.encodings[name], name);
  assert.deepEqual(found.encodings.from, ['PLAIN', 'RLE_DICTIONARY']);
  assert.deepEqual(found.encodings.key, ['PLAIN']);
});
