import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import {test} from 'node:test';
import {readJournal} from '../../lib/store/journal-read.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/** Appends and flushes without end; a line on stdout for each flush that is done. */
const child = `
import {createHash} from 'node:crypto';
const [dir, first] = process.argv.slice(1);
const {openJournal} = await import(${JSON.stringify(new URL('../../lib/store/journal.ts', import.meta.url).href)});
const {fetch} = await import(${JSON.stringify(new URL('../../lib/schema/fetch.ts', import.meta.url).href)});
const {sampleRow} = await import(${JSON.stringify(new URL('../support/rows.ts', import.meta.url).href)});
const journal = await openJournal(dir, {sleep: () => new Promise(() => {})});
for (let i = Number(first); ; i++) {
  const payload = Buffer.alloc(20_000 + (i * 7919) % 300_000, i);
  const content_sha256 = createHash('sha256').update(payload).digest('hex');
  await journal.append({...sampleRow(fetch, 0), kind: 'page', url_key: BigInt(i), content_sha256}, payload);
  if (i % 5 === 4) {
    await journal.flush();
    process.stdout.write(i + '\\n');
  }
}`;

/** Runs the child until it has said `flushes` times that all is on disk, then kills it; gives the last row it spoke of. */
async function runAndKill(dir: string, first: number, flushes: number): Promise<number> {
  const process_ = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', child, dir, `${first}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const exited = new Promise((resolve) => process_.once('exit', (_, signal) => resolve(signal)));
  let last = -1;
  let seen = 0;
  for await (const line of createInterface({input: process_.stdout})) {
    last = Number(line);
    if (++seen === flushes) process_.kill('SIGKILL'); // in the middle of what comes next
  }
  assert.equal(await exited, 'SIGKILL');
  return last;
}

test('after kill -9 in the middle of writing, everything flushed is there, whole', async (t) => {
  const dir = await temporaryFolder(t);
  const ends: number[] = [];
  for (const flushes of [1, 6]) ends.push(await runAndKill(dir, ends.length * 10_000, flushes));
  const found = new Set<number>();
  let lost = 0;
  for await (const batch of readJournal(dir)) {
    lost += batch.lost;
    for (const {row, payload} of batch.entries) {
      const i = Number(row.url_key);
      assert.deepEqual(payload && Buffer.from(payload), Buffer.alloc(20_000 + ((i * 7919) % 300_000), i));
      found.add(i);
    }
  }
  for (const [start, end] of ends.entries())
    for (let i = start * 10_000; i <= end; i++) assert.ok(found.has(i), `row ${i} was flushed and is gone`);
  assert.equal(lost, 0); // the page cache outlives a process: only a power cut makes rows that differ
});
