/**
 * Bound by politeness: 50 hosts with up to 40 pages, a delay of 0.2 s. How much longer than the longest host
 * needs by itself does the whole take, and is any pause below the delay, as the server sees it?
 * Run: node --import tsx test/bench/fetch-polite.ts
 */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {realEffects} from '../../jobs/effects.ts';
import {fetch} from '../../jobs/fetch.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {configName, makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {loopbackConfig} from '../support/fetch-crawl.ts';
import {listRow} from '../support/fetch-sim.ts';
import {commitRows, type JobHarness} from '../support/job-harness.ts';

const hosts = 50;
const delayMs = 200;
// Skewed as a crawl's hosts are: the first has 40 pages, the last one.
const list = Array.from({length: hosts}, (_, host) =>
  Array.from(
    {length: Math.max(1, Math.round(40 / (1 + host / 8)))},
    (_, path) => `http://h${host}.t${host}/${path}`,
  ),
).flat();

const server = spawn(
  process.execPath,
  [
    '--input-type=module',
    '-e',
    `import {createServer} from 'node:http';
     const seen = [];
     const server = createServer((request, response) => {
       if (request.url === '/report') { response.end(JSON.stringify(seen)); return; }
       const one = {host: request.headers.host, start: performance.now(), end: 0};
       seen.push(one);
       one.end = one.start;
       if (request.url === '/robots.txt') { response.writeHead(404); response.end(); return; }
       setTimeout(() => { one.end = performance.now(); response.end('x'.repeat(13000)); }, 5);
     }).listen(0, '127.0.0.1', () => console.log(server.address().port));
     server.keepAliveTimeout = 60000;`,
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
    `politeness.min_delay=${delayMs}ms`,
    'politeness.max_per_ip=64',
  ]);
  const effects = realEffects(() => undefined, new AbortController().signal);
  const settings = {dir, config, effects, executor: embeddedExecutor()};
  const store = await openCrawl(dir);
  const harness: Pick<JobHarness, 'run' | 'head'> = {
    run: (job, options) => runJob(job, options, settings),
    head: () => store.head(),
  };
  const segment = '20270101000000';
  const rows = list.map((url, index) => ({...listRow(url, index + 1), segment}));
  await commitRows(
    harness as JobHarness, // it takes run alone
    [{slot: `segments/${segment}/fetchlist`, table: 'fetchlist', rows}],
    {
      [segment]: {
        state: 'generated',
        urls: rows.length,
        hosts,
        partitions: 1,
        generated_time: new Date(0).toISOString(),
      },
    },
  );
  await runJob(fetch, {segment, window: undefined, concurrency: undefined, close: false}, settings);
  const seen = (await (await globalThis.fetch(`http://127.0.0.1:${port}/report`)).json()) as {
    host: string;
    start: number;
    end: number;
  }[];
  const byHost = new Map<string, typeof seen>();
  for (const one of seen) byHost.set(one.host, [...(byHost.get(one.host) ?? []), one]);
  const busy = (own: typeof seen) =>
    own.reduce((sum, one) => sum + one.end - one.start, 0) + (own.length - 1) * delayMs;
  const floor = Math.max(...[...byHost.values()].map(busy));
  const makespan = Math.max(...seen.map(({end}) => end)) - Math.min(...seen.map(({start}) => start));
  const gap = Math.min(
    ...[...byHost.values()].flatMap((own) => own.slice(1).map((one, i) => one.start - own[i]!.end)),
  );
  console.log(
    `${seen.length} requests, ${list.length} pages: ${(makespan / 1000).toFixed(3)} s, floor ${(floor / 1000).toFixed(3)} s, ` +
      `ratio ${(makespan / floor).toFixed(3)}; least pause ${gap.toFixed(1)} ms`,
  );
} finally {
  server.kill();
  await rm(dir, {recursive: true, force: true});
}
