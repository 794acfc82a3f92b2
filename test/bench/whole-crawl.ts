import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {query} from '../support/command.ts';

/**
 * A whole crawl of a local web, by the built command: pages a second, CPU a page by job, peak memory.
 *
 *   node --import tsx test/bench/whole-crawl.ts SEEDS [--runs 3] [-- further flags of crawl run]
 *
 * SEEDS is a file of URLs whose hosts resolve to loopback addresses. CPU is what the jobs report in the table runs,
 * so start-up of the process is left out. Medians of the runs.
 */
const [seedsFile, ...rest] = process.argv.slice(2);
if (seedsFile === undefined) throw new Error('usage: whole-crawl.ts SEEDS [--runs N] [-- flags]');
const dash = rest.indexOf('--');
const own = dash < 0 ? rest : rest.slice(0, dash);
const flags = dash < 0 ? [] : rest.slice(dash + 1);
const runs = own[0] === '--runs' ? Number(own[1]) : 3;
const main = join(import.meta.dirname, '../../dist/cli/main.js');
const seeds = readFileSync(seedsFile, 'utf8').trim().split('\n');

interface Figures {
  readonly pages: number;
  readonly seconds: number;
  readonly peakMb: number;
  readonly cpu: Readonly<Record<string, number>>;
}

/** Peak resident memory of a process in MB, as the kernel counts it. */
async function peakOf(pid: number): Promise<number> {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0; // it has ended
  }
}

async function crawlOnce(): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), 'crawl-bench-'));
  const dir = join(folder, 'crawl');
  try {
    const started = performance.now();
    const settings = [
      'network.allow=127.0.0.0/8',
      'politeness.min_delay=0s',
      'politeness.latency_factor=0',
      'politeness.max_per_domain=64',
    ];
    const child = spawn(
      process.execPath,
      [
        main,
        'run',
        '-q',
        '-C',
        dir,
        '--contact',
        'bench@example.org',
        ...settings.flatMap((text) => ['--set', text]),
        ...flags,
        ...seeds,
      ],
      {stdio: ['ignore', 'inherit', 'inherit']},
    );
    let peakMb = 0;
    const poll = setInterval(async () => {
      peakMb = Math.max(peakMb, await peakOf(child.pid!));
    }, 100);
    const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
    clearInterval(poll);
    if (code !== 0) throw new Error(`crawl ended with ${code}`);
    const seconds = (performance.now() - started) / 1000;
    const [count] = await query<{n: number}>(
      dir,
      `SELECT count(*) AS n FROM captures WHERE kind IN ('page', 'hop') AND status = 'success'`,
    );
    const cpu = await query<{job: string; ms: number}>(
      dir,
      'SELECT job, sum(cpu_ms) AS ms FROM runs GROUP BY ALL',
    );
    return {
      pages: count!.n,
      seconds,
      peakMb,
      cpu: Object.fromEntries(cpu.map(({job, ms}) => [job, ms / count!.n])),
    };
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const all: Figures[] = [];
for (let run = 0; run < runs; run++) {
  const figures = await crawlOnce();
  all.push(figures);
  console.log(JSON.stringify(figures));
}
const job = (name: string): number => median(all.map(({cpu}) => cpu[name] ?? 0));
const jobs = ['generate', 'fetch', 'parse', 'updatedb', 'invertlinks'];
console.log(`
pages              ${median(all.map(({pages}) => pages))}
pages/s            ${median(all.map(({pages, seconds}) => pages / seconds)).toFixed(1)}
peak MB            ${median(all.map(({peakMb}) => peakMb)).toFixed(0)}
CPU ms a page      ${jobs.map((name) => `${name} ${job(name).toFixed(2)}`).join(', ')}
fetch+parse+update ${(job('fetch') + job('parse') + job('updatedb')).toFixed(2)}`);
