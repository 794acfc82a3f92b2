import {readdirSync, readFileSync, statSync} from 'node:fs';
import {join} from 'node:path';
import type {TestContext} from 'node:test';
import {gunzipSync, gzipSync} from 'node:zlib';
import {parse} from '../../jobs/parse.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {baseOf, linkRows} from '../../lib/parse/outlinks.ts';
import {parsePage} from '../../lib/parse/page.ts';
import {makeScope} from '../../lib/scope/scope.ts';
import {parseBase, urlPolicy} from '../../lib/url/normalize.ts';
import {corpus} from '../support/corpora.ts';
import {jobHarness} from '../support/job-harness.ts';
import {captureRow, commitFetched, type SampleCapture} from '../support/parse-captures.ts';
import {pageOptions} from '../support/parse-options.ts';
import {defaultConfig} from '../support/url-config.ts';

/**
 * Parsing a stored segment again, from Parquet to Parquet, in one and two threads, and the parsing alone:
 * `tsx test/bench/parse-job.ts [PAGES [RUNS [FOLDER]]]`. CPU is of the whole process; memory its peak so far. Both
 * threads have parsed the segment before, as the parsing alone has; what the first job takes, whose threads have yet to
 * load and compile their code, has a line of its own.
 */
const count = Number(process.argv[2] ?? 2000);
const runs = Number(process.argv[3] ?? 5);
const folder = process.argv[4] ?? corpus('pages');
if (folder === undefined) throw new Error('no pages: name a folder');

function filesBelow(path: string): string[] {
  return statSync(path).isDirectory()
    ? readdirSync(path).flatMap((name) => filesBelow(join(path, name)))
    : [path];
}
const bodies = filesBelow(folder)
  .filter((path) => /html?(?:\.gz)?$/.test(path))
  .slice(0, 300)
  .map((path) => (path.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path)))
  .filter((body) => body.length > 10_000 && body.length < 100_000);
const headers = ['Content-Type: text/html', 'Content-Encoding: gzip'];
const samples: SampleCapture[] = Array.from({length: count}, (_, at) => ({
  url: `http://site${at % 100}.test/dir/${at}.html`,
  // A payload of its own each, as in a crawl.
  body: gzipSync(Buffer.concat([bodies[at % bodies.length]!, Buffer.from(`<!-- ${at} -->`)]), {level: 1}),
  headers,
}));

const cleanUp: (() => unknown)[] = [];
const crawl = await jobHarness({after: (act: () => unknown) => cleanUp.push(act)} as unknown as TestContext);
const segment = '20260101000000';
await commitFetched(crawl, segment, samples);

async function measured(act: () => Promise<unknown>): Promise<{cpu: number; wall: number}> {
  const [before, started] = [process.cpuUsage(), performance.now()];
  await act();
  const {user, system} = process.cpuUsage(before);
  return {cpu: (user + system) / 1e6, wall: (performance.now() - started) / 1000};
}
const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

async function job(threads: number, name: string): Promise<void> {
  const config = {...crawl.config, parse: {...crawl.config.parse, workers: threads}};
  await runJob(
    parse,
    {segment: [segment], as: name, all: false, stale: false, where: undefined, with: []},
    {dir: crawl.dir, config, effects: crawl.effects, executor: embeddedExecutor({concurrency: threads})},
  );
}

const config = defaultConfig;
const policy = urlPolicy(config.url);
const scope = makeScope(config.scope, config.url, config.links, []);
const links = {
  url: policy,
  scope,
  digest: scope.digest,
  follow: new Set(config.links.follow),
  nofollow: true,
  seedScopes: {},
};
async function alone(): Promise<void> {
  for (const [at, sample] of samples.entries()) {
    const capture = captureRow(segment, {url: sample.url, headers}, at);
    const page = parsePage(
      {
        url: capture.url,
        header: capture.response_header,
        contentType: null,
        contentEncoding: null,
        payload: sample.body as Uint8Array,
      },
      pageOptions,
    );
    linkRows(
      page.links,
      page.linkLimit,
      {
        segment,
        parse_id: 'alone',
        capture_id: capture.capture_id,
        host_key: capture.host_key,
        url_key: capture.url_key,
        url: capture.url,
        fetch_time: capture.fetch_time,
        depth: 0,
        seed: null,
        base: parseBase(baseOf(capture.url, page.base)),
        nofollow: false,
      },
      links,
    );
  }
}

const mean = bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length;
console.log(`${count} pages of ${(mean / 1000).toFixed(1)} KB, median of ${runs}, node ${process.version}`);
await measured(alone); // warm
const show = (name: string, results: {cpu: number; wall: number}[]): {cpu: number; wall: number} => {
  const [cpu, wall] = [median(results.map((one) => one.cpu)), median(results.map((one) => one.wall))];
  console.log(
    `${name.padEnd(24)} ${((cpu * 1000) / count).toFixed(2)} ms CPU a page, ${(count / wall).toFixed(0)} pages/s, ` +
      `peak ${(process.resourceUsage().maxRSS / 1000).toFixed(0)} MB`,
  );
  return {cpu, wall};
};
const results: Record<string, {cpu: number; wall: number}[]> = {alone: [], one: [], two: []};
const first = await measured(() => job(2, 'first'));
await job(2, 'warm');
for (let run = 0; run < runs; run++) {
  results.alone!.push(await measured(alone));
  results.one!.push(await measured(() => job(1, `one${run}`)));
  results.two!.push(await measured(() => job(2, `two${run}`)));
}
const [parsing, one, two] = [
  show('parsing alone', results.alone!),
  show('job, one thread', results.one!),
  show('job, two threads', results.two!),
];
show('first job, two threads', [first]);
console.log(
  `one thread / parsing alone ${(one.cpu / parsing.cpu).toFixed(2)} by CPU; two threads ${(one.wall / two.wall).toFixed(2)} times one`,
);
for (const act of cleanUp) await act();
process.exit(0); // idle threads
