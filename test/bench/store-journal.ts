import {createHash, randomFillSync} from 'node:crypto';
import {mkdtemp, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {content} from '../../lib/schema/content.ts';
import {type Capture, fetch} from '../../lib/schema/fetch.ts';
import type {Table} from '../../lib/schema/table.ts';
import {journalFiles, openJournal} from '../../lib/store/journal.ts';
import {readJournal} from '../../lib/store/journal-read.ts';
import {sealJournals} from '../../lib/store/journal-seal.ts';
import {createTableFile} from '../../lib/store/parquet.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {sampleRow} from '../support/rows.ts';

/**
 * Journal and sealing: MB/s of payload, CPU ms a row, resident memory. By hand:
 * `npx tsx test/bench/store-journal.ts [rows] [bytes a payload] [folder]`
 */
const rows = Number(process.argv[2] ?? 40_000);
const bytes = Number(process.argv[3] ?? 13_000);
const root = await mkdtemp(join(process.argv[4] ?? tmpdir(), 'crawl-bench-'));
const dir = join(root, 'journal');

let peak = 0;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 20);

async function measure(name: string, payloadBytes: number, work: () => Promise<unknown>): Promise<void> {
  peak = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  const used = process.cpuUsage(cpu);
  const cpuMs = (used.user + used.system) / 1000;
  console.log(
    `${name.padEnd(24)} ${(payloadBytes / 1e6 / (ms / 1000)).toFixed(0).padStart(5)} MB/s  ${(ms / 1000).toFixed(1).padStart(5)} s  ${(cpuMs / rows).toFixed(3)} ms CPU a row  peak RSS ${(peak / 1e6).toFixed(0)} MB`,
  );
}

function capture(i: number, sha256: string): Capture {
  return {
    ...sampleRow(fetch, 0),
    kind: 'page',
    hop: 0,
    url: `https://host-${i % 1000}.example/some/path/to/page-${i}.html`,
    url_key: BigInt(i),
    host_key: BigInt(i % 1000),
    request_header: requestHeader,
    response_header: responseHeader,
    content_sha256: sha256,
    content_digest: 'XTAMXAXUAZ4DBJ3MCEVPTLUZCSCVKOE6',
  };
}
const requestHeader = Buffer.alloc(220, 'GET / HTTP/1.1\r\n');
const responseHeader = Buffer.alloc(600, 'Content-Type: text/html\r\n');

// Bodies and digests are made before: they are no part of the journal's cost (the fetcher hashes as bytes arrive).
const noise = randomFillSync(Buffer.alloc(64 * 2 ** 20));
const bodies = Array.from({length: rows}, (_, i) => {
  const at = (i * 7919 * 16) % (noise.length - bytes);
  return noise.subarray(at, at + bytes);
});
const digests = bodies.map((body) => createHash('sha256').update(body).digest('hex'));
const total = rows * bytes;

await measure('append and flush', total, async () => {
  const journal = await openJournal(dir, {sleep: (ms, signal) => sleep(ms, undefined, {signal: signal!})});
  for (let i = 0; i < rows; i++) {
    await journal.append(capture(i, digests[i]!), bodies[i]!);
    // As in a fetch: other things get their turn.
    if (i % 256 === 255) await new Promise((resolve) => setImmediate(resolve));
  }
  await journal.close();
});
console.log(
  `  ${(await journalFiles(dir)).length} files, ${((await Promise.all((await journalFiles(dir)).map((path) => stat(path)))).reduce((sum, {size}) => sum + size, 0) / 1e6).toFixed(0)} MB`,
);

await measure('read', total, async () => {
  for await (const batch of readJournal(dir)) if (batch.entries.length === 0) throw new Error('empty');
});

const paths: string[] = [];
await measure('seal', total, async () => {
  const sealed = await sealJournals(dir, {
    segment: '20260101000000',
    async create<T extends Table>(table: T) {
      const path = join(root, `${table.name}-${paths.length}.parquet`);
      paths.push(path);
      return createTableFile(table, path, {key: path});
    },
  });
  console.log(
    `  stored ${sealed.stored}, lost ${sealed.lost}, ${sealed.content.length + sealed.fetch.length} files`,
  );
});

await measure('read payloads', total, async () => {
  for (const path of paths.filter((one) => one.includes('content-')))
    for await (const batch of readTable(content, path, {columns: ['payload']}))
      if (batch.length === 0) throw new Error('empty');
});

clearInterval(watch);
await rm(root, {recursive: true});
