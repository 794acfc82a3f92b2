import {compactionTask} from '../../jobs/crawldb/compact.ts';
import {
  compactBuckets,
  compactionEdit,
  countFiles,
  countsOf,
  countTables,
  crawldbNext,
  filesOf,
  inlinksSlot,
  isCompaction,
  nextRevision,
  openTaskDatabase,
  rowsTable,
  writeDelta,
} from '../../jobs/crawldb/writer.ts';
import {defineJob} from '../../jobs/job.ts';
import type {CompactionPlan} from '../../lib/crawldb/compaction.ts';
import {type CrawlDatum, crawldb} from '../../lib/schema/crawldb.ts';
import {inlinks} from '../../lib/schema/inlinks.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {JobHarness} from './job-harness.ts';

/** Steps of a crawldb's life, each through the writer that jobs use. */

const database = {memory: 256e6, threads: 1};

/** A commit that changes these rows. */
export async function changeRows(crawl: JobHarness, rows: readonly CrawlDatum[]): Promise<void> {
  const job = defineJob({
    name: 'change-rows',
    summary: 'Changes rows of the crawldb.',
    options: {},
    locks: () => ['crawldb'],
    async plan(_options, {snapshot, now}) {
      const files = await snapshot.files('crawldb');
      const inputs = [...files, ...(await countFiles(snapshot))];
      const params = {revision: nextRevision(snapshot)};
      return {
        base: snapshot.manifest.number,
        now: now(),
        tasks: [{stage: 0, part: 0, inputs, params}],
        facts: {crawldb: files, inlinks: await inlinksSlot(snapshot)},
      };
    },
    async run(task, ctx) {
      if (isCompaction(task)) return compactBuckets(task, ctx);
      const db = await openTaskDatabase(task, ctx, database, ['crawldb', ...countTables]);
      try {
        const delta = await rowsTable(db, 'delta', crawldb.columns);
        await delta.insert(rows);
        // As jobs do, which change rows that they have read
        await db.run(`UPDATE delta SET inlinks = c.inlinks FROM crawldb c
          WHERE delta.host_key = c.host_key AND delta.url_key = c.url_key`);
        const {files} = await writeDelta(db, ctx, Number(task.params.revision));
        return {files, counters: {}, reasons: {}};
      } finally {
        await db.close();
      }
    },
    next(plan, stage, results) {
      if (stage > 0) return compactionEdit(results);
      const writes = countsOf(results[0]);
      const before = plan.facts?.crawldb as readonly FileRef[];
      const edit = {reads: ['crawldb', 'hoststats'], writes};
      return crawldbNext(plan, stage, before, filesOf(results[0], 'crawldb'), edit, database);
    },
  });
  await crawl.run(job, {});
}

/** A commit that changes numbers of linking pages. */
export async function changeInlinks(
  crawl: JobHarness,
  rows: readonly {host_key: bigint; url_key: bigint; inlinks: number}[],
): Promise<void> {
  const job = defineJob({
    name: 'change-inlinks',
    summary: 'Changes numbers of linking pages.',
    options: {},
    locks: () => ['crawldb'],
    async plan(_options, {snapshot, now}) {
      const facts = {slot: await inlinksSlot(snapshot)};
      const base = snapshot.manifest.number;
      return {base, now: now(), tasks: [{stage: 0, part: 0, inputs: [], params: facts}], facts};
    },
    async run(task, ctx) {
      const revision = (task.params.slot as {version: number}).version + 1;
      const file = await ctx.store.create(inlinks, 'linkdb/inlinks');
      await file.write(rows.map((row) => ({...row, revision})));
      return {files: [await file.close({kind: 'delta', revision})], counters: {}, reasons: {}};
    },
    next(plan, _stage, results) {
      const slot = plan.facts?.slot as {files: readonly FileRef[]};
      return {edit: {reads: ['inlinks'], writes: {inlinks: [...slot.files, ...results[0]!.files]}}};
    },
  });
  await crawl.run(job, {});
}

/** A compaction by a rule of the test's own; false where there was nothing to do. */
export async function compactBy(
  crawl: JobHarness,
  planOf: (files: readonly FileRef[]) => CompactionPlan | undefined,
): Promise<boolean> {
  const job = defineJob({
    name: 'compact-by',
    summary: 'Compacts by a rule of its own.',
    options: {},
    locks: () => ['crawldb'],
    async plan(_options, {snapshot, now}) {
      const files = await snapshot.files('crawldb');
      const plan = planOf(files);
      if (plan === undefined) return undefined;
      const params = {
        plan,
        files,
        inlinks: await inlinksSlot(snapshot),
        database,
        edit: {reads: ['crawldb'], writes: {}},
      };
      return {base: snapshot.manifest.number, now: now(), tasks: [compactionTask(0, params)]};
    },
    run: (task, ctx) => compactBuckets(task, ctx),
    next: (_plan, _stage, results) => compactionEdit(results),
  });
  return (await crawl.run(job, {})).outcome === 'done';
}
