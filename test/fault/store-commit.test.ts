import assert from 'node:assert/strict';
import {existsSync, writeFileSync} from 'node:fs';
import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {seeds} from '../../lib/schema/seeds.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import type {Edit, FileRef} from '../../lib/store/manifest-types.ts';
import {locate, stagedKey} from '../../lib/store/place.ts';
import type {CrawlStore} from '../../lib/store/store.ts';
import {AttemptStore} from '../../lib/store/task-store.ts';
import {temporaryCrawl, temporaryFolder} from '../support/temporary-crawl.ts';

let runs = 0;

/** A table file of one seed row, as an attempt leaves it. */
async function writeFileOf(store: CrawlStore, place: string): Promise<{file: FileRef; run: string}> {
  const run = `2026010100000${String(runs++).padStart(4, '0')}-test`;
  const attempt = new AttemptStore({dir: store.dir, run, stage: 0, part: 0, attempt: 0});
  const table = await attempt.create(seeds, place);
  await table.write([
    {
      run,
      source: 'argument',
      line: 1,
      text: 'http://example.org/',
      url: null,
      host_key: null,
      url_key: null,
      tag: null,
      seed_group: null,
      score: null,
      scope: null,
      outcome: 'rejected',
      reason: 'url_invalid',
      detail: null,
      injected_time: new Date(0),
    },
  ]);
  return {file: await table.close(), run};
}

async function commitTo(
  store: CrawlStore,
  slot: string,
  edit: Partial<Edit> = {},
): Promise<{file: FileRef; run: string}> {
  const base = await store.head();
  const {file, run} = await writeFileOf(store, slot);
  await store.commit({base, edit: {reads: [], writes: {[slot]: [file]}, ...edit}, run, job: 'test', now: 0});
  return {file, run};
}

test('a commit makes files visible in their place and is the head', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const {file} = await commitTo(store, 'crawldb/seeds');
  assert.ok(existsSync(join(store.dir, file.key)));
  const head = await store.head();
  assert.equal(head.manifest.number, 1);
  assert.equal(head.manifest.slots['crawldb/seeds']?.rows, 1);
  assert.deepEqual(await head.files('crawldb/seeds'), [file]);
});

test('a commit on an older base is rebased where it touches other slots', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const base = await store.head();
  const other = await writeFileOf(store, 'linkdb');
  await commitTo(store, 'seeds');
  const after = await store.commit({
    base,
    edit: {reads: ['crawldb'], writes: {linkdb: [other.file]}},
    run: other.run,
    job: 'test',
    now: 0,
  });
  assert.equal(after.manifest.number, 2);
  assert.deepEqual(Object.keys(after.manifest.slots), ['linkdb', 'seeds']);
});

test('a commit is refused where what it read, or writes, has changed', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const base = await store.head();
  await commitTo(store, 'crawldb');
  for (const edit of [
    {reads: ['crawldb'], writes: {}},
    {reads: [], writes: {crawldb: []}},
  ])
    await assert.rejects(store.commit({base, edit, run: 'r-test', job: 'test', now: 0}), {
      code: 'COMMIT_CONFLICT',
      message: /crawldb/,
    });
  assert.equal((await store.head()).manifest.number, 1);
});

test('twenty commits at once that add to one slot are all kept', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const written = await Promise.all(Array.from({length: 20}, () => writeFileOf(store, 'runs')));
  const base = await store.head();
  await Promise.all(
    written.map(({file, run}) =>
      store.commit({base, edit: {reads: [], writes: {}, appends: {runs: [file]}}, run, job: 'test', now: 0}),
    ),
  );
  const head = await store.head();
  assert.equal(head.manifest.number, 20);
  assert.equal((await head.files('runs')).length, 20);
});

test('of two generates that open segments at once the second is refused', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const base = await store.head();
  const segment = {state: 'generated', urls: 1, hosts: 1, partitions: 1, generated_time: ''} as const;
  const open = (id: string): Promise<unknown> =>
    store.commit({
      base,
      edit: {reads: ['open'], writes: {}, opens: true, segments: {[id]: segment}},
      run: `${id}-test`,
      job: 'generate',
      now: 0,
    });
  await open('20260101000000');
  await assert.rejects(open('20260101000001'), {code: 'COMMIT_CONFLICT'});
});

test('files named by the manifest and not yet moved are found, and moved by whoever comes next', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const {file} = await commitTo(store, 'segments/20260101000000/fetch');
  const placed = join(store.dir, file.key);
  const staged = join(store.dir, stagedKey(file.key));
  await mkdir(join(staged, '..'), {recursive: true});
  await writeFile(staged, await readFile(placed));
  await rm(placed);
  assert.equal(locate(store.dir, file.key), staged);
  await (await openCrawl(store.dir)).head();
  assert.equal(existsSync(staged), false);
  assert.equal(locate(store.dir, file.key), placed);
});

test('a dropped segment leaves its folder, and the manifest before it still finds its files', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  const id = '20260101000000';
  const segment = {state: 'generated', urls: 1, hosts: 1, partitions: 1, generated_time: ''} as const;
  const {file} = await commitTo(store, `segments/${id}/fetchlist`, {segments: {[id]: segment}});
  const base = await store.head();
  await store.commit({
    base,
    edit: {reads: [], writes: {}, segments: {[id]: null}},
    run: 'x-drop',
    job: 'drop',
    now: 0,
  });
  assert.deepEqual(await readdir(join(store.dir, `segments/${id}/fetchlist`)), []);
  const before = await store.at(1);
  assert.deepEqual(await before.files(`segments/${id}/fetchlist`), [file]);
  assert.ok(existsSync(store.path(file)));
  assert.equal((await store.head()).manifest.segments[id], undefined);
});

test('a process that slept while its base was removed cannot create a number that is long past', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  await commitTo(store, 'crawldb');
  const old = await store.head();
  for (let i = 0; i < 4; i++) await commitTo(store, 'linkdb');
  const manifest = (number: number): string =>
    join(store.dir, 'manifests', `${String(number).padStart(9, '0')}.json`);
  for (const number of [2, 3, 4]) await rm(manifest(number));
  const {commit} = await import('../../lib/store/commit.ts');
  // As the sleeper saw it: its head is manifest 1, so it goes on with number 2.
  const hidden = await readFile(manifest(5));
  await rm(manifest(5));
  const late = commit(store, {
    base: old,
    edit: {
      reads: [],
      // Asked for once the head has been read: from here on the others' manifest is there again.
      get writes() {
        writeFileSync(manifest(5), hidden);
        return {seeds: []};
      },
    },
    run: 'late-test',
    job: 'test',
    now: 0,
  });
  await assert.rejects(late, {code: 'COMMIT_CONFLICT', message: /manifests/});
  const head = await store.head();
  assert.equal(head.manifest.number, 5);
  assert.equal(head.manifest.slots.linkdb?.version, 4, 'nothing of the newer head is lost');
});

test('torn, foreign and newer manifests are named, with what to do', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  await commitTo(store, 'crawldb');
  const path = join(store.dir, 'manifests', '000000002.json');
  for (const [text, code] of [
    ['{"layout_version": 1, "numb', 'MANIFEST_INVALID'],
    ['[]', 'MANIFEST_INVALID'],
    ['{"layout_version": 1}', 'MANIFEST_INVALID'],
    ['{"layout_version": 99}', 'VERSION_NEWER'],
  ] as const) {
    await writeFile(path, text);
    await assert.rejects(store.head(), {code, message: /000000002\.json/});
  }
  await rm(path);
  assert.equal((await store.head()).manifest.number, 1);
});

test('a list that is missing or changed is named', async (t) => {
  const store = await openCrawl(await temporaryCrawl(t));
  await commitTo(store, 'crawldb');
  const {ref} = (await store.head()).manifest.slots.crawldb!;
  await writeFile(join(store.dir, ref), '{"files": []}');
  await assert.rejects((await (await openCrawl(store.dir)).head()).files('crawldb'), {
    code: 'FILE_DAMAGED',
    message: /lists/,
  });
  await rm(join(store.dir, ref));
  await assert.rejects((await (await openCrawl(store.dir)).head()).files('crawldb'), {
    code: 'FILE_MISSING',
    message: /lists/,
  });
});

test('a folder without crawl.yaml is no crawl; tables without a manifest are a damaged one', async (t) => {
  const empty = await temporaryFolder(t);
  await assert.rejects(openCrawl(empty), {code: 'CRAWL_NOT_FOUND'});
  const dir = await temporaryCrawl(t);
  await mkdir(join(dir, 'segments', '20260101000000'));
  await assert.rejects(openCrawl(dir), {code: 'MANIFEST_INVALID'});
});

test('a folder that cannot be made is an error at once, and manifests that are no folder are named', async (t) => {
  const {initCrawl} = await import('../../jobs/config/init-crawl.ts');
  if (process.platform === 'linux')
    await assert.rejects(initCrawl('/proc/no-such/crawl'), {code: 'NOT_WRITABLE'});
  const dir = join(await temporaryFolder(t), 'a', 'b');
  assert.equal(await initCrawl(dir), dir);
  await rm(join(dir, 'manifests'), {recursive: true});
  await writeFile(join(dir, 'manifests'), '');
  await assert.rejects(openCrawl(dir), {code: 'MANIFEST_INVALID', message: /manifests is no folder/});
});
