import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {test} from 'node:test';
import {openCrawl} from '../../lib/store/crawl.ts';
import {collectGarbage} from '../../lib/store/garbage.ts';
import {thisOwner} from '../../lib/store/lock.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {stagedKey} from '../../lib/store/place.ts';
import type {CrawlStore} from '../../lib/store/store.ts';
import {temporaryCrawl} from '../support/temporary-crawl.ts';

const day = 86_400_000;
/** Files carry the real time, so that what is "two days later" is said by the collector's clock. */
const later = Date.now() + 2 * day;
const retention = {now: later, keepMs: 0, minManifests: 1};

async function put(store: CrawlStore, key: string): Promise<FileRef> {
  const path = join(store.dir, stagedKey(key));
  await mkdir(dirname(path), {recursive: true});
  await writeFile(path, 'rows');
  return {table: 'linkdb', key, rows: 1, bytes: 4, sha256: ''};
}

async function commitFiles(store: CrawlStore, run: string, files: readonly FileRef[]): Promise<void> {
  await store.commit({
    base: await store.head(),
    edit: {reads: [], writes: {linkdb: files}},
    run,
    job: 'test',
    now: Date.now(),
  });
}

test('files that only removed manifests named go; what a kept manifest names stays', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const first = await put(store, 'linkdb/r1-test.0.0.0.0.parquet');
  const second = await put(store, 'linkdb/r2-test.0.0.0.0.parquet');
  await commitFiles(store, 'r1-test', [first]);
  await commitFiles(store, 'r2-test', [second]);
  assert.equal(await collectGarbage(await store.head(), {...retention, minManifests: 2}), 0);
  assert.ok(existsSync(store.path(first)));
  assert.equal(await collectGarbage(await store.head(), retention), 2, 'the file and its list');
  assert.equal(existsSync(join(store.dir, first.key)), false);
  assert.ok(existsSync(store.path(second)));
  await assert.rejects(store.at(1), {code: 'MANIFEST_INVALID', message: /manifest 1 is not there/});
});

test('young files, and files of a run that still lives, are left alone', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  await commitFiles(store, 'r0-test', []);
  const young = await put(store, 'linkdb/r1-test.0.0.0.0.parquet');
  assert.equal(await collectGarbage(await store.head(), {...retention, now: Date.now()}), 0);
  await writeFile(
    join(store.dir, 'runs', 'r1-test', 'owner.json'),
    JSON.stringify(thisOwner('run', 'test', 0)),
  );
  assert.equal(await collectGarbage(await store.head(), retention), 0, 'its process is this one');
  await writeFile(
    join(store.dir, 'runs', 'r1-test', 'owner.json'),
    JSON.stringify({...thisOwner('run', 'test', 0), process_start: '1'}),
  );
  assert.equal(await collectGarbage(await store.head(), retention), 1);
  assert.equal(existsSync(join(store.dir, stagedKey(young.key))), false);
  assert.equal(existsSync(join(store.dir, 'runs', 'r1-test')), false, 'nor is its folder needed');
});

test('the journal of an unfinished fetch is never garbage', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  await commitFiles(store, 'r0-test', []);
  const journal = join(store.dir, 'segments', '20260101000000', 'journal', 'a.arrow');
  await mkdir(dirname(journal), {recursive: true});
  await writeFile(journal, 'rows');
  await collectGarbage(await store.head(), retention);
  assert.ok(existsSync(journal));
});
