/**
 * "Was this URL seen?" for a round's links: the exact set (keys in Parquet, scanned and joined) against a Bloom filter
 * with 1 % false positives (9.6 bits and 7 probes a key) in memory.
 *
 * timeout 120 nice -n 10 node --import tsx test/bench/seen-set.ts [keys=5000000] [asked=1000000]
 */
import {mkdtemp, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {openDatabase} from '../../lib/store/duckdb.ts';

const [keys = 5_000_000, asked = 1_000_000] = process.argv.slice(2).map(Number);
const dir = await mkdtemp(join(tmpdir(), 'crawl-bench-'));

async function cpu(label: string, work: () => Promise<string> | string): Promise<void> {
  const before = process.cpuUsage();
  const result = await work();
  const {user, system} = process.cpuUsage(before);
  console.log(`${label}: ${((user + system) / 1e6).toFixed(2)} s CPU, ${result}`);
}

const db = await openDatabase({memoryBytes: 1e9, spillDir: dir});
const file = join(dir, 'keys.parquet');
await db.run(`COPY (SELECT hash(i) AS url_key FROM range(${keys}) t(i)) TO '${file}' (COMPRESSION zstd)`);
// Half of what is asked for is known
await db.run(
  `CREATE TABLE asked AS SELECT hash(i + ${keys - asked / 2}) AS url_key FROM range(${asked}) t(i)`,
);
for (let run = 0; run < 2; run++)
  await cpu('exact', async () => {
    const [row] = await db.all<{n: number}>(
      `SELECT count(*) AS n FROM '${file}' SEMI JOIN asked USING (url_key)`,
    );
    return `${row?.n} of ${asked} known, ${((await stat(file)).size / keys).toFixed(2)} bytes a key`;
  });

const bits = Math.ceil(keys * 9.585); // -ln(0.01) / ln(2)^2
const words = new Uint32Array(Math.ceil(bits / 32));
/** A key's two halves, from its number (the finalizer of MurmurHash3). */
function mix(n: number): number {
  let h = Math.imul(n ^ (n >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
/** Seven places of key number `n`, by double hashing (Kirsch and Mitzenmacher 2006): whether `visit` takes them all. */
function places(n: number, visit: (bit: number) => boolean): boolean {
  const [first, step] = [mix(n) * 2 ** 21 + mix(n + 0x9e3779b9), mix(~n) | 1];
  for (let i = 0; i < 7; i++) if (!visit((first + i * step) % bits)) return false;
  return true;
}
await cpu('bloom, built', () => {
  for (let n = 0; n < keys; n++)
    places(n, (bit) => {
      words[bit >>> 5]! |= 1 << (bit & 31);
      return true;
    });
  return `${((words.length * 4) / keys).toFixed(2)} bytes a key`;
});
await cpu('bloom, asked', () => {
  let found = 0;
  for (let n = keys - asked / 2; n < keys + asked / 2; n++)
    if (places(n, (bit) => (words[bit >>> 5]! & (1 << (bit & 31))) !== 0)) found++;
  const wrong = found - asked / 2;
  return `${found} of ${asked} said to be known: ${wrong} new URLs lost, ${((100 * wrong) / (asked / 2)).toFixed(2)} %`;
});
await db.close();
await rm(dir, {recursive: true});
