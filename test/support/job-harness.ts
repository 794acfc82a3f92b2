import type {TestContext} from 'node:test';
import {embeddedExecutor} from '../../jobs/executor.ts';
import type {Job} from '../../jobs/job.ts';
import {type RunReport, runJob} from '../../jobs/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {Config} from '../../lib/config/settings.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindSnapshot} from '../../lib/store/views.ts';
import {type TestEffects, temporaryCrawl, temporaryFolder, testEffects} from './temporary-crawl.ts';

/** A crawl in a temporary folder with a clock of its own; jobs run in it as commands would run them. */
export interface JobHarness {
  readonly dir: string;
  readonly effects: TestEffects;
  readonly config: Config;
  run<O extends OptionDeclarations>(job: Job<O>, options: OptionValues<O>): Promise<RunReport>;
  head(): Promise<Snapshot>;
  /** Rows of a query over the present crawl. */
  sql<R extends Readonly<Record<string, unknown>>>(query: string): Promise<R[]>;
  /** The whole crawldb, in order of key. */
  crawldb(): Promise<CrawlDatum[]>;
}

export async function jobHarness(t: TestContext, yaml = ''): Promise<JobHarness> {
  const dir = await temporaryCrawl(t, yaml);
  const spillDir = await temporaryFolder(t);
  const effects = testEffects();
  const {config} = loadConfig({
    env: {},
    file: {name: 'crawl.yaml', text: `storage:\n  memory: 256MB\n${yaml}`},
  });
  const store = await openCrawl(dir);
  const withDatabase = async <R>(use: (db: Database) => Promise<R>): Promise<R> => {
    const db = await openDatabase({memoryBytes: 256e6, spillDir});
    try {
      await bindSnapshot(db, await store.head());
      return await use(db);
    } finally {
      await db.close();
    }
  };
  return {
    dir,
    effects,
    config,
    run: (job, options) =>
      runJob(job, options, {dir, config, effects, executor: embeddedExecutor({concurrency: 1})}),
    head: () => store.head(),
    sql: (query) => withDatabase((db) => db.all(query)),
    crawldb: () =>
      withDatabase((db) => db.all<CrawlDatum>('SELECT * FROM crawldb ORDER BY host_key, url_key')),
  };
}
