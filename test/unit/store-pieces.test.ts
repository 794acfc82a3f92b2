import assert from 'node:assert/strict';
import {createHash} from 'node:crypto';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {test} from 'node:test';
import {type Capture, fetch} from '../../lib/schema/fetch.ts';
import {journalFiles, openJournal} from '../../lib/store/journal.ts';
import {journalPieces} from '../../lib/store/journal-pieces.ts';
import {journalOutcomes} from '../../lib/store/journal-read.ts';
import {markRepeats} from '../../lib/store/piece-repeats.ts';
import {PieceSealer} from '../../lib/store/piece-sealer.ts';
import {SealThread} from '../../lib/store/sealing.ts';
import {sampleRow} from '../support/rows.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

const segment = '20260101000000';

/** Seals pages with these payloads, in one piece. @param from number of the first page */
async function addPiece(folder: string, from: number, payloads: readonly string[]): Promise<void> {
  const journal = await openJournal(folder, {sleep: () => new Promise(() => {})});
  for (const [index, payload] of payloads.entries()) await journal.append(...page(from + index, payload));
  await journal.close();
  const sealer = await PieceSealer.open(folder, segment);
  for (const path of await journalFiles(folder)) await sealer.seal(path, new Map());
}

function page(number: number, payload: string): [Capture, Uint8Array] {
  const bytes = Buffer.from(payload);
  const row: Capture = {
    ...sampleRow(fetch, number),
    kind: 'page',
    host_key: 5n,
    url_key: BigInt(number),
    status: 'success',
    soft_404: null,
    content_sha256: createHash('sha256').update(bytes).digest('hex'),
    content_digest: createHash('sha1').update(bytes).digest('hex'),
    content_length: bytes.length,
    content_segment: null,
  };
  return [row, bytes];
}

/** Pages in the pieces, and those of them that are marked. */
async function pagesOf(folder: string): Promise<{pages: bigint[]; marked: bigint[]}> {
  const pages: bigint[] = [];
  const marked: bigint[] = [];
  for await (const rows of journalOutcomes(folder, ['url_key', 'soft_404']))
    for (const {url_key, soft_404} of rows) {
      pages.push(url_key);
      if (soft_404 === 'repeated') marked.push(url_key);
    }
  return {pages, marked};
}

const keys = (from: number, count: number) => Array.from({length: count}, (_, index) => BigInt(from + index));
const times = (count: number, payload: string) => Array.from({length: count}, () => payload);

test('a piece that is marked again, for another payload, keeps its rows', async (t) => {
  const folder = await temporaryFolder(t);
  await addPiece(folder, 0, [...times(10, 'not found'), ...times(9, 'no such page'), 'own']);
  await markRepeats(folder, await journalPieces(folder));
  assert.deepEqual(await pagesOf(folder), {pages: keys(0, 20), marked: keys(0, 10)});
  for (const [from, payload] of [
    [20, 'no such page'],
    [21, 'own'],
  ] as const) {
    await addPiece(folder, from, [payload]);
    await markRepeats(folder, await journalPieces(folder));
    await markRepeats(folder, await journalPieces(folder));
    const found = await pagesOf(folder);
    assert.deepEqual(found.pages, keys(0, from + 1));
    assert.deepEqual(found.marked, [...keys(0, 19), 20n]);
  }
});

test('who reads the pieces while they are marked gets each row once', async (t) => {
  const folder = await temporaryFolder(t);
  await addPiece(folder, 0, times(6, 'not found'));
  await addPiece(folder, 6, times(6, 'not found'));
  const read: bigint[] = [];
  for await (const rows of journalOutcomes(folder, ['url_key'])) {
    if (read.length === 0) await markRepeats(folder, await journalPieces(folder));
    read.push(...rows.map((row) => row.url_key));
  }
  assert.deepEqual(read, keys(0, 12));
  assert.deepEqual((await pagesOf(folder)).marked, keys(0, 12));
});

test('pieces that cannot be read fail the order that needs them, not the thread', async (t) => {
  const folder = await temporaryFolder(t);
  const journal = await openJournal(folder, {sleep: () => new Promise(() => {})});
  await journal.append(...page(0, 'payload'));
  await journal.close();
  await writeFile(join(folder, '000007.piece.json'), 'torn');
  const [path] = (await journalFiles(folder)) as [string];
  const thread = new SealThread(folder, segment);
  t.after(() => thread.close());
  for (let order = 0; order < 2; order++) {
    assert.equal((await thread.ask({type: 'digests', path, leastBytes: 0})).length, 1);
    await assert.rejects(thread.ask({type: 'seal', path, held: new Map()}), /JSON/);
  }
});
