import type {TestContext} from 'node:test';
import {defineJob, type Job} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {type RunReport, runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {Config} from '../../lib/config/settings.ts';
import type {Effects} from '../../lib/effects.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Row} from '../../lib/schema/table.ts';
import {type TableName, tables} from '../../lib/schema/tables.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {Edit, FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindSnapshot} from '../../lib/store/views.ts';
import {type TestEffects, temporaryCrawl, temporaryFolder, testEffects} from './temporary-crawl.ts';

/** A crawl in a temporary folder with a clock of its own; jobs run in it as commands would run them. */
export interface JobHarness {
  readonly dir: string;
  readonly effects: TestEffects;
  readonly config: Config;
  /** With `more` in place of the effects of that name. */
  run<O extends OptionDeclarations>(
    job: Job<O>,
    options: OptionValues<O>,
    more?: Partial<Effects>,
  ): Promise<RunReport>;
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
    run: (job, options, more = {}) =>
      runJob(job, options, {
        dir,
        config,
        effects: {...effects, ...more},
        executor: embeddedExecutor({concurrency: 1}),
      }),
    head: () => store.head(),
    sql: (query) => withDatabase((db) => db.all(query)),
    crawldb: () =>
      withDatabase((db) => db.all<CrawlDatum>('SELECT * FROM crawldb ORDER BY host_key, url_key')),
  };
}

/** Rows for a slot, as if a job had made them. */
export interface SlotRows<N extends TableName = TableName> {
  readonly slot: string;
  readonly table: N;
  readonly rows: readonly Row<(typeof tables)[N]>[];
  readonly facts?: FileRef['facts'];
}

/** Commits rows to slots, each slot's content replaced, a file for each entry, with facts of segments. */
export async function commitRows(
  crawl: JobHarness,
  slots: readonly SlotRows[],
  segments: NonNullable<Edit['segments']> = {},
): Promise<void> {
  const job = defineJob({
    name: 'commit-rows',
    summary: 'Writes the rows that a test brings.',
    options: {},
    locks: () => [],
    async plan(_options, {snapshot, now}) {
      const base = snapshot.manifest.number;
      return {base, now: now(), tasks: [{stage: 0, part: 0, inputs: [], params: {}}]};
    },
    async run(_task, ctx) {
      const files: FileRef[] = [];
      for (const {slot, table, rows, facts} of slots) {
        const file = await ctx.store.create(tables[table], slot);
        await file.write(rows as never); // SlotRows binds rows to their table
        files.push(await file.close(facts));
      }
      return {files, counters: {}, reasons: {}};
    },
    next(_plan, _stage, results) {
      const files = results[0]?.files ?? [];
      const writes: Record<string, FileRef[]> = {};
      for (const [index, {slot}] of slots.entries()) writes[slot] = [...(writes[slot] ?? []), files[index]!];
      return {edit: {reads: [], writes, segments}};
    },
  });
  await crawl.run(job, {});
}
