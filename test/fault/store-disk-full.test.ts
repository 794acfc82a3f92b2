import assert from 'node:assert/strict';
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {CrawlError} from '../../lib/errors.ts';
import {content} from '../../lib/schema/content.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import {openJournal} from '../../lib/store/journal.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {smallDisk} from '../support/mounts.ts';
import {sampleRow} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

function isDiskFull(error: unknown): boolean {
  assert.ok(error instanceof CrawlError, `${error}`);
  assert.equal(error.code, 'DISK_FULL', error.message);
  return true;
}

const row = {
  segment: 's',
  content_sha256: 'a',
  content_digest: 'b',
  content_length: 600_000,
  payload: new Uint8Array(600_000),
};

test('rows that do not fit are DISK_FULL, and discard leaves nothing', async (t) => {
  const dir = await smallDisk(t, '1m');
  if (dir === undefined) return;
  const file = createTableFile(content, join(dir, 'c.parquet'), {key: 'c'});
  await file.write([row, row, row]);
  await assert.rejects(file.close(), isDiskFull);
  await file.discard();
  assert.deepEqual(await readdir(dir), []);
});

test('a query’s result that does not fit is DISK_FULL and leaves nothing', async (t) => {
  const dir = await smallDisk(t, '1m');
  if (dir === undefined) return;
  const db = await openDatabase({memoryBytes: 500e6, spillDir: await temporaryFolder(t)});
  t.after(() => db.close());
  const file = createTableFile(content, join(dir, 'c.parquet'), {key: 'c'});
  const select = `SELECT 's' AS segment, sha256('' || i) AS content_sha256, md5('' || i) AS content_digest,
    i AS content_length, encode(sha256('x' || i)) AS payload FROM range(100000) t(i)`;
  await assert.rejects(db.copy(select, {}, file), isDiskFull);
  assert.deepEqual(await readdir(dir), []);
});

test('a journal that does not fit is DISK_FULL at the next call', async (t) => {
  const dir = await smallDisk(t, '1m');
  if (dir === undefined) return;
  const journal = await openJournal(join(dir, 'journal'), {sleep: () => new Promise(() => {})});
  await journal.append(sampleRow(fetch, 0), new Uint8Array(2_000_000));
  await assert.rejects(journal.flush(), isDiskFull);
  await assert.rejects(async () => journal.append(sampleRow(fetch, 1), null), isDiskFull);
  await assert.rejects(journal.close(), isDiskFull);
});
