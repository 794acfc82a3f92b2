import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {content} from '../../lib/schema/content.ts';
import {type Capture, fetch} from '../../lib/schema/fetch.ts';
import type {Table} from '../../lib/schema/table.ts';
import {openJournal} from '../../lib/store/journal.ts';
import {type SealOptions, sealJournals} from '../../lib/store/journal-seal.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {sampleRow} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

function capture(url: number, facts: Partial<Capture>, payload: string | null): [Capture, Uint8Array | null] {
  const bytes = payload === null ? null : Buffer.from(payload);
  return [
    {
      ...sampleRow(fetch, url),
      kind: 'page',
      hop: 0,
      host_key: 2n ** 64n - 1n,
      url_key: BigInt(url),
      status: 'success',
      content_sha256: bytes && createHash('sha256').update(bytes).digest('hex'),
      content_digest: bytes && createHash('sha1').update(bytes).digest('hex'),
      content_length: bytes === null ? null : bytes.length,
      content_segment: null,
      ...facts,
    },
    bytes,
  ];
}

async function journalOf(t: TestContext, starts: readonly (readonly [Capture, Uint8Array | null])[][]) {
  const root = await temporaryFolder(t);
  const dir = join(root, 'journal');
  for (const entries of starts) {
    const journal = await openJournal(dir, {sleep: () => new Promise(() => {})});
    for (const [row, payload] of entries) await journal.append(row, payload);
    await journal.close();
  }
  let files = 0;
  const paths: Record<string, string[]> = {fetch: [], content: []};
  const options: SealOptions = {
    segment: '20260101000000',
    async create<T extends Table>(table: T) {
      const path = join(root, `${table.name}-${files++}.parquet`);
      paths[table.name]!.push(path);
      return createTableFile(table, path, {key: path});
    },
  };
  return {dir, root, options, paths};
}

async function rowsOf<T extends Table>(table: T, paths: readonly string[]) {
  const rows = [];
  for (const path of paths) for await (const batch of readTable(table, path)) rows.push(...batch);
  return rows;
}

test('equal payloads are stored once, and every row says where its payload is', async (t) => {
  const {dir, options, paths} = await journalOf(t, [
    [
      capture(1, {}, 'same'),
      capture(2, {}, 'other'),
      capture(3, {}, 'same'),
      capture(4, {}, null),
      capture(5, {}, ''),
    ],
  ]);
  const sealed = await sealJournals(dir, options);
  assert.deepEqual(
    {...sealed, fetch: sealed.fetch.map((ref) => ref.rows), content: sealed.content.map((ref) => ref.rows)},
    {fetch: [5], content: [3], lost: 0, superseded: 0, stored: 3, shared: 1, savedBytes: 4},
  );
  const fetched = await rowsOf(fetch, paths.fetch!);
  assert.deepEqual(
    fetched.map((row) => [Number(row.url_key), row.content_segment]),
    [1, 2, 3, 4, 5].map((i) => [i, i === 4 ? null : '20260101000000']),
  );
  const stored = await rowsOf(content, paths.content!);
  assert.deepEqual(
    stored.map((row) => Buffer.from(row.payload).toString()),
    ['same', 'other', ''],
  );
  for (const row of stored) {
    assert.equal(createHash('sha256').update(row.payload).digest('hex'), row.content_sha256);
    assert.equal(row.segment, '20260101000000');
    assert.equal(row.content_length, row.payload.length);
  }
});

test('a payload that a committed segment holds is referred to', async (t) => {
  const {dir, options, paths} = await journalOf(t, [[capture(1, {}, 'known'), capture(2, {}, 'new')]]);
  const known = createHash('sha256').update('known').digest('hex');
  const asked: [string, number][] = [];
  const sealed = await sealJournals(dir, {
    ...options,
    alreadyStored(sha256, bytes) {
      asked.push([sha256, bytes]);
      return sha256 === known ? '20250101000000' : undefined;
    },
  });
  assert.equal(sealed.shared, 1);
  assert.deepEqual(
    asked.map(([, bytes]) => bytes),
    [5, 3],
  );
  assert.deepEqual(
    (await rowsOf(fetch, paths.fetch!)).map((row) => row.content_segment),
    ['20250101000000', '20260101000000'],
  );
  assert.deepEqual(
    (await rowsOf(content, paths.content!)).map((row) => Buffer.from(row.payload).toString()),
    ['new'],
  );
});

test('of several outcomes of one request the latest stays, with its payload alone', async (t) => {
  const {dir, options, paths} = await journalOf(t, [
    [capture(1, {status: 'retry'}, 'first'), capture(2, {}, 'two')],
    [capture(1, {status: 'gone'}, 'second')],
    [capture(1, {status: 'success'}, 'third')],
  ]);
  const sealed = await sealJournals(dir, options);
  assert.equal(sealed.superseded, 2);
  const fetched = await rowsOf(fetch, paths.fetch!);
  assert.deepEqual(
    fetched.map((row) => [Number(row.url_key), row.status]),
    [
      [2, 'success'],
      [1, 'success'],
    ],
  );
  assert.deepEqual(
    (await rowsOf(content, paths.content!)).map((row) => Buffer.from(row.payload).toString()),
    ['two', 'third'],
  );
});

test('hops of different chains to one URL all stay; of one chain the latest', async (t) => {
  const hop = (origin_url: string, url: number) => capture(url, {kind: 'hop', hop: 1, origin_url}, null);
  const {dir, options, paths} = await journalOf(t, [
    [hop('a', 9), hop('b', 9)],
    [hop('a', 9), capture(9, {}, null)],
  ]);
  assert.equal((await sealJournals(dir, options)).superseded, 1);
  const fetched = await rowsOf(fetch, paths.fetch!);
  assert.deepEqual(fetched.map((row) => [row.kind, row.origin_url]).slice(0, 2), [
    ['hop', 'b'],
    ['hop', 'a'],
  ]);
  assert.equal(fetched.length, 3);
});

test('files end at the size given', async (t) => {
  const {dir, options} = await journalOf(t, [
    Array.from({length: 20}, (_, i) => capture(i, {}, `${i}`.repeat(5000))),
  ]);
  const sealed = await sealJournals(dir, {...options, fileBytes: 30_000});
  assert.ok(sealed.content.length >= 4, `${sealed.content.length}`);
  assert.equal(
    sealed.content.reduce((sum, ref) => sum + ref.rows, 0),
    20,
  );
});

test('no journal makes no file', async (t) => {
  const {root, options} = await journalOf(t, []);
  const sealed = await sealJournals(join(root, 'none'), options);
  assert.deepEqual([sealed.fetch, sealed.content], [[], []]);
  assert.deepEqual(await readdir(root), []);
});
