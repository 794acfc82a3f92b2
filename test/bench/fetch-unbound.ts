/**
 * CPU of a fetch without politeness: 4,000 pages of 13 KB on 100 hosts, everything recorded, journalled and
 * sealed. The server is a process of its own. Three runs in one process; the later ones are without start-up.
 * Peak memory is told as well: with one run, of several lengths, it shows whether memory grows with the length. And how
 * long other work of the process had to wait (99 %, most): with a small JOURNAL_FILE, while pieces are sealed.
 * Run: node --import tsx test/bench/fetch-unbound.ts [PAGES [RUNS [JOURNAL_FILE [BYTES]]]]
 */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {monitorEventLoopDelay} from 'node:perf_hooks';
import {realEffects} from '../../jobs/effects.ts';
import {fetch} from '../../jobs/fetch.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {configName, makeFolders, openCrawl} from '../../lib/store/crawl.ts';
import {loopbackConfig} from '../support/fetch-crawl.ts';
import {listRow} from '../support/fetch-sim.ts';
import {commitRows, type JobHarness} from '../support/job-harness.ts';

const pages = Number(process.argv[2] ?? 4000);
const runs = Number(process.argv[3] ?? 3);
const journalFile = process.argv[4] ?? '256MiB';
const bytes = Number(process.argv[5] ?? 13_000);
const hosts = 100;
const server = spawn(
  process.execPath,
  [
    '--input-type=module',
    '-e',
    `import {createServer} from 'node:http';
     import {randomBytes} from 'node:crypto';
     const bodies = Array.from({length: 64}, () => randomBytes(${bytes}));
     let n = 0;
     const server = createServer((request, response) => {
       if (request.url === '/robots.txt') { response.writeHead(404); response.end(); return; }
       const body = bodies[n++ % 64]; body.writeUInt32LE(n, 0);
       response.writeHead(200, {'content-type': 'text/html', 'content-length': body.length}); response.end(body);
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
    'politeness.min_delay=0s',
    'politeness.max_per_ip=64',
    'fetch.max_active=64',
    'storage.dedup=false',
    `storage.journal_file=${journalFile}`,
  ]);
  const effects = realEffects(() => undefined, new AbortController().signal);
  const settings = {dir, config, effects, executor: embeddedExecutor()};
  const store = await openCrawl(dir);
  const harness: Pick<JobHarness, 'run' | 'head'> = {
    run: (job, options) => runJob(job, options, settings),
    head: () => store.head(),
  };
  for (let run = 1; run <= runs; run++) {
    const segment = `2027010100000${run}`;
    const rows = Array.from({length: pages}, (_, index) => ({
      ...listRow(`http://host${index % hosts}.test/${run}/${index}`, index + 1),
      segment,
    }));
    await commitRows(
      harness as JobHarness, // it takes run alone
      [{slot: `segments/${segment}/fetchlist`, table: 'fetchlist', rows}],
      {
        [segment]: {
          state: 'generated',
          urls: pages,
          hosts,
          partitions: 1,
          generated_time: new Date(0).toISOString(),
        },
      },
    );
    const waits = monitorEventLoopDelay({resolution: 5});
    waits.enable();
    const cpu = process.cpuUsage();
    const start = performance.now();
    await runJob(fetch, {segment, window: undefined, concurrency: undefined, close: false}, settings);
    const used = process.cpuUsage(cpu);
    const seconds = (performance.now() - start) / 1000;
    waits.disable();
    console.log(
      `run ${run}: ${pages} pages in ${seconds.toFixed(2)} s, ${(pages / seconds).toFixed(0)}/s, ` +
        `${((used.user + used.system) / 1000 / pages).toFixed(3)} ms CPU a page, RSS ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MB, ` +
        `at the peak ${(process.resourceUsage().maxRSS / 2 ** 10).toFixed(0)} MB, ` +
        `waits ${(waits.percentile(99) / 1e6).toFixed(0)} and ${(waits.max / 1e6).toFixed(0)} ms`,
    );
  }
} finally {
  server.kill();
  await rm(dir, {recursive: true, force: true});
}
