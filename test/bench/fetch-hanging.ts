/**
 * Do connections that hang slow the others? 50 healthy hosts that are asked once a second, alone and then beside thousands
 * of hosts that take the request and never answer. By how much is each request of a healthy host later than its
 * pause allows, as the server sees it, while the others are being opened and once all of them hang?
 * Run: node --import tsx test/bench/fetch-hanging.ts [HANGING]
 */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {realEffects} from '../../jobs/effects.ts';
import {fetch} from '../../jobs/fetch.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {connectionLimit, descriptorLimit} from '../../lib/http/descriptors.ts';
import {configName, makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {loopbackConfig} from '../support/fetch-crawl.ts';
import {listRow} from '../support/fetch-sim.ts';
import {commitRows, type JobHarness} from '../support/job-harness.ts';

const wanted = Number(process.argv[2] ?? 10_000);
// This process has a socket for each, the server another one.
const hanging = Math.min(wanted, connectionLimit() - 500);
if (hanging < wanted)
  console.log(
    `only ${hanging} of ${wanted}: the hard limit of open files is ${descriptorLimit()} (ulimit -Hn)`,
  );
const healthy = {hosts: 50, pages: 200, delayMs: 1000};
/** How long it is watched. */
const watchMs = 15_000;

const server = spawn(
  process.execPath,
  [
    '--input-type=module',
    '-e',
    `import {createServer} from 'node:http';
     let seen = [], hangs = 0;
     const server = createServer((request, response) => {
       if (request.url === '/report') { response.end(JSON.stringify({seen, hangs})); return; }
       if (request.url === '/clear') { seen = []; response.end(); return; }
       const {host} = request.headers;
       if (host.startsWith('hang')) { hangs++; return; }
       const start = performance.now();
       if (request.url === '/robots.txt') response.writeHead(404);
       // Before the last byte is sent: after it a busy machine may let the client go on first.
       seen.push({host, start, end: performance.now()});
       response.end('x'.repeat(13000));
     }).listen({port: 0, host: '127.0.0.1', backlog: 4096}, () => console.log(server.address().port));
     server.keepAliveTimeout = 60000; server.requestTimeout = 0; server.headersTimeout = 0;`,
  ],
  {stdio: ['ignore', 'pipe', 'inherit']},
);
const [chunk] = await once(server.stdout, 'data');
const port = Number(String(chunk));
const dir = await mkdtemp(join(tmpdir(), 'crawl-bench-'));
try {
  await makeFolders(dir);
  await writeFile(join(dir, configName), '');
  const config = loopbackConfig([
    `network.connect_to=*:80=127.0.0.1:${port}`,
    `politeness.min_delay=${healthy.delayMs}ms`,
    'politeness.max_per_ip=100000',
    'fetch.max_active=100000',
    'fetch.idle_timeout=10m',
    'fetch.total_timeout=10m',
    'fetch.connect_timeout=60s',
    'politeness.max_rest=1s',
  ]);
  const settings = (signal: AbortSignal) => ({
    dir,
    config,
    effects: realEffects(() => undefined, signal),
    executor: embeddedExecutor(),
  });
  const ask = async (path: string) => (await globalThis.fetch(`http://127.0.0.1:${port}${path}`)).text();
  const askReport = async () => JSON.parse(await ask('/report')) as Report;
  const store = await openCrawl(dir);
  const harness: Pick<JobHarness, 'run' | 'head'> = {
    run: (job, options) => runJob(job, options, settings(new AbortController().signal)),
    head: () => store.head(),
  };
  const pages = Array.from({length: healthy.hosts * healthy.pages}, (_, index) => index);
  for (const [run, hangs] of [0, hanging].entries()) {
    const segment = `2027010100000${run}`;
    // Healthy hosts first: they are due again while the others are being opened.
    const urls = [
      ...pages.map(
        (index) => `http://good${index % healthy.hosts}.good${index % healthy.hosts}/${run}/${index}`,
      ),
      ...Array.from({length: hangs}, (_, index) => `http://hang${index}.test${index}/`),
    ];
    const rows = urls.map((url, index) => ({...listRow(url, index + 1), segment}));
    await commitRows(
      harness as JobHarness, // it takes run alone
      [{slot: `segments/${segment}/fetchlist`, table: 'fetchlist', rows}],
      {
        [segment]: {
          state: 'generated',
          urls: rows.length,
          hosts: healthy.hosts + hangs,
          partitions: 1,
          generated_time: new Date(0).toISOString(),
        },
      },
    );
    await ask('/clear');
    const stop = new AbortController();
    const running = runJob(
      fetch,
      {segment, window: undefined, concurrency: undefined, close: false},
      settings(stop.signal),
    );
    const started = performance.now();
    while ((await askReport()).hangs < hangs) await setTimeout(250);
    const opened = performance.now();
    const during = lateness((await askReport()).seen);
    await setTimeout(2_000); // what waited for the processor is done
    await ask('/clear');
    const cpu = process.cpuUsage();
    await setTimeout(watchMs);
    const used = process.cpuUsage(cpu);
    const {seen} = await askReport();
    const late = lateness(seen);
    if (hangs > 0) console.log(`while they are opened: ${words(during)}`);
    console.log(
      `${hangs} hanging, open after ${((opened - started) / 1000).toFixed(1)} s: ${late.length} requests in ${watchMs / 1000} s, ` +
        `${words(late)}; ` +
        `${((used.user + used.system) / 1000 / seen.length).toFixed(2)} ms CPU each, RSS ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MB`,
    );
    stop.abort(new Error('seen enough'));
    await running.catch(() => undefined);
  }
} finally {
  server.kill();
  await rm(dir, {recursive: true, force: true});
}

interface Report {
  readonly seen: readonly {readonly host: string; readonly start: number; readonly end: number}[];
  readonly hangs: number;
}

/** Milliseconds beyond the pause, of each request but a host's first, the smallest first. */
function lateness(seen: Report['seen']): number[] {
  const ends = new Map<string, number>();
  const late: number[] = [];
  for (const {host, start, end} of seen) {
    const before = ends.get(host);
    if (before !== undefined) late.push(start - before - healthy.delayMs);
    ends.set(host, end);
  }
  return late.sort((a, b) => a - b);
}

function words(late: readonly number[]): string {
  if (late.length === 0) return 'no host was asked twice';
  const at = (share: number) => late[Math.floor(share * (late.length - 1))]!.toFixed(1);
  return `late by ${at(0.5)} ms (median), ${at(0.95)} ms (95 %), ${at(1)} ms (most), never early: ${late[0]! >= 0}`;
}
