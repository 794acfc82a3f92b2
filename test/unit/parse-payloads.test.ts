import assert from 'node:assert/strict';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {PayloadGroups} from '../../jobs/parse/payloads.ts';
import {type ContentRow, content} from '../../lib/schema/content.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {crawl as command} from '../support/cli.ts';
import {commitRows, jobHarness} from '../support/job-harness.ts';
import {captureRow, commitFetched} from '../support/parse-captures.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** Payloads of 3 MB, so that three make a row group; named by their number. */
function row(at: number): ContentRow {
  const payload = new Uint8Array(3 * 2 ** 20).fill(at);
  return {
    segment: 's',
    content_sha256: `d${at}`,
    content_digest: '',
    content_length: payload.length,
    payload,
  };
}

const twoFiles = [
  [0, 9],
  [9, 15],
] as const;

async function payloadFiles(
  t: TestContext,
  files: readonly (readonly [from: number, to: number])[] = twoFiles,
): Promise<string[]> {
  const dir = await temporaryFolder(t);
  const paths: string[] = [];
  for (const [from, to] of files) {
    const path = join(dir, `${from}.parquet`);
    const file = createTableFile(content, path, {key: 'x'});
    for (let at = from; at < to; at++) await file.write([row(at)]);
    await file.close();
    paths.push(path);
  }
  return paths;
}

async function asked(groups: PayloadGroups, numbers: readonly number[]): Promise<number[]> {
  const wanted = new Map(numbers.map((at) => [`d${at}`, [{content_length: 3 * 2 ** 20}]]));
  const got: number[] = [];
  for await (const {content_sha256, payload} of groups.read(wanted)) {
    assert.equal(wanted.delete(content_sha256), true);
    assert.equal(payload.length, 3 * 2 ** 20);
    assert.equal(`d${payload[0]}`, content_sha256);
    got.push(payload[0]!);
  }
  return got;
}

test('payloads come in the order of the files, wherever they are', async (t) => {
  const groups = await PayloadGroups.open(await payloadFiles(t));
  assert.deepEqual(await asked(groups, [14, 3, 1]), [1, 3, 14]);
});

test('what is asked for next is looked for from there on, and then from the start', async (t) => {
  const groups = await PayloadGroups.open(await payloadFiles(t));
  assert.deepEqual(await asked(groups, [6, 7]), [6, 7]);
  assert.deepEqual(await asked(groups, [8, 0, 10]), [8, 10, 0]);
});

test('a part of a segment begins near its place, and still finds what lies before', async (t) => {
  const paths = await payloadFiles(t);
  for (const share of [0, 0.5, 0.99, 1]) {
    const groups = await PayloadGroups.open(paths);
    groups.startAt(share, new Set(paths));
    assert.deepEqual((await asked(groups, [0, 7, 14])).sort(), [0, 14, 7], `${share}`);
  }
  const groups = await PayloadGroups.open(paths);
  groups.startAt(0.99, new Set(paths));
  assert.deepEqual(await asked(groups, [0, 14]), [14, 0]);
});

/** Ten files of two row groups each, of three payloads each: 0 to 5 in the first, and so on. */
const tenFiles = Array.from({length: 10}, (_, at) => [at * 6, at * 6 + 6] as const);
const range = (from: number, to: number): number[] => Array.from({length: to - from}, (_, at) => from + at);

test('what a question costs does not grow with the segment, and a repeat misleads no later one', async (t) => {
  const groups = await PayloadGroups.open(await payloadFiles(t, tenFiles));
  let before = 0;
  const looked = async (numbers: readonly number[]): Promise<number> => {
    assert.equal((await asked(groups, numbers)).length, numbers.length);
    const now = groups.looked - before;
    before = groups.looked;
    return now;
  };
  for (let at = 0; at < 60; at += 12) assert.ok((await looked(range(at, at + 12))) <= 5, `from ${at}`);
  await looked(range(0, 24));
  // Payload 0 is asked for again far behind it: that question goes around, the next begins where it would have.
  await looked([...range(24, 36), 0]);
  assert.ok((await looked(range(36, 48))) <= 5);
  await looked([...range(48, 54), 59, 0]);
  assert.ok((await looked(range(54, 60))) <= 5);
});

test('a part of a later fetch file begins at its own payloads, among those of the segment itself', async (t) => {
  const paths = await payloadFiles(t, tenFiles);
  const cases: readonly (readonly [share: number, own: readonly string[], asked: number])[] = [
    [0, paths, 0],
    [0.5, paths, 30],
    [0.9, paths, 54],
    // The first six files are of other segments.
    [0, paths.slice(6), 36],
    [0.5, paths.slice(6), 48],
    [0.75, paths.slice(6), 54],
    // And here the last eight.
    [0.5, paths.slice(0, 2), 6],
  ];
  for (const [share, own, number] of cases) {
    const groups = await PayloadGroups.open(paths);
    groups.startAt(share, new Set(own));
    assert.deepEqual(await asked(groups, range(number, number + 6)), range(number, number + 6));
    assert.ok(groups.looked <= 4, `${share} of ${own.length} files: ${groups.looked} groups`);
  }
});

test('what is in no file does not come, and no files are no error', async (t) => {
  assert.deepEqual(await asked(await PayloadGroups.open(await payloadFiles(t)), [99, 2]), [2]);
  assert.deepEqual(await asked(await PayloadGroups.open([]), [1]), []);
});

test('tasks know what share of the segment lies before them, in earlier files too', async (t) => {
  const crawl = await jobHarness(t);
  const segment = '20260101000000';
  const samples = Array.from({length: 1200}, (_, at) => ({url: `http://a.test/${at}`, body: 'text'}));
  await commitFetched(crawl, segment, samples);
  const rows = samples.map((sample, at) => captureRow(segment, sample, at));
  const slot = `segments/${segment}/fetch`;
  await commitRows(crawl, [
    {slot, table: 'fetch', rows: rows.slice(0, 300)},
    {slot, table: 'fetch', rows: rows.slice(300)},
  ]);
  const {code, stdout, stderr} = await command(crawl.dir, ['parse', '--dry-run', '--set', 'parse.workers=2']);
  assert.equal(code, 0, stderr);
  const {tasks} = JSON.parse(stdout) as {tasks: {params: {from: number; to: number; share: number}}[]};
  assert.deepEqual(
    tasks.map(({params: {from, to, share}}) => [from, to, share]),
    [
      [0, 300, 0],
      [0, 600, 0.25],
      [600, 900, 0.75],
    ],
  );
});
