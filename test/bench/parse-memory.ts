import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import type {TestContext} from 'node:test';
import {gzipSync} from 'node:zlib';
import {jobHarness} from '../support/job-harness.ts';
import {commitFetched, type SampleCapture} from '../support/parse-captures.ts';

/**
 * Memory of a parse over its length, by the built command: `tsx test/bench/parse-memory.ts [PAGES…]`. Small pages, all
 * in one segment; for each length the greatest resident memory in each fifth of the time, and processor time a page.
 */
const lengths = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [20_000, 100_000];
const main = join(import.meta.dirname, '../../dist/cli/main.js');
const words = readFileSync(join(import.meta.dirname, '../../docs/architecture.md'), 'utf8').split(/\s+/);

function page(at: number): Buffer {
  const text = Array.from(
    {length: 200},
    (_, word) => words[(at * 7 + word * (1 + (at % 13))) % words.length],
  );
  const links = Array.from(
    {length: 10},
    (_, link) => `<a href="/dir/${(at * 11 + link) % 5000}.html">to ${link}</a>`,
  );
  return gzipSync(`<title>Page ${at}</title><p>${text.join(' ')}</p>${links.join('\n')}`, {level: 1});
}

/** Resident memory in MB and processor time in ms, as the kernel counts them. */
function measure(pid: number): {mb: number; ms: number} | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return {mb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024, ms: ticks * 10};
  } catch {
    return undefined; // it has ended
  }
}

for (const length of lengths) {
  const cleanUp: (() => unknown)[] = [];
  const crawl = await jobHarness({
    after: (act: () => unknown) => cleanUp.push(act),
  } as unknown as TestContext);
  const samples = Array.from(
    {length},
    (_, at): SampleCapture => ({
      url: `http://site${at % 100}.test/dir/${at}.html`,
      body: page(at),
      headers: ['Content-Type: text/html', 'Content-Encoding: gzip'],
    }),
  );
  await commitFetched(crawl, '20260101000000', samples);
  const child = spawn(process.execPath, [main, 'parse', '-q', '-C', crawl.dir], {stdio: 'inherit'});
  const seen: {mb: number; ms: number}[] = [];
  const poll = setInterval(() => {
    const now = measure(child.pid!);
    if (now !== undefined) seen.push(now);
  }, 200);
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`parse ended with ${code}`);
  const fifth = Math.ceil(seen.length / 5);
  const peaks = Array.from({length: 5}, (_, part) =>
    Math.max(...seen.slice(part * fifth, (part + 1) * fifth).map(({mb}) => mb)).toFixed(0),
  );
  console.log(
    `${length} pages: MB in each fifth ${peaks.join(', ')}; ${((seen.at(-1)?.ms ?? 0) / length).toFixed(2)} ms CPU a page`,
  );
  for (const act of cleanUp) await act();
}
