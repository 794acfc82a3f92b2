/** What crawl verify finds in a crawl whose files were changed behind its back. */
import assert from 'node:assert/strict';
import {readdir, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test from 'node:test';
import {inject} from '../../jobs/inject.ts';
import {verifyCrawl} from '../../jobs/verify.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {crawl as command} from '../support/cli.ts';
import {jobHarness} from '../support/job-harness.ts';

async function crawlOfTwoCommits(t: Parameters<typeof jobHarness>[0]) {
  const crawl = await jobHarness(t);
  for (const url of ['http://a.test/', 'http://b.test/'])
    await crawl.run(inject, {files: [], urls: [url], update: false, overwrite: false});
  const verify = (more: Partial<Parameters<typeof verifyCrawl>[0]> = {}) =>
    verifyCrawl({
      dir: crawl.dir,
      segments: [],
      quick: false,
      effects: crawl.effects,
      progress: () => undefined,
      ...more,
    });
  const snapshot = await (await openCrawl(crawl.dir)).head();
  const file = (await snapshot.files('seeds')).at(-1);
  return {crawl, verify, snapshot, file: file!, path: snapshot.store.path(file!)};
}

test('a crawl that nobody touched is as it was written', async (t) => {
  const {verify, snapshot} = await crawlOfTwoCommits(t);
  const points: number[] = [];
  const {manifest, files, bytes, findings} = await verify({progress: ({done}) => points.push(done)});
  const slots = Object.values(snapshot.manifest.slots);
  assert.deepEqual(findings, []);
  assert.equal(manifest, snapshot.manifest.number);
  assert.equal(
    files,
    slots.reduce((sum, slot) => sum + slot.files, 0),
  );
  assert.equal(
    bytes,
    slots.reduce((sum, slot) => sum + slot.bytes, 0),
  );
  assert.equal(points.length, files);
});

test('one changed bit is found by reading, not by sizes', async (t) => {
  const {verify, file, path} = await crawlOfTwoCommits(t);
  const content = await readFile(path);
  content[content.length >> 1]! ^= 1;
  await writeFile(path, content);
  assert.deepEqual((await verify({quick: true})).findings, []);
  const {findings} = await verify();
  assert.deepEqual(
    findings.map(({file, finding}) => [file, finding]),
    [[file.key, 'content']],
  );
});

test('a cut file and a missing one are both told, with what they held', async (t) => {
  const {verify, file, path, snapshot} = await crawlOfTwoCommits(t);
  await truncate(path, 10);
  const [other] = await snapshot.files('crawldb');
  await rm(snapshot.store.path(other!));
  const {findings} = await verify({quick: true});
  assert.deepEqual(
    findings.toSorted((a, b) => (a.finding < b.finding ? -1 : 1)),
    [
      {file: other!.key, finding: 'missing', detail: `${other!.rows} rows of crawldb`},
      {file: file.key, finding: 'size', detail: `10 bytes, ${file.bytes} were written`},
    ],
  );
});

test('a list and an older manifest that were changed are found', async (t) => {
  const {crawl, verify, snapshot} = await crawlOfTwoCommits(t);
  const {ref} = snapshot.manifest.slots.seeds!;
  await writeFile(join(crawl.dir, ref), '{"files": []}');
  const [oldest] = (await readdir(join(crawl.dir, 'manifests'))).sort();
  const path = join(crawl.dir, 'manifests', oldest!);
  await writeFile(path, (await readFile(path, 'utf8')).replace('"job": "inject"', '"job": "inject" '));
  const {findings} = await verify();
  assert.deepEqual(
    findings.map(({file, finding}) => [file, finding]),
    [
      [`manifests/${oldest}`, 'manifest'],
      [ref, 'list'],
    ],
  );
});

test('the command: as written, then a row and exit code 6, of one segment alone, and as JSON', async (t) => {
  const {crawl, file, path} = await crawlOfTwoCommits(t);
  const at = (...words: string[]) => command(crawl.dir, words);
  const whole = await at('verify');
  assert.equal(whole.code, 0);
  assert.match(whole.stderr, /^\d+ files, .*: all as written\n$/);
  await truncate(path, 10);
  const cut = await at('verify');
  assert.equal(cut.code, 6);
  assert.ok(cut.stdout.includes(file.key), cut.stdout);
  assert.match(cut.stderr, /: 1 finding; take these files from a copy/);
  const {code, stdout} = await at('verify', '--quick', '--json');
  assert.equal(code, 6);
  assert.deepEqual(JSON.parse(stdout).findings, [
    {file: file.key, finding: 'size', detail: `10 bytes, ${file.bytes} were written`},
  ]);
  const unknown = await at('verify', '20260101000000');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no segment 20260101000000/);
  const before = await at('verify', '--as-of', '1');
  assert.equal(before.code, 0, 'the file belongs to a later manifest');
});
