import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {parsePage} from '../../lib/parse/page.ts';
import {hammingDistance} from '../../lib/signature/simhash.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import {corpus} from '../support/corpora.ts';
import {pageInput, pageOptions} from '../support/parse-options.ts';
import {temporaryFolder} from '../support/temporary-crawl.ts';

/**
 * Near-duplicates by simhash: precision and recall on the public pages by distance, and the join of docs/parse.md over
 * many fingerprints: `tsx test/bench/near-duplicates.ts [FINGERPRINTS]`, 1 M by default. A tenth of them are planted,
 * each 0 to 3 bits from another; all must be found.
 */
const fingerprints = Number(process.argv[2] ?? 1_000_000);

/** What is near by its words: this share of runs of three words in common. Chosen: a page with another footer has it. */
const same = 0.7;

function corpusPages(): {simhash: bigint; runs: Set<string>}[] {
  const index = corpus('pages/INDEX.jsonl');
  if (index === undefined) return [];
  return readFileSync(index, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as {file: string}).file)
    .filter((file) => /html?(?:\.gz)?$/.test(file))
    .flatMap((file) => {
      const bytes = readFileSync(corpus(file)!);
      const {simhash, text} = parsePage(
        pageInput(file.endsWith('.gz') ? gunzipSync(bytes) : bytes, ['Content-Type: text/html']),
        pageOptions,
      ).columns;
      const words = (text ?? '').toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
      if (simhash === null || words.length < 20) return [];
      return [{simhash, runs: new Set(words.slice(2).map((_, at) => words.slice(at, at + 3).join(' ')))}];
    });
}

const pages = corpusPages();
const tally = Array.from({length: 9}, () => ({found: 0, right: 0}));
let wanted = 0;
for (const [at, one] of pages.entries())
  for (const two of pages.slice(at + 1)) {
    let both = 0;
    for (const run of one.runs) if (two.runs.has(run)) both++;
    const near = both / (one.runs.size + two.runs.size - both) >= same;
    if (near) wanted++;
    const distance = hammingDistance(one.simhash, two.simhash);
    for (let limit = distance; limit < tally.length; limit++) {
      tally[limit]!.found++;
      if (near) tally[limit]!.right++;
    }
  }
console.log(`${pages.length} pages, ${wanted} pairs share ${same} of their runs of three words`);
for (const [limit, {found, right}] of tally.entries())
  console.log(
    `distance <= ${limit}: ${found} pairs, precision ${(right / found).toFixed(3)}, recall ${(right / wanted).toFixed(3)}`,
  );

const cleanUp: (() => unknown)[] = [];
const dir = await temporaryFolder({after: (act: () => unknown) => cleanUp.push(act)} as never);
const db = await openDatabase({memoryBytes: 1e9, spillDir: join(dir, 'spill')});
await db.run(`CREATE TABLE parse AS
  SELECT n::VARCHAR AS capture_id, n::VARCHAR AS url, CASE WHEN n % 10 > 0 THEN hash(n)
    ELSE xor(hash(n + 1), CASE n // 10 % 4 WHEN 0 THEN 0::UBIGINT WHEN 1 THEN 1::UBIGINT << (n % 61)
      WHEN 2 THEN 3::UBIGINT << (n % 59) ELSE (1::UBIGINT << 63) + (1::UBIGINT << 31) + (1::UBIGINT << (n % 29)) END)
    END AS simhash
  FROM range(${fingerprints}) t(n)`);
const [, query] = /```sql\n(WITH quarter[\s\S]*?);?\n```/.exec(
  readFileSync(join(import.meta.dirname, '../../docs/parse.md'), 'utf8'),
)!;
const started = performance.now();
const before = process.cpuUsage();
const [result] = await db.all<{pairs: number; planted: number}>(
  `SELECT count(*) AS pairs, count(*) FILTER (abs(url::BIGINT - url_1::BIGINT) = 1) AS planted FROM (${query}) t(url, url_1, distance)`,
);
const cpu = process.cpuUsage(before);
console.log(
  `${fingerprints} fingerprints: ${result!.pairs} pairs, ${result!.planted} of ${Math.ceil(fingerprints / 10)} planted ones; ` +
    `${((cpu.user + cpu.system) / 1e6).toFixed(1)} s CPU, ${((performance.now() - started) / 1000).toFixed(1)} s, ` +
    `peak of the process ${(process.resourceUsage().maxRSS / 1000).toFixed(0)} MB`,
);
await db.close();
for (const act of cleanUp) await act();
