/**
 * invertlinks of a round against one sort of its links: node --import tsx test/bench/invertlinks.ts [pages] [links a page]
 *
 * The links of a segment, targets skewed as in linkrank.ts, go into an empty linkdb, and then those of a second segment
 * of other pages beside them. The sort is DuckDB's: the columns of the linkdb of each link, by target and source, into
 * one file. Both in turn, with the same memory and threads. Prints processor time of each, and the greatest memory.
 */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {cpuUsage, resourceUsage} from 'node:process';
import {realEffects} from '../../jobs/effects.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import {defineJob} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {Column, Table} from '../../lib/schema/table.ts';
import {tables} from '../../lib/schema/tables.ts';
import {configName, makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {emptySelect} from '../../lib/store/sql-types.ts';
import {bindSnapshot} from '../../lib/store/views.ts';
import {defaultOptions} from '../support/default-options.ts';

const pages = Number(process.argv[2] ?? 100_000);
const linksPerPage = Number(process.argv[3] ?? 50);
const memory = '1GB';

const pageRows = (segment: string, first: number) => `
SELECT '${segment}' AS segment, 'c' || i AS capture_id, 'page' AS kind, 'success' AS status, 200::SMALLINT AS fetch_status,
  hash(i // 50) AS host_key, hash(i) AS url_key, 'http://h' || (i // 50) || '.test/' || i AS url,
  TIMESTAMPTZ '2026-01-01' AS fetch_time, 'p1' AS parse_id
FROM range(${first}, ${first + pages}) t(i)`;

const linkRows = (segment: string, first: number) => `
SELECT
  '${segment}' AS segment, 'p1' AS parse_id, 'c' || source AS capture_id, position,
  hash(source // 50) AS from_host_key, hash(source) AS from_url_key,
  'http://h' || (source // 50) || '.test/' || source AS from_url, TIMESTAMPTZ '2026-01-01' AS fetch_time,
  hash(target // 50) AS to_host_key, hash(target) AS to_url_key,
  'http://h' || (target // 50) || '.test/' || target AS to_url,
  'words of ' || target % 1000 AS anchor, 'a' AS kind, 'L' AS hop_type, true AS accepted
FROM (
  SELECT
    ${first} + i // ${linksPerPage} AS source, (i % ${linksPerPage})::INTEGER AS position,
    floor(pow((hash(i * 2 + ${first}) % 1000003) / 1000003.0, 3) * ${pages * 10})::BIGINT AS target
  FROM range(${pages * linksPerPage}) t(i)
)`;

/** Values for the columns that must have one and are not looked at. */
async function others(db: Database, table: Table, rows: string): Promise<string> {
  const given = new Set(
    (await db.all<{column_name: string}>(`DESCRIBE ${rows}`)).map((row) => row.column_name),
  );
  return Object.entries(table.columns)
    .filter(([name, column]) => !given.has(name) && column.nullable !== true)
    .map(([name, column]) => `${zeroOf(column)} AS ${name}, `)
    .join('');
}

function zeroOf({type}: Column): string {
  return type === 'text'
    ? `''`
    : type === 'boolean'
      ? 'false'
      : type === 'timestamp'
        ? `TIMESTAMPTZ '2026-01-01'`
        : '0';
}

/** A segment that was fetched and parsed. */
function fill(segment: string, first: number) {
  const pageColumns = pageRows(segment, first);
  const parts = {
    [`segments/${segment}/fetch`]: ['fetch', `SELECT * EXCLUDE (parse_id) FROM (${pageColumns})`],
    [`segments/${segment}/parse/p1`]: [
      'parse',
      `SELECT * EXCLUDE (kind, fetch_status, fetch_time) FROM (${pageColumns})`,
    ],
    [`segments/${segment}/outlinks/p1`]: ['outlinks', linkRows(segment, first)],
  } as const;
  return defineJob({
    name: 'fill',
    summary: 'Writes a segment.',
    options: {},
    locks: () => [],
    async plan(_options, {snapshot, now}) {
      const base = snapshot.manifest.number;
      return {base, now: now(), tasks: [{stage: 0, part: 0, inputs: [], params: {}}]};
    },
    async run(_task, ctx) {
      const db = await openDatabase({memoryBytes: 1e9, spillDir: await ctx.store.scratch()});
      try {
        const slots: Record<string, FileRef[]> = {};
        for (const [slot, [name, rows]] of Object.entries(parts)) {
          const table = tables[name];
          const query = `${emptySelect(table)} UNION ALL BY NAME SELECT ${await others(db, table, rows)} * FROM (${rows})`;
          slots[slot] = [await db.copy(query, {}, await ctx.store.create(table, slot))];
        }
        return {files: Object.values(slots).flat(), counters: {}, reasons: {}, facts: {slots}};
      } finally {
        await db.close();
      }
    },
    next(_plan, _stage, results) {
      const writes = results[0]?.facts?.slots as Record<string, FileRef[]>;
      const time = '2026-01-01T00:00:00.000Z';
      const counts = {
        urls: pages,
        hosts: pages / 50,
        partitions: 1,
        generated_time: time,
        fetched_time: time,
      };
      return {edit: {reads: [], writes, segments: {[segment]: {...counts, state: 'fetched', current: 'p1'}}}};
    },
  });
}

const sort = (segment: string, file: string) => `
COPY (
  SELECT to_host_key, to_url_key, to_url, from_host_key, from_url_key, from_url, anchor, rel, kind, 1 AS links,
    to_host_key = from_host_key AS internal, fetch_time, segment
  FROM outlinks WHERE segment = '${segment}'
  ORDER BY to_host_key, to_url_key, from_host_key, from_url_key
) TO '${file}' (FORMAT parquet, COMPRESSION zstd)`;

async function measured(work: () => Promise<unknown>): Promise<number> {
  const before = cpuUsage();
  await work();
  const {user, system} = cpuUsage(before);
  return Math.round((user + system) / 1e4) / 100;
}

const dir = await mkdtemp(join(tmpdir(), 'crawl-bench-'));
try {
  await makeFolders(dir);
  await writeFile(join(dir, configName), '');
  const effects = realEffects(() => {}, new AbortController().signal);
  const {config} = loadConfig({env: {}, file: {name: configName, text: `storage:\n  memory: ${memory}\n`}});
  const settings = {dir, config, effects, executor: embeddedExecutor({concurrency: 1})};
  for (const [at, segment] of ['20260101000000', '20260102000000'].entries()) {
    await runJob(fill(segment, at * pages), {}, settings);
    const snapshot = await (await openCrawl(dir)).head();
    const sorted = async () => {
      const db: Database = await openDatabase({
        memoryBytes: config.storage.memory,
        spillDir: join(dir, 'tmp'),
      });
      try {
        await bindSnapshot(db, snapshot);
        await db.run(sort(segment, join(dir, 'tmp', 'sorted.parquet')));
      } finally {
        await db.close();
      }
    };
    const firstSort = await measured(sorted);
    const invert = await measured(() => runJob(invertlinks, defaultOptions(invertlinks), settings));
    const secondSort = await measured(sorted);
    const oneSort = (firstSort + secondSort) / 2;
    console.log(
      JSON.stringify({
        links: pages * linksPerPage,
        linkdb_before: at * pages * linksPerPage,
        sort_cpu_s: [firstSort, secondSort],
        invertlinks_cpu_s: invert,
        ratio: Math.round((invert / oneSort) * 100) / 100,
        max_rss_mb: Math.round(resourceUsage().maxRSS / 1024),
      }),
    );
  }
} finally {
  await rm(dir, {recursive: true, force: true});
}
