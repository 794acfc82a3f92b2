/**
 * Two segments into one: links copied by DuckDB, and, in turn, row by row, as where URLs get another form.
 *
 * nice -n 10 node --import tsx test/bench/mergesegs.ts [pages of a segment: 2500] [links of a page: 50] [times: 2]
 */
import {cp, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {generate} from '../../jobs/generate.ts';
import {mergesegs} from '../../jobs/mergesegs.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {makeFolders} from '../../lib/store/crawl.ts';
import {defaultOptions} from '../support/default-options.ts';
import {testEffects} from '../support/temporary-crawl.ts';
import {baseJob, roundJob} from './crawldb-data.ts';

const [pages = 2500, links = 50, times = 2] = process.argv.slice(2).map(Number);
const {config} = loadConfig({env: {}, file: {name: 'bench', text: 'storage:\n  memory: 1GB\n'}});
const {digest} = makeScope(config.scope, config.url, config.links, []);
const world = {rows: 20 * pages, ties: true, now: Date.UTC(2026, 5, 1)};
const effects = testEffects(world.now);
const day = 86_400_000;
const folder = await mkdtemp(join(tmpdir(), 'crawl-bench-'));
try {
  const dir = join(folder, 'made');
  const settings = (at: string) => ({dir: at, config, effects, executor: embeddedExecutor({concurrency: 1})});
  await makeFolders(dir);
  await writeFile(join(dir, 'crawl.yaml'), '');
  await runJob(baseJob(world), {}, settings(dir));
  for (let round = 0; round < 2; round++) {
    world.now += day;
    effects.pass(day);
    const options = {...defaultOptions(generate), topN: pages};
    const {plan} = await runJob(generate, options, settings(dir));
    await runJob(roundJob({...world}, plan!.segment!, round, links, digest), {}, settings(dir));
    await runJob(updatedb, defaultOptions(updatedb), settings(dir));
  }
  for (let turn = 0; turn < 2 * times; turn++) {
    const normalize = turn % 2 === 1;
    const copy = join(folder, `${turn}`);
    await cp(dir, copy, {recursive: true});
    const cpu = process.cpuUsage();
    const {counters, snapshot} = await runJob(
      mergesegs,
      {...defaultOptions(mergesegs), normalize},
      settings(copy),
    );
    const {user, system} = process.cpuUsage(cpu);
    const {slots} = (await snapshot.store.head()).manifest;
    const merged = Object.entries(slots).find(([name]) => name.includes('/outlinks/'))?.[1];
    console.log(
      `${normalize ? 'row by row' : 'by DuckDB'}: ${((user + system) / 1e6).toFixed(1)} s of processor time, ` +
        `${counters.captures_kept_total} captures, ${merged?.rows} links in ${((merged?.bytes ?? 0) / 1e6).toFixed(1)} MB`,
    );
  }
} finally {
  await rm(folder, {recursive: true});
}
