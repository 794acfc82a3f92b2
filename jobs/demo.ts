import {readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {type DemoServer, type SeenRequest, startDemoServer} from '../lib/demo/server.ts';
import {demoFacts, demoHosts} from '../lib/demo/web.ts';
import {CrawlError, systemCode} from '../lib/errors.ts';
import {initCrawl} from './config/init-crawl.ts';
import {configFile} from './config/open.ts';
import {openReader, type ReadSettings} from './read/crawl.ts';
import {readSql} from './runner/sql-file.ts';

export {demoSeeds} from '../lib/demo/web.ts';

/** A host of the demo web, as the crawl knows it. */
export interface DemoHost {
  readonly host: string;
  readonly pages: number;
  readonly duplicates: number;
  readonly unique: number;
  readonly refused: number;
  readonly seen_again: number;
  readonly waiting: number;
}

/** The running demo web, and the settings with which a crawl reaches it. */
export interface Demo {
  readonly server: DemoServer;
  readonly settings: Readonly<Record<string, readonly string[]>>;
}

const minDelayMs = 200;
/** Settings that stay in the demo's crawl.yaml. */
const kept = {
  'agent.contact': 'demo@localhost.test',
  'budget.max_pages_per_host': String(demoFacts.budgetPerHost),
  'politeness.min_delay': `${minDelayMs}ms`,
};
const mark = 'demo@localhost.test';

/** Serves the demo web and makes a new crawl for it in `dir`. Throws CRAWL_EXISTS for a crawl that is not a demo's. */
export async function openDemo(dir: string): Promise<Demo> {
  await removeOldDemo(dir);
  await initCrawl(dir, kept);
  const server = await startDemoServer();
  const connectTo = demoHosts.map((host) => `${host}:80=${server.address}`);
  return {server, settings: {'network.connect_to': connectTo, 'network.allow': ['127.0.0.0/8']}};
}

async function removeOldDemo(dir: string): Promise<void> {
  let yaml: string;
  try {
    yaml = await readFile(join(dir, configFile), 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  if (!yaml.includes(mark))
    throw new CrawlError('CRAWL_EXISTS', `the crawl in ${dir} is not a demo's, so it is left alone`, {
      hint: 'Move it away, or start the demo in another folder.',
    });
  await rm(dir, {recursive: true});
}

/** What the crawl found, a row a host. */
export async function demoHostRows(settings: ReadSettings): Promise<DemoHost[]> {
  const reader = await openReader(settings);
  try {
    return await reader.db.all<DemoHost & Record<string, unknown>>(
      readSql(import.meta.url, './demo.sql', ['hosts']).hosts,
    );
  } finally {
    await reader.close();
  }
}

/** The least pause, in ms, between the end of an answer and the next request to that host, as the server saw it. */
export function leastPause(seen: readonly SeenRequest[]): number {
  let least = Number.POSITIVE_INFINITY;
  const lastEnd = new Map<string, number>();
  for (const {host, startedMs, endedMs} of [...seen].sort((a, b) => a.startedMs - b.startedMs)) {
    const before = lastEnd.get(host);
    if (before !== undefined) least = Math.min(least, startedMs - before);
    lastEnd.set(host, endedMs);
  }
  return least;
}

/** What of the demo's facts the crawl does not show; empty if all is as it must be. */
export function demoFindings(hosts: readonly DemoHost[], seen: readonly SeenRequest[]): string[] {
  const sum = (name: Exclude<keyof DemoHost, 'host'>): number =>
    hosts.reduce((total, host) => total + host[name], 0);
  const expected: [string, number, number][] = [
    ...Object.entries(demoFacts.pages).map(([name, pages]): [string, number, number] => [
      `pages of ${name}`,
      hosts.find(({host}) => host === name)?.pages ?? 0,
      pages,
    ]),
    ['pages', sum('pages'), demoFacts.pagesTotal],
    ['refused by robots.txt', sum('refused'), demoFacts.refusedByRobots],
    ['duplicates', sum('duplicates'), demoFacts.duplicates],
    ['unique pages', sum('unique'), demoFacts.unique],
    [
      'known URLs seen again',
      hosts.filter(({host}) => host !== 'trap.test').reduce((total, host) => total + host.seen_again, 0),
      demoFacts.seenAgain,
    ],
    ['requests for the forbidden page', seen.filter(({path}) => path.startsWith('/private/')).length, 0],
  ];
  const findings = expected
    .filter(([, is, due]) => is !== due)
    .map(([what, is, due]) => `${what}: ${is}, expected ${due}`);
  const pause = leastPause(seen);
  if (pause < minDelayMs) findings.push(`a pause of ${pause.toFixed(0)} ms, less than ${minDelayMs} ms`);
  return findings;
}
