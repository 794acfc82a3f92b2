/**
 * linkrank over a made-up linkdb. The linkdb is made by a first call with --make, so that peak memory is that of the job
 * alone:
 *
 * node --import tsx test/bench/linkrank.ts --dir FOLDER --make [--pages 1000000] [--links 10000000]
 * node --import tsx test/bench/linkrank.ts --dir FOLDER [--memory 1GB]
 *
 * Targets are skewed (a third of the pages gets seven tenths of the links), a twentieth of the pages links to nothing,
 * 50 pages a host. Prints processor and wall time of the job, its greatest memory, and its iterations.
 */
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {cpuUsage, resourceUsage} from 'node:process';
import {parseArgs} from 'node:util';
import {realEffects} from '../../jobs/effects.ts';
import {defineJob} from '../../jobs/job.ts';
import {linkrank} from '../../jobs/linkrank.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {linkdb} from '../../lib/schema/linkdb.ts';
import {configName, makeFolders} from '../../lib/store/crawl.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {defaultOptions} from '../support/default-options.ts';

const {values: given} = parseArgs({
  options: {
    dir: {type: 'string', default: ''},
    make: {type: 'boolean', default: false},
    pages: {type: 'string', default: '1000000'},
    links: {type: 'string', default: '10000000'},
    memory: {type: 'string', default: '1GB'},
  },
});
const {dir, memory} = given;
const pages = Number(given.pages);
const links = Number(given.links);
/** Links that are sorted at once, about. */
const partLinks = 5e6;
const parts = Math.ceil(links / partLinks);

/** Numbers of pages: each pair once. */
const drawn = `
CREATE TABLE drawn AS
SELECT DISTINCT
  (hash(i * 2) % ${Math.ceil(pages * 0.95)})::INTEGER AS source,
  floor(pow((hash(i * 2 + 1) % 1000003) / 1000003.0, 3) * ${pages})::INTEGER AS target
FROM range(${links}) t(i)`;

/** Links to a part of the hosts, in the order of the linkdb. */
const rowsOf = (part: number) => `
WITH named AS (
  SELECT
    hash(source // 50) AS source_host_key, hash(source) AS source_url_key,
    'http://h' || (source // 50) || '.test/' || source AS source_url,
    hash(target // 50) AS target_host_key, hash(target) AS target_url_key,
    'http://h' || (target // 50) || '.test/' || target AS target_url
  FROM drawn WHERE hash(target // 50) // ${2n ** 64n / BigInt(parts) + 1n}::UBIGINT = ${part}
)
SELECT
  target_host_key, target_url_key, target_url, source_host_key, source_url_key, source_url,
  NULL::VARCHAR AS anchor, NULL::VARCHAR AS rel, 'a' AS kind, 1 AS links,
  source_host_key = target_host_key AS internal, TIMESTAMPTZ '2026-01-01' AS fetch_time, '20260101000000' AS segment,
  1::BIGINT AS revision, NULL::BOOLEAN AS cut
FROM named ORDER BY target_host_key, target_url_key, source_host_key, source_url_key`;

const fill = defineJob({
  name: 'fill',
  summary: 'Writes the linkdb.',
  options: {},
  locks: () => [],
  async plan(_options, {snapshot, now}) {
    const base = snapshot.manifest.number;
    return {base, now: now(), tasks: [{stage: 0, part: 0, inputs: [], params: {}}]};
  },
  async run(_task, ctx) {
    const db = await openDatabase({memoryBytes: 1e9, spillDir: await ctx.store.scratch()});
    try {
      await db.run(drawn);
      const files: FileRef[] = [];
      for (let part = 0; part < parts; part++)
        files.push(await db.copy(rowsOf(part), {}, await ctx.store.create(linkdb, 'linkdb')));
      return {files, counters: {}, reasons: {}};
    } finally {
      await db.close();
    }
  },
  next: (_plan, _stage, results) => ({edit: {reads: [], writes: {linkdb: results[0]!.files}}}),
});

const effects = realEffects(
  (_level, event, fields) => console.log(event, JSON.stringify(fields)),
  new AbortController().signal,
);
const {config} = loadConfig({env: {}, file: {name: configName, text: `storage:\n  memory: ${memory}\n`}});
const settings = {dir, config, effects, executor: embeddedExecutor({concurrency: 1})};
const before = cpuUsage();
const started = performance.now();
if (given.make) {
  await makeFolders(dir);
  await writeFile(join(dir, configName), '');
}
const report = given.make
  ? await runJob(fill, {}, settings)
  : await runJob(linkrank, {...defaultOptions(linkrank), levels: ['page']}, settings);
const {user, system} = cpuUsage(before);
console.log(
  JSON.stringify({
    memory,
    cpu_s: Math.round((user + system) / 1e5) / 10,
    wall_s: Math.round((performance.now() - started) / 100) / 10,
    max_rss_mb: Math.round(resourceUsage().maxRSS / 1024),
    levels: report.facts[0]?.levels,
  }),
);
