/**
 * Rounds against a crawldb of a given size: generate, updatedb with compaction, invertlinks; what each takes, writes
 * and holds in memory. The crawldb is made first, and kept where --dir names a folder, so that a second run goes on
 * with it. Peak memory is that of each job, with what the process kept of earlier ones.
 *
 * timeout 180 nice -n 10 node --import tsx test/bench/crawldb-rounds.ts [--rows 1000000] [--pages 20000] [--links 50]
 *   [--rounds 3] [--memory 2GB] [--scores ties|different] [--order best|breadth] [--dir FOLDER]
 *   [--apart: each step in a process of its own] [--step generate|fetch|updatedb|invertlinks|dedup|inject: that alone]
 */
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {dedup} from '../../jobs/dedup.ts';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {invertlinks} from '../../jobs/invertlinks.ts';
import type {Job} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {defaultValue} from '../../lib/kinds.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {testEffects} from '../support/temporary-crawl.ts';
import {baseJob, roundJob} from './crawldb-data.ts';

const {values: given} = parseArgs({
  options: {
    rows: {type: 'string', default: '1000000'},
    pages: {type: 'string', default: '20000'},
    links: {type: 'string', default: '50'},
    rounds: {type: 'string', default: '3'},
    memory: {type: 'string', default: '2GB'},
    scores: {type: 'string', default: 'ties'},
    order: {type: 'string', default: 'best'},
    dir: {type: 'string'},
    step: {type: 'string'},
    apart: {type: 'boolean', default: false},
  },
});
const dir = given.dir ?? (await mkdtemp(join(tmpdir(), 'crawl-bench-')));
const {config} = loadConfig({
  env: {},
  file: {
    name: 'bench',
    text: `storage:\n  memory: ${given.memory}\ngenerate:\n  order: ${given.order}\n`,
  },
});
const digest = makeScope(config.scope, config.url, config.links, []).digest;
const start = Date.UTC(2026, 5, 1);
const world = {
  rows: Number(given.rows),
  ties: given.scores === 'ties',
  now: start,
};
const effects = testEffects(world.now);

async function timed<O extends OptionDeclarations>(
  label: string,
  job: Job<O>,
  options: Partial<OptionValues<O>>,
) {
  const defaults = Object.fromEntries(
    Object.entries(job.options).map(([name, declaration]) => [name, defaultValue(declaration)]),
  );
  startPeak();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const report = await runJob(job, {...defaults, ...options} as OptionValues<O>, {
    dir,
    config,
    effects,
    executor: embeddedExecutor({concurrency: 1}),
  });
  const used = process.cpuUsage(cpu);
  const files = Object.values((await report.snapshot.store.head()).manifest.slots);
  const written = report.facts.length === 0 ? 0 : await bytesOf(report.run);
  console.log(
    `${label.padEnd(14)} ${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s ${((used.user + used.system) / 1e6).toFixed(1).padStart(6)} s CPU, ` +
      `${(written / 1e6).toFixed(1)} MB written, peak ${Math.round(peakBytes() / 1e6)} MB, ${files.length} slots ${JSON.stringify(report.counters)}`,
  );
  return report;
}

/** Peak memory from here on: Linux forgets the former peak on request, elsewhere it is that of the process so far. */
function startPeak(): void {
  if (existsSync('/proc/self/clear_refs')) writeFileSync('/proc/self/clear_refs', '5');
}

/** Peak memory since `startPeak`, bytes. */
function peakBytes(): number {
  const high = existsSync('/proc/self/status')
    ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    : undefined;
  return 1024 * (high === undefined ? process.resourceUsage().maxRSS : Number(high));
}

/** Bytes of the files of a run that the present manifest names. */
async function bytesOf(run: string): Promise<number> {
  const snapshot = await (await openCrawl(dir)).head();
  let sum = 0;
  for (const slot of Object.keys(snapshot.manifest.slots))
    for (const file of await snapshot.files(slot)) if (file.key.includes(run)) sum += file.bytes;
  return sum;
}

if (!existsSync(join(dir, 'crawl.yaml'))) {
  await makeFolders(dir);
  await writeFile(join(dir, 'crawl.yaml'), '');
  await timed('made up', baseJob(world), {});
}
const head = await (await openCrawl(dir)).head();
const base = head.manifest.slots.crawldb;
console.log(
  `${base?.rows} rows, ${base?.files} files, ${((base?.bytes ?? 0) / (base?.rows ?? 1)).toFixed(1)} bytes a row`,
);
/** What a round does, in order; dedup and inject come by --step alone. */
const roundSteps = ['generate', 'fetch', 'updatedb', 'invertlinks'];
const day = 86_400_000; // a round a day

/** A step of the newest round; generate begins a new one. */
async function runStep(step: string): Promise<void> {
  const {segments} = await (await openCrawl(dir)).head();
  const round = step === 'generate' ? segments.length : segments.length - 1;
  const passed = (round + 1) * day - (world.now - start);
  world.now += passed;
  effects.pass(passed);
  const segment = segments[round] ?? '';
  const pages = Number(given.pages);
  if (step === 'generate') {
    const made = await timed('generate', generate, {topN: pages, maxPerHost: Math.min(100, pages)});
    if (made.plan?.segment === undefined) throw new Error('nothing is due');
  } else if (step === 'fetch')
    await timed('(fetch)', roundJob({...world}, segment, round, Number(given.links), digest), {});
  else if (step === 'updatedb') await timed('updatedb', updatedb, {segments: [segment]});
  else if (step === 'invertlinks') await timed('invertlinks', invertlinks, {segments: [segment]});
  else if (step === 'dedup') await timed('dedup', dedup, {});
  else if (step === 'inject') await timed('inject', inject, {urls: newSeeds(pages)});
  else throw new Error(`no step ${step}`);
}

function newSeeds(count: number): readonly string[] {
  return Array.from({length: count}, (_, at) => `https://www.site${at % 100_000}.test/seed/${at}`);
}

/** The same in a process of its own, so that its peak memory is its own. */
function runApart(step: string): void {
  const options = Object.entries({...given, dir, apart: false, step}).flatMap(([name, value]) =>
    typeof value === 'string' ? [`--${name}`, value] : [],
  );
  const {status} = spawnSync(process.execPath, ['--import', 'tsx', import.meta.filename, ...options], {
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error(`${step} failed`);
}

if (given.step !== undefined) {
  await runStep(given.step);
  process.exit(0);
}
for (let round = 0; round < Number(given.rounds); round++)
  for (const step of roundSteps) {
    if (given.apart) runApart(step);
    else await runStep(step);
  }
const last = (await (await openCrawl(dir)).head()).manifest.slots;
for (const name of ['crawldb', 'linkdb', 'inlinks', 'hoststats'])
  console.log(
    `${name}: ${last[name]?.rows ?? 0} rows, ${last[name]?.files ?? 0} files, ${((last[name]?.bytes ?? 0) / 1e6).toFixed(1)} MB`,
  );
if (given.dir === undefined) await rm(dir, {recursive: true});
