/**
 * Selection and politeness over a crawl of many hosts: a fetchlist for one window, then its fetch on a virtual clock with
 * the queues of the fetcher: a host is asked again its delay after its answer ended. Answers take what the host's last
 * ones took. The crawldb is made by a first call with --make, so that peak memory is that of the round alone.
 *
 * node --import tsx test/bench/generate-scale.ts --dir FOLDER --make [--rows 10000000] [--hosts 100000]
 * node --import tsx test/bench/generate-scale.ts --dir FOLDER [--window 3600] [--active 2000] [--memory 1GB] [--order best]
 */
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {generate} from '../../jobs/generate.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import {FetchHosts} from '../../lib/fetcher/hosts.ts';
import {FetchQueues, type HostQueue} from '../../lib/fetcher/queues.ts';
import {Worklist} from '../../lib/fetcher/worklist.ts';
import {fetchlist} from '../../lib/schema/fetchlist.ts';
import {hoststate} from '../../lib/schema/hostdb.ts';
import {makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {defaultOptions} from '../support/default-options.ts';
import {testEffects} from '../support/temporary-crawl.ts';
import {baseJob} from './crawldb-data.ts';

const {values: given} = parseArgs({
  options: {
    dir: {type: 'string', default: ''},
    make: {type: 'boolean', default: false},
    rows: {type: 'string', default: '10000000'},
    hosts: {type: 'string', default: '100000'},
    window: {type: 'string', default: '3600'},
    active: {type: 'string', default: '2000'},
    top: {type: 'string', default: '1000000'},
    memory: {type: 'string', default: '1GB'},
    order: {type: 'string', default: 'best'},
  },
});
const dir = given.dir;
const windowMs = 1000 * Number(given.window);
const {config} = loadConfig({
  env: {},
  file: {
    name: 'bench',
    text: `storage:\n  memory: ${given.memory}\ngenerate:\n  order: ${given.order}\n  max_per_host: 1000\nfetch:\n  max_active: ${given.active}\n`,
  },
});
const now = Date.UTC(2026, 5, 1);
const settings = {dir, config, effects: testEffects(now), executor: embeddedExecutor({concurrency: 1})};

async function timed<T>(label: string, work: () => Promise<T>): Promise<T> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const result = await work();
  const {user, system} = process.cpuUsage(cpu);
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const peak = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(
    `${label}: ${seconds(performance.now() - start)}, ${seconds((user + system) / 1000)} of processor time, peak so far ${peak} MB`,
  );
  return result;
}

/** The list into the fetcher's own queues; how long an answer of each host takes. */
async function load() {
  const queues = new FetchQueues({
    maxActive: Number(given.active),
    maxPerHost: 1,
    maxPerAddress: 4,
    maxPerDomain: 4,
  });
  const hosts = new FetchHosts(config.politeness, queues);
  const worklist = new Worklist();
  const snapshot = await (await openCrawl(dir)).head();
  const segment = snapshot.segments.at(-1)!;
  for (const file of await snapshot.files(`segments/${segment}/fetchlist`))
    for await (const rows of readTable(fetchlist, snapshot.store.path(file)))
      for (const row of rows) {
        const host = hosts.host(row.url_host_name, row.url_host_registered_domain, row.host_key);
        queues.push(host.queue, worklist.add(row));
      }
  const answers = new Map<string, number>();
  for (const file of await snapshot.files('hoststate'))
    for await (const rows of readTable(hoststate, snapshot.store.path(file)))
      for (const row of rows) {
        const host = hosts.find(row.url_host_name);
        if (host === undefined) continue;
        hosts.restore(row, now);
        answers.set(host.name, row.latency_ms / config.politeness.latency_factor);
      }
  return {
    queues,
    hosts,
    answers,
    listed: worklist.listed,
    forecast: snapshot.segment(segment).selection?.forecast,
  };
}

/** Requests under way, by the time they end: a heap of two lists. */
class Running {
  readonly #ends: number[] = [];
  readonly #hosts: HostQueue[] = [];
  get first(): number | undefined {
    return this.#ends[0];
  }
  push(end: number, host: HostQueue): void {
    let at = this.#ends.length;
    for (let up = (at - 1) >> 1; at > 0 && this.#ends[up]! > end; at = up, up = (at - 1) >> 1)
      this.#set(at, up);
    this.#ends[at] = end;
    this.#hosts[at] = host;
  }
  pop(): HostQueue {
    const first = this.#hosts[0]!;
    const end = this.#ends.pop()!;
    const host = this.#hosts.pop()!;
    const size = this.#ends.length;
    if (size === 0) return first;
    let at = 0;
    for (let down = 1; down < size; down = 2 * at + 1) {
      if (down + 1 < size && this.#ends[down + 1]! < this.#ends[down]!) down++;
      if (this.#ends[down]! >= end) break;
      this.#set(at, down);
      at = down;
    }
    this.#ends[at] = end;
    this.#hosts[at] = host;
    return first;
  }
  #set(to: number, from: number): void {
    this.#ends[to] = this.#ends[from]!;
    this.#hosts[to] = this.#hosts[from]!;
  }
}

/** The fetch by the clock alone: requests in the window, the last answer, and the shortest pause that a host had. */
function fetchAll({queues, hosts, answers}: Awaited<ReturnType<typeof load>>) {
  const running = new Running();
  const ended = new Map<string, number>();
  let time = now;
  let requests = 0;
  let last = now;
  let impolite = 0;
  for (;;) {
    const turn = queues.next(time);
    if (turn.kind === 'ready') {
      if (time - now >= windowMs) break;
      const host = hosts.of(turn.host);
      const {politeness, name} = host;
      const pause = Math.max(politeness.minDelayMs, politeness.latencyMs);
      if (time < (ended.get(name) ?? 0) + pause) impolite++;
      queues.take(turn.host, time);
      const end = time + (answers.get(name) ?? 200);
      running.push(end, turn.host);
      ended.set(name, end);
      requests++;
      last = Math.max(last, end);
      continue;
    }
    const first = running.first;
    if (first === undefined) {
      if (turn.kind !== 'wait') break;
      time = turn.until;
    } else if (turn.kind === 'wait' && turn.until < first) time = Math.max(time, turn.until);
    else {
      time = Math.max(time, first);
      const queue = running.pop();
      const {politeness} = hosts.of(queue);
      queues.finished(queue, first + Math.max(politeness.minDelayMs, politeness.latencyMs));
    }
  }
  return {requests, lastMs: last - now, impolite};
}

if (given.make) {
  await makeFolders(dir);
  await writeFile(join(dir, 'crawl.yaml'), '');
  const world = {rows: Number(given.rows), hosts: Number(given.hosts), ties: true, now};
  await timed('made up', () => runJob(baseJob(world), {}, settings));
  const {crawldb} = (await (await openCrawl(dir)).head()).manifest.slots;
  console.log(
    `${crawldb?.rows} rows, ${crawldb?.files} files, ${((crawldb?.bytes ?? 0) / 1e9).toFixed(2)} GB`,
  );
} else {
  const options = {...defaultOptions(generate), topN: Number(given.top), window: windowMs};
  const report = await timed('generate', () => runJob(generate, options, settings));
  console.log(JSON.stringify({...report.counters, left: report.reasons}));
  const loaded = await timed('queues filled', load);
  const done = await timed('fetch, on a virtual clock', async () => fetchAll(loaded));
  console.log(
    `${loaded.listed} URLs of ${loaded.hosts.size} hosts: ${done.requests} asked in the window, the last answer after ${(done.lastMs / 60_000).toFixed(1)} min, ` +
      `forecast ${((loaded.forecast?.duration_ms ?? 0) / 60_000).toFixed(1)} min; ${done.impolite} asked before their delay was over`,
  );
}
