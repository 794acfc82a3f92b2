import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {mkdtemp, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {after, before, describe, test} from 'node:test';
import {CrawlError} from '../../lib/errors.ts';
import {type Capture, fetch} from '../../lib/schema/fetch.ts';
import {journalFiles, openJournal} from '../../lib/store/journal.ts';
import {arrowSchema, BatchEncoder} from '../../lib/store/journal-arrow.ts';
import {readBatches} from '../../lib/store/journal-batches.ts';
import {journalOutcomes, readJournal} from '../../lib/store/journal-read.ts';
import {journalTable, journalValues} from '../../lib/store/journal-table.ts';
import {comparable, sampleRow} from '../support/rows.ts';

let root: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), 'crawl-journal-'));
});
after(() => rm(root, {recursive: true}));

/** Never: flushes are asked for by the tests, or come by size. */
const never = (_: number, signal?: AbortSignal) =>
  new Promise<void>((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

function entry(
  i: number,
  payload: Uint8Array | null = Buffer.from(`payload ${i} \u0000ÿ`),
): {row: Capture; payload: Uint8Array | null} {
  const row = {
    ...sampleRow(fetch, i),
    kind: 'page' as const,
    hop: 0,
    url_key: BigInt(i),
    host_key: 2n ** 64n - 1n,
  };
  if (payload === null) return {row: {...row, content_sha256: null, content_digest: null}, payload};
  const sha256 = createHash('sha256').update(payload).digest('hex');
  return {row: {...row, content_sha256: sha256, content_digest: `D${i}`}, payload};
}

/** A journal of one file whose batches have the given sizes; gives its bytes and where each batch ends. */
async function makeJournal(
  name: string,
  batches: readonly number[],
): Promise<{dir: string; bytes: Buffer; ends: number[]}> {
  const dir = join(root, name);
  const journal = await openJournal(dir, {sleep: never});
  const ends: number[] = [];
  let i = 0;
  for (const size of batches) {
    for (let k = 0; k < size; k++) {
      const {row, payload} = entry(i, i % 4 === 3 ? null : undefined);
      await journal.append(row, payload);
      i++;
    }
    await journal.flush();
    ends.push((await readFile((await journalFiles(dir))[0]!)).length);
  }
  await journal.close();
  const file = (await journalFiles(dir))[0]!;
  return {dir, bytes: await readFile(file), ends};
}

/** Rows of the batches that end within the first `length` bytes. */
function wholeRows(sizes: readonly number[], ends: readonly number[], length: number): number {
  return sizes.slice(0, ends.filter((end) => end <= length).length).reduce((sum, n) => sum + n, 0);
}

async function readAll(
  dir: string,
): Promise<{rows: Capture[]; payloads: (Uint8Array | null)[]; lost: number}> {
  const rows: Capture[] = [];
  const payloads: (Uint8Array | null)[] = [];
  let lost = 0;
  for await (const batch of readJournal(dir)) {
    lost += batch.lost;
    for (const {row, payload} of batch.entries) {
      rows.push(row);
      payloads.push(payload === null ? null : Uint8Array.from(payload));
    }
  }
  return {rows, payloads, lost};
}

describe('journal', () => {
  test('gives back every row and payload as appended', async () => {
    const {dir} = await makeJournal('whole', [3, 1, 5]);
    const {rows, payloads, lost} = await readAll(dir);
    assert.equal(lost, 0);
    const expected = Array.from({length: 9}, (_, i) => entry(i, i % 4 === 3 ? null : undefined));
    assert.deepEqual(comparable(rows as never), comparable(expected.map(({row}) => row) as never));
    assert.deepEqual(
      payloads.map((one) => one && Buffer.from(one)),
      expected.map(({payload}) => payload && Buffer.from(payload)),
    );
  });

  test('gives back all whole batches after truncation at every byte of the last one', async () => {
    const sizes = [2, 1];
    const {dir, bytes, ends} = await makeJournal('every-byte', sizes);
    const file = (await journalFiles(dir))[0]!;
    // Before the last batch only every 61st byte, to keep this short; the step is no divisor of Arrow's 8.
    for (let length = bytes.length; length >= 0; length -= length > ends[0]! ? 1 : 61) {
      await truncate(file, length);
      const expected = wholeRows(sizes, ends, length);
      const {rows, lost} = await readAll(dir);
      assert.equal(lost, 0, `cut at ${length}`);
      assert.deepEqual(
        rows.map((row) => row.url_key),
        Array.from({length: expected}, (_, i) => BigInt(i)),
        `cut at ${length} of ${bytes.length}`,
      );
    }
  });

  test('gives back all whole batches of a larger journal after truncation at 200 places', async () => {
    const sizes = Array.from({length: 12}, (_, i) => 5 + ((i * 7) % 11));
    const {dir, bytes, ends} = await makeJournal('larger', sizes);
    const file = (await journalFiles(dir))[0]!;
    const places = Array.from({length: 200}, (_, i) => Math.floor(bytes.length * ((i * 0.618034) % 1)));
    for (const length of places.sort((a, b) => b - a)) {
      await truncate(file, length);
      const expected = sizes
        .slice(0, ends.filter((end) => end <= length).length)
        .reduce((sum, n) => sum + n, 0);
      assert.equal((await readAll(dir)).rows.length, expected, `cut at ${length}`);
    }
  });

  test('drops and counts rows of the last batch that are not what was written', async () => {
    const {dir, bytes, ends} = await makeJournal('zeros', [4, 4]);
    const file = (await journalFiles(dir))[0]!;
    // What a power cut leaves where the length of the file got to the disk and its last pages did not.
    for (const from of [0.2, 0.5, 0.8, 0.95]) {
      const torn = Buffer.from(bytes.subarray(0, ends[1]));
      torn.fill(0, Math.floor(ends[0]! + (ends[1]! - ends[0]!) * from));
      await writeFile(file, torn);
      const {rows, lost} = await readAll(dir);
      assert.ok(rows.length >= 4 && rows.length < 8, `${rows.length} rows with zeros from ${from}`);
      for (const [i, row] of rows.slice(0, 4).entries())
        assert.deepEqual(
          comparable([row as never]),
          comparable([entry(i, i % 4 === 3 ? null : undefined).row as never]),
        );
      for (const row of rows.slice(4)) {
        const i = Number(row.url_key);
        assert.deepEqual(
          comparable([row as never]),
          comparable([entry(i, i % 4 === 3 ? null : undefined).row as never]),
        );
      }
      if (lost > 0) assert.equal(rows.length + lost, 8);
    }
  });

  test('finds a flipped byte of a payload in the last batch', async () => {
    const {dir, bytes} = await makeJournal('flip', [1, 3]);
    const file = (await journalFiles(dir))[0]!;
    const at = bytes.lastIndexOf(Buffer.from('payload 2'));
    assert.ok(at > 0);
    bytes[at] = bytes[at]! ^ 1;
    await writeFile(file, bytes);
    const {rows, lost} = await readAll(dir);
    assert.equal(lost, 1);
    assert.deepEqual(
      rows.map((row) => row.url_key),
      [0n, 1n, 3n],
    );
  });

  test('begins a new file at each start and never appends to an old one', async () => {
    const dir = join(root, 'starts');
    for (let start = 0; start < 3; start++) {
      const journal = await openJournal(dir, {sleep: never});
      const {row, payload} = entry(start);
      await journal.append(row, payload);
      await journal.close();
      const file = (await journalFiles(dir))[start]!;
      await truncate(file, (await readFile(file)).length - 3); // killed: the end mark is torn
    }
    assert.equal((await journalFiles(dir)).length, 3);
    assert.deepEqual(
      (await readAll(dir)).rows.map((row) => row.url_key),
      [0n, 1n, 2n],
    );
  });

  test('two processes at once write two files', async () => {
    const dir = join(root, 'two');
    const journals = await Promise.all([1, 2].map(() => openJournal(dir, {sleep: never})));
    await Promise.all(journals.map((journal, i) => journal.append(entry(i).row, entry(i).payload)));
    await Promise.all(journals.map((journal) => journal.close()));
    assert.equal((await journalFiles(dir)).length, 2);
    assert.deepEqual((await readAll(dir)).rows.map((row) => row.url_key).sort(), [0n, 1n]);
  });

  test('flushes one interval after the first row, by the clock given', async () => {
    const dir = join(root, 'clock');
    const waits: {ms: number; fire: () => void}[] = [];
    const journal = await openJournal(dir, {
      sleep: (ms) => new Promise((resolve) => waits.push({ms, fire: resolve})),
    });
    await journal.append(entry(0).row, entry(0).payload);
    await journal.append(entry(1).row, entry(1).payload);
    assert.deepEqual(
      waits.map(({ms}) => ms),
      [1000],
    );
    assert.deepEqual(await journalFiles(dir), []);
    waits[0]!.fire();
    await new Promise((resolve) => setImmediate(resolve));
    await journal.flush(); // joins the flush that the clock began
    assert.equal((await readAll(dir)).rows.length, 2);
    await journal.append(entry(2).row, entry(2).payload);
    assert.equal(waits.length, 2);
    await journal.close();
    assert.equal((await readAll(dir)).rows.length, 3);
  });

  test('a clock that no longer runs, as after a stop: each outcome is written at once', async () => {
    const dir = join(root, 'stopped');
    const journal = await openJournal(dir, {sleep: () => Promise.reject(new Error('stopped'))});
    for (let i = 0; i < 3; i++) {
      const {row, payload} = entry(i);
      await journal.append(row, payload);
      while ((await readAll(dir)).rows.length <= i) await new Promise(setImmediate);
    }
    await journal.close();
    assert.equal((await readAll(dir)).rows.length, 3);
  });

  test('rotates at the size given', async () => {
    const dir = join(root, 'rotate');
    const journal = await openJournal(dir, {sleep: never, flushBytes: 20_000, rotateBytes: 50_000});
    for (let i = 0; i < 40; i++) {
      const {row, payload} = entry(i, Buffer.alloc(5000, i));
      await journal.append(row, payload);
    }
    await journal.close();
    assert.ok((await journalFiles(dir)).length >= 3);
    assert.equal((await readAll(dir)).rows.length, 40);
  });

  test('while two batches are on their way to the disk more outcomes wait, and keep their order', async () => {
    const dir = join(root, 'slow');
    const journal = await openJournal(dir, {sleep: never, flushBytes: 1000});
    const entries = Array.from({length: 12}, (_, i) => entry(i, Buffer.alloc(2000, i)));
    const waits = entries.map(({row, payload}) => journal.append(row, payload));
    assert.deepEqual(
      waits.map((wait) => wait !== null),
      entries.map((_, i) => i >= 2),
    );
    await Promise.all(waits);
    await journal.close();
    assert.deepEqual(
      (await readAll(dir)).rows.map(({url_key}) => url_key),
      entries.map(({row}) => row.url_key),
    );
  });

  for (const end of ['flush', 'close'] as const)
    test(`${end} waits for outcomes that wait for the disk`, async () => {
      const dir = join(root, `waiting-${end}`);
      const journal = await openJournal(dir, {sleep: never, flushBytes: 1000});
      const entries = Array.from({length: 12}, (_, i) => entry(i, Buffer.alloc(2000, i)));
      for (const {row, payload} of entries) void journal.append(row, payload);
      await journal[end]();
      const {rows} = await readAll(dir);
      if (end === 'flush') await journal.close();
      assert.deepEqual(
        rows.map(({url_key}) => url_key),
        entries.map(({row}) => row.url_key),
      );
    });

  test('an error of a flush reaches the next call', async () => {
    const dir = join(root, 'gone');
    const journal = await openJournal(dir, {sleep: never});
    await rm(dir, {recursive: true});
    await journal.append(entry(0).row, null);
    await assert.rejects(
      journal.flush(),
      (error) => error instanceof CrawlError && error.code === 'FILE_MISSING',
    );
    await assert.rejects(async () => journal.append(entry(1).row, null), CrawlError);
    await assert.rejects(journal.close(), CrawlError);
  });

  test('no folder is no journal', async () => {
    for await (const _ of journalOutcomes(join(root, 'none'))) assert.fail();
  });

  test('has no dictionary types: made for each batch they lose rows', () => {
    const names = arrowSchema(journalTable).fields.map((field) => `${field.type}`);
    assert.equal(names.filter((name) => name.startsWith('Dictionary')).length, 0);
    assert.ok(names.includes('Utf8') && names.includes('Binary'));
  });

  test('refuses a journal of a newer version', async () => {
    const dir = join(root, 'newer');
    const newer = {...journalTable, version: journalTable.version + 1};
    const encoder = new BatchEncoder(newer);
    const bytes = encoder.encode(
      journalValues(entry(0).row, null).map((value) => [value]),
      1,
    );
    await (await openJournal(dir, {sleep: never})).close();
    await writeFile(join(dir, '000001.arrows'), bytes);
    await assert.rejects(
      readAll(dir),
      (error) => error instanceof CrawlError && error.code === 'VERSION_NEWER',
    );
  });

  test('reads a journal of an older version, new columns as null', async () => {
    const dir = join(root, 'older');
    const {row, payload} = entry(1);
    const columns = Object.fromEntries(
      Object.entries(journalTable.columns).filter(([name]) => name !== 'delay_ms'),
    );
    const encoder = new BatchEncoder({...journalTable, columns});
    // Null, as a column that the older program did not have counts for nothing in the checksum.
    const values = journalValues({...row, delay_ms: null}, payload);
    const at = Object.keys(journalTable.columns).indexOf('delay_ms');
    await (await openJournal(dir, {sleep: never})).close();
    await writeFile(
      join(dir, '000001.arrows'),
      encoder.encode(
        values.filter((_, i) => i !== at).map((value) => [value]),
        1,
      ),
    );
    const read = await readAll(dir);
    assert.equal(read.lost, 0);
    assert.equal(read.rows[0]!.delay_ms, null);
  });

  test('a batch of garbage ends the reading in order', async () => {
    const {dir, bytes, ends} = await makeJournal('garbage', [2, 2]);
    const noise = Buffer.from(bytes);
    for (let i = ends[0]!; i < noise.length; i++) noise[i] = (i * 131 + 17) & 255;
    await writeFile((await journalFiles(dir))[0]!, noise);
    assert.deepEqual(
      (await readAll(dir)).rows.map((row) => row.url_key),
      [0n, 1n],
    );
  });

  test('marks the last batch of a file, and only that', async () => {
    const {dir} = await makeJournal('last', [1, 1, 1]);
    const marks: boolean[] = [];
    for await (const batch of readBatches(journalTable, (await journalFiles(dir))[0]!))
      marks.push(batch.last);
    assert.deepEqual(marks, [false, false, true]);
  });
});
