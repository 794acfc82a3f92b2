import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {ByteWriter, ParquetWriter} from 'hyparquet-writer';
import {openDatabase, sqlString} from '../../lib/store/duckdb.ts';
import {parquetSchema} from '../../lib/store/table-schema.ts';
import {corpus} from '../support/corpora.ts';

/**
 * Codecs for rows that JavaScript writes: URLs and page texts. Bytes, CPU to write, time for DuckDB to read all.
 * By hand: `npx tsx test/bench/store-codecs.ts`
 */
const pages = corpus('pages');
if (pages === undefined) throw new Error('needs the corpus of pages');
const texts = readdirSync(pages, {recursive: true, withFileTypes: true})
  .filter((entry) => entry.isFile())
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').slice(0, 40_000));
const rows = 6000;
const text = Array.from({length: rows}, (_, i) => {
  const page = texts[(i * 31) % texts.length]!;
  return page.slice(i % 500, (i % 500) + 5000);
});
const url = Array.from(
  {length: rows},
  (_, i) => `https://www.host-${i % 97}.example/section-${i % 11}/article-${(i * 7919) % 100_000}.html`,
);
const schema = parquetSchema({
  name: 'bench',
  version: 1,
  doc: '',
  key: [],
  columns: {url: {type: 'text', doc: ''}, text: {type: 'text', doc: ''}},
});
const dir = mkdtempSync(join(tmpdir(), 'crawl-bench-'));
const db = await openDatabase({memoryBytes: 1e9, threads: 1, spillDir: join(dir, 'spill')});
const raw = text.reduce((sum, one) => sum + one.length, 0) + url.reduce((sum, one) => sum + one.length, 0);
console.log(`${rows} rows, ${(raw / 1e6).toFixed(1)} MB`);

const codecs = {
  UNCOMPRESSED: undefined,
  SNAPPY: undefined,
  'GZIP 1': (input: Uint8Array) => gzipSync(input, {level: 1}),
  'GZIP 3': (input: Uint8Array) => gzipSync(input, {level: 3}),
  'GZIP 6': (input: Uint8Array) => gzipSync(input, {level: 6}),
};
for (const [name, compress] of Object.entries(codecs)) {
  const path = join(dir, 'x.parquet');
  const cpu = process.cpuUsage();
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema,
    codec: name.split(' ')[0] as 'GZIP',
    ...(compress && {compressors: {GZIP: compress}}),
  });
  parquet.write({
    columnData: [
      {name: 'url', data: url},
      {name: 'text', data: text},
    ],
    rowGroupSize: rows,
  });
  parquet.finish();
  const used = process.cpuUsage(cpu);
  writeFileSync(path, writer.getBytes());
  report(name, path, (used.user + used.system) / 1000, await scan(path));
}
await db.run(`CREATE TABLE t AS SELECT * FROM ${sqlString(join(dir, 'x.parquet'))}`);
for (const codec of ['zstd', 'snappy', 'gzip']) {
  const path = join(dir, `${codec}.parquet`);
  const cpu = process.cpuUsage();
  await db.run(`COPY t TO ${sqlString(path)} (FORMAT parquet, COMPRESSION ${codec})`);
  const used = process.cpuUsage(cpu);
  report(`DuckDB ${codec}`, path, (used.user + used.system) / 1000, await scan(path));
}
await db.close();
rmSync(dir, {recursive: true});

/** CPU ms of a full scan, least of three. */
async function scan(path: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3; i++) {
    const cpu = process.cpuUsage();
    await db.all(`SELECT sum(length(url)), sum(length(text)) FROM ${sqlString(path)}`);
    const used = process.cpuUsage(cpu);
    least = Math.min(least, (used.user + used.system) / 1000);
  }
  return least;
}

function report(name: string, path: string, writeMs: number, readMs: number): void {
  const {size} = statSync(path);
  console.log(
    `${name.padEnd(14)} ${(size / 1e6).toFixed(2).padStart(6)} MB  write ${writeMs.toFixed(0).padStart(5)} ms CPU (${(raw / 1000 / writeMs).toFixed(0)} MB/s)  read ${readMs.toFixed(0).padStart(4)} ms CPU`,
  );
}
