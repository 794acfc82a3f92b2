import assert from 'node:assert/strict';
import {join} from 'node:path';
import {type TestContext, test} from 'node:test';
import {PayloadGroups} from '../../jobs/parse/payloads.ts';
import {type ContentRow, content} from '../../lib/schema/content.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
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

async function payloadFiles(t: TestContext): Promise<string[]> {
  const dir = await temporaryFolder(t);
  const paths: string[] = [];
  for (const [from, to] of [
    [0, 9],
    [9, 15],
  ] as const) {
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
    groups.startAt(share);
    assert.deepEqual((await asked(groups, [0, 7, 14])).sort(), [0, 14, 7], `${share}`);
  }
  const groups = await PayloadGroups.open(paths);
  groups.startAt(0.99);
  assert.deepEqual(await asked(groups, [0, 14]), [14, 0]);
});

test('what is in no file does not come, and no files are no error', async (t) => {
  assert.deepEqual(await asked(await PayloadGroups.open(await payloadFiles(t)), [99, 2]), [2]);
  assert.deepEqual(await asked(await PayloadGroups.open([]), [1]), []);
});
