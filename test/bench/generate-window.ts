/**
 * How much of a window a fetchlist uses: 1,000 hosts of Zipf sizes, a window of one hour, answers of 50 to 400 ms that
 * vary by a fifth, on a virtual clock. The fetch is the rule of politeness alone: a host is asked again `delay` after
 * its answer ended, and nothing is begun after the window. For comparison Nutch's rules on the same web: the best N by
 * score, with a fixed cap of a host or without, N what the window could take in all.
 *
 *     nice -n 10 node --import tsx test/bench/generate-window.ts [HOSTS]
 */
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {cpuUsage} from 'node:process';
import {generate} from '../../jobs/generate.ts';
import {defineJob} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {type CrawlDatum, crawldb} from '../../lib/schema/crawldb.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {type HostStateRow, hoststate} from '../../lib/schema/hostdb.ts';
import {configName, makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {identify} from '../../lib/url/keys.ts';
import {defaultOptions} from '../support/default-options.ts';
import {barChart} from '../support/plot.ts';
import {testEffects} from '../support/temporary-crawl.ts';

const hostCount = Number(process.argv[2] ?? 1000);
const windowMs = 3_600_000;
const largest = 20_000;
const effects = testEffects();
const random = () => effects.random();

interface Host {
  readonly name: string;
  readonly urls: number;
  readonly responseMs: number;
  readonly delayMs: number;
}

const hosts: Host[] = Array.from({length: hostCount}, (_, i) => {
  const responseMs = 50 + random() * 350;
  return {
    name: `h${i}.test`,
    urls: Math.ceil(largest / (i + 1)),
    responseMs,
    delayMs: Math.max(1000, 5 * responseMs),
  };
});

/** Requests of a host that end within the window, and the end of the last of `wanted`. */
function fetchHost(
  {responseMs, delayMs}: Host,
  wanted: number,
): {inWindow: number; endMs: number; wholeMs: number} {
  let time = 0;
  let inWindow = 0;
  let endMs = 0;
  // robots.txt first
  for (let n = 0; n <= wanted; n++) {
    const answered = time + responseMs * (0.8 + 0.4 * random());
    if (answered <= windowMs && n > 0) inWindow++;
    if (time < windowMs) endMs = answered;
    time = answered + delayMs;
  }
  return {inWindow, endMs, wholeMs: wanted === 0 ? 0 : time - delayMs};
}

const possible = hosts.map(
  (host) => fetchHost(host, Math.min(host.urls, Math.ceil(windowMs / 1000))).inWindow,
);
const total = possible.reduce((sum, n) => sum + n, 0);

const rows: CrawlDatum[] = hosts.flatMap(({name, urls}) =>
  Array.from({length: urls}, (_, i) => {
    const found = {depth: 1, seed: null, tag: null, hopType: 'L', from: null, intervalS: 86_400} as const;
    return newRow(
      identify(`http://${name}/${i}`),
      {...found, score: random(), time: new Date(effects.now())},
      1,
    );
  }),
);
const states = hosts.map(({name, responseMs, delayMs}): HostStateRow => {
  const {host_key, url_host_name} = identify(`http://${name}/`);
  const terms = {
    min_delay_ms: 1000,
    latency_ms: 5 * responseMs,
    crawl_delay_ms: 0,
    retry_after_ms: 0,
    backoff_ms: 0,
  };
  return {
    ...{host_key, url_host_name, ...terms, delay_ms: delayMs, delay_term: 'min_delay', failures: 0},
    ...{next_allowed_time: new Date(effects.now()), last_response_time: new Date(effects.now() - 60_000)},
    ...{
      last_reason: null,
      requests: 2,
      dns_failures: 0,
      updated_segment: '',
      soft_404_time: null,
      soft_404_signature: null,
    },
  };
});

const dir = await mkdtemp(join(tmpdir(), 'crawl-bench-'));
await makeFolders(dir);
await writeFile(join(dir, configName), '');
const {config} = loadConfig({
  env: {},
  file: {name: 'crawl.yaml', text: 'generate:\n  max_per_host: 100000\n'},
});
const put = defineJob({
  name: 'put',
  summary: 'Writes the rows of the bench.',
  options: {},
  locks: () => [],
  async plan(_options, {snapshot, now}) {
    return {base: snapshot.manifest.number, now: now(), tasks: [{stage: 0, part: 0, inputs: [], params: {}}]};
  },
  async run(_task, ctx) {
    const byKey = (a: {host_key: bigint}, b: {host_key: bigint}) => (a.host_key < b.host_key ? -1 : 1);
    const urls = await ctx.store.create(crawldb, 'crawldb');
    const sorted = rows.toSorted(byKey);
    for (let at = 0; at < sorted.length; at += 20_000) await urls.write(sorted.slice(at, at + 20_000));
    const state = await ctx.store.create(hoststate, 'hosts/hoststate');
    await state.write(states.toSorted(byKey));
    return {files: [await urls.close({kind: 'base'}), await state.close()], counters: {}, reasons: {}};
  },
  next(_plan, _stage, results) {
    const [urls, state] = results[0]!.files;
    return {edit: {reads: [], writes: {crawldb: [urls!], hoststate: [state!]}}};
  },
});
const settings = {dir, config, effects, executor: embeddedExecutor({concurrency: 1})};
await runJob(put, {}, settings);
const before = cpuUsage();
await runJob(generate, {...defaultOptions(generate), topN: 10_000_000, window: windowMs}, settings);
const cpu = cpuUsage(before);
const store = await openCrawl(dir);
const snapshot = await store.head();
const listed = new Map<string, number>();
for (const file of await snapshot.tableFiles('fetchlist'))
  for await (const batch of readTable(fetchlist, store.path(file), {columns: ['url_host_name']}))
    for (const {url_host_name: host} of batch) listed.set(host, (listed.get(host) ?? 0) + 1);
const forecast = snapshot.segment(snapshot.segments[0]!).selection?.forecast;
await rm(dir, {recursive: true});

/** Nutch's generator: the best N by score, at most `cap` of a host. */
function nutch(cap: number): Map<string, number> {
  const taken = new Map<string, number>();
  let left = total;
  for (const {url_host_name: host} of rows.toSorted((a, b) => b.score - a.score)) {
    const n = taken.get(host) ?? 0;
    if (n >= cap) continue;
    if (left-- === 0) break;
    taken.set(host, n + 1);
  }
  return taken;
}

const shares: {name: string; value: number}[] = [];

/** @param mark its name in the plot, which has little room */
function report(title: string, mark: string, list: ReadonlyMap<string, number>): void {
  const fetched = hosts.map((host) => fetchHost(host, list.get(host.name) ?? 0));
  const used = fetched.reduce((sum, {inWindow}) => sum + inWindow, 0);
  const size = [...list.values()].reduce((sum, n) => sum + n, 0);
  const minutes = (ms: number) => (ms / 60_000).toFixed(1);
  shares.push({name: mark, value: (100 * used) / total});
  const longest = Math.max(...fetched.map(({wholeMs}) => wholeMs));
  const late = size - used;
  console.log(
    `| ${title} | ${size} | ${used} | ${((100 * used) / total).toFixed(1)} % | ${late} | ${minutes(longest)} min |`,
  );
}

console.log(`${hostCount} hosts, ${rows.length} URLs, window 60 min: ${total} requests are possible`);
console.log('| rule | listed | answered in the window | of the possible | too late | the whole list takes |');
console.log('| --- | --- | --- | --- | --- | --- |');
report('generate --window 1h', '--window 1h', listed);
for (const cap of [100, 1000, Number.POSITIVE_INFINITY]) {
  const most = cap === Number.POSITIVE_INFINITY ? undefined : cap.toLocaleString('en');
  const title = most === undefined ? 'no cap' : `at most ${most} a host`;
  report(`best by score, ${title}`, most === undefined ? 'no cap' : `cap of ${most}`, nutch(cap));
}
console.log(
  barChart({
    title: 'Use of a window of an hour',
    yTitle: 'of the possible requests, %',
    yRange: [0, 100],
    decimals: 1,
    bars: shares,
  }),
);
console.log(
  `forecast of generate: ${((forecast?.duration_ms ?? 0) / 60_000).toFixed(1)} min, ${forecast?.requests} requests`,
);
console.log(`generate took ${((cpu.user + cpu.system) / 1e6).toFixed(1)} s of processor time`);
