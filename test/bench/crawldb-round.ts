/**
 * One round against a crawldb of a given size: generate, updatedb, invertlinks. Data are made up: hosts of Zipf-like
 * size, a fifth of the URLs fetched; of the links 80 % go to known URLs.
 *
 * node --import tsx test/bench/crawldb-round.ts [rows=1000000] [pages=20000] [links a page=50]
 */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {embeddedExecutor} from '../../jobs/executor.ts';
import {generate} from '../../jobs/generate.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {defineJob, type Job} from '../../jobs/job.ts';
import {runJob} from '../../jobs/run-job.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import type {Table} from '../../lib/schema/table.ts';
import {type TableName, tables} from '../../lib/schema/tables.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {makeFolders} from '../../lib/store/crawl.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import type {Edit, FileRef} from '../../lib/store/manifest-types.ts';
import {defaultOptions} from '../support/default-options.ts';
import {testEffects} from '../support/temporary-crawl.ts';

const [rows = 1_000_000, pages = 20_000, links = 50] = process.argv.slice(2).map(Number);
const dir = await mkdtemp(join(tmpdir(), 'crawl-bench-'));
await makeFolders(dir);
await writeFile(join(dir, 'crawl.yaml'), '');
const {config} = loadConfig({env: {}});
const effects = testEffects(Date.now());
const digest = makeScope(config.scope, config.url, config.links, []).digest;

/** A select list of all columns of a table: given expressions, else null or a zero. */
function columns(table: Table, given: Readonly<Record<string, string>>): string {
  const zero = {
    text: "''",
    json: "''",
    bytes: "''::BLOB",
    boolean: 'false',
    timestamp: "TIMESTAMPTZ '2026-01-01 00:00:00Z'",
  };
  return Object.entries(table.columns)
    .map(([name, {type, nullable}]) => {
      const plain = nullable ? 'NULL' : Object.hasOwn(zero, type) ? zero[type as keyof typeof zero] : '0';
      return `${given[name] ?? plain} AS "${name}"`;
    })
    .join(', ');
}

async function make(
  part: readonly {slot: string; table: TableName; select: string; facts?: FileRef['facts']}[],
  segments: NonNullable<Edit['segments']>,
) {
  const job = defineJob({
    name: 'bench-data',
    summary: 'Makes data up.',
    options: {},
    locks: () => [],
    async plan(_options, {snapshot, now}) {
      return {
        base: snapshot.manifest.number,
        now: now(),
        tasks: [{stage: 0, part: 0, inputs: [], params: {}}],
      };
    },
    async run(_task, ctx) {
      const db = await openDatabase({memoryBytes: 2e9, spillDir: await ctx.store.scratch()});
      const files: FileRef[] = [];
      for (const {slot, table, select, facts} of part)
        files.push(
          await db.copy(
            select,
            {},
            await ctx.store.create(tables[table], slot),
            facts ? {facts, rowGroupRows: 20_480} : {},
          ),
        );
      await db.close();
      return {files, counters: {}, reasons: {}};
    },
    next(_plan, _stage, results) {
      const files = results[0]?.files ?? [];
      return {
        edit: {reads: [], writes: Object.fromEntries(part.map(({slot}, i) => [slot, [files[i]!]])), segments},
      };
    },
  });
  await timed('made up', job, {});
}

async function timed<O extends OptionDeclarations>(label: string, job: Job<O>, options: OptionValues<O>) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const report = await runJob(job, options, {
    dir,
    config,
    effects,
    executor: embeddedExecutor({concurrency: 1}),
  });
  const used = process.cpuUsage(cpu);
  console.log(
    `${label}: ${((performance.now() - start) / 1000).toFixed(1)} s, ${((used.user + used.system) / 1e6).toFixed(1)} s CPU, ` +
      `peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB so far ${JSON.stringify(report.counters)}`,
  );
  return report;
}

const hosts = Math.max(10, Math.round(rows / 50));
/** URL number i, its host drawn by i, so that a few hosts are large. */
const host = (i: string) =>
  `('h' || (pow(hash(${i}) / 18446744073709551616.0, 3) * ${hosts})::BIGINT || '.test')`;
const url = (i: string) => `('http://' || ${host(i)} || '/some/path/of/usual/length/' || ${i})`;
const keys = (i: string, prefix = '') => ({
  [`${prefix}host_key`]: `hash(${host(i)})`,
  [`${prefix}url_key`]: `hash(${url(i)})`,
  [`${prefix}url`]: url(i),
});
const names = (i: string) => ({url_host_name: host(i), url_host_registered_domain: host(i)});

await make(
  [
    {
      slot: 'crawldb',
      table: 'crawldb',
      facts: {kind: 'base'},
      select: `SELECT ${columns(tables.crawldb, {
        ...keys('i'),
        ...names('i'),
        status: `CASE WHEN i % 5 = 0 THEN 'fetched' ELSE 'unfetched' END`,
        score: `CASE WHEN i % 5 = 0 THEN 1 ELSE pow(0.85, 3) * 0.85 END`,
        depth: '4',
        hop_type: `'L'`,
        discovered_from: `'http://seed.test/'`,
        fetch_time: `CASE WHEN i % 5 = 0 THEN TIMESTAMPTZ '2026-01-02 00:00:00Z' END`,
        next_fetch_time: `CASE WHEN i % 5 = 0 THEN TIMESTAMPTZ '2036-01-02 00:00:00Z' ELSE TIMESTAMPTZ '2026-01-01 00:00:00Z' END`,
        signature: `CASE WHEN i % 5 = 0 THEN unhex(md5(i::VARCHAR)) END`,
        fetch_interval_s: '86400',
      })} FROM (SELECT i FROM range(${rows}) t(i)) ORDER BY fetch_time IS NOT NULL, score DESC, url_key`,
    },
  ],
  {},
);
const segment = '20260601000000';
const capture = `'c' || i`;
const made = {
  segment: `'${segment}'`,
  capture_id: capture,
  fetch_time: `TIMESTAMPTZ '2026-06-01 01:00:00Z' + to_milliseconds(i)`,
};
const target = `CASE WHEN hash(i, n) % 5 = 0 THEN ${rows} + hash(i, n) % ${rows * 10} ELSE hash(n, i) % ${rows} END`;
await make(
  [
    {
      slot: `segments/${segment}/fetch`,
      table: 'fetch',
      select: `SELECT ${columns(tables.fetch, {...keys('i'), ...names('i'), ...made, kind: `'page'`, status: `'success'`, content_segment: `'${segment}'`, content_length: '20000', origin_url: url('i')})}
        FROM (SELECT 5 * i + 1 AS i FROM range(${pages}) t(i))`,
    },
    {
      slot: `segments/${segment}/parse/p`,
      table: 'parse',
      select: `SELECT ${columns(tables.parse, {...keys('i'), segment: made.segment, parse_id: `'p'`, capture_id: capture, status: `'success'`, signature: 'unhex(md5((i % 100000)::VARCHAR))'})}
        FROM (SELECT 5 * i + 1 AS i FROM range(${pages}) t(i))`,
    },
    {
      slot: `segments/${segment}/outlinks/p`,
      table: 'outlinks',
      select: `SELECT ${columns(tables.outlinks, {
        ...made,
        ...keys('i', 'from_'),
        ...keys('k', 'to_'),
        to_host_name: host('k'),
        to_registered_domain: host('k'),
        parse_id: `'p'`,
        position: 'n',
        kind: `'a'`,
        hop_type: `'L'`,
        depth: '5',
        accepted: 'true',
        anchor: `'some anchor text ' || n`,
        rules_digest: `'${digest}'`,
      })} FROM (SELECT i, n, ${target} AS k FROM (SELECT 5 * i + 1 AS i FROM range(${pages}) t(i)), range(${links}) u(n))`,
    },
  ],
  {
    [segment]: {
      state: 'fetched',
      urls: pages,
      hosts: 1,
      partitions: 1,
      generated_time: '2026-06-01T00:00:00Z',
      fetched_time: '2026-06-01T02:00:00Z',
      current: 'p',
    },
  },
);
await timed('generate', generate, {
  ...defaultOptions(generate),
  topN: pages,
  maxPerHost: 100,
  partitions: 4,
  concurrent: true,
});
await timed('updatedb', updatedb, {segments: [segment], unparsed: false, noAdditions: false});
await timed('invertlinks', invertlinks, {segments: [segment]});
await rm(dir, {recursive: true});
