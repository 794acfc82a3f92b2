import type {FileRef} from '../lib/store/manifest-types.ts';
import {beginMarks, type DedupRules, findNear, readExamined, sql} from './crawldb/repeats.ts';
import {
  compactBuckets,
  compactionEdit,
  countFiles,
  countsOf,
  countTables,
  crawldbNext,
  type DatabaseParams,
  databaseParams,
  filesOf,
  isCompaction,
  nextRevision,
  openTaskDatabase,
  writeDelta,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';

interface DedupParams {
  readonly rules: DedupRules;
  readonly revision: number;
  readonly database: DatabaseParams;
}

/**
 * Duplicates of the whole crawldb, anew (Nutch: DeduplicationJob). updatedb does the same for the pages of a round,
 * but for near duplicates; this is also for crawls whose settings have changed. Where a kind is off, its duplicates
 * become pages again.
 */
export const dedup = defineJob({
  name: 'dedup',
  summary: 'Mark duplicates over the whole crawldb.',
  options: {
    group: {
      kind: 'choice',
      values: ['none', 'domain', 'host'],
      doc: 'Look for duplicates in the whole crawl, or only within a domain or host; dedup.group if absent.',
    },
  },
  locks: () => ['crawldb'],

  async plan(options, effects) {
    const {snapshot, config} = effects;
    const crawldb = await snapshot.files('crawldb');
    if (crawldb.length === 0) {
      effects.log('info', 'crawldb_empty');
      return undefined;
    }
    const params: DedupParams = {
      rules: {...config.dedup, group: options.group ?? config.dedup.group},
      revision: nextRevision(snapshot),
      database: databaseParams(config),
    };
    return {
      base: snapshot.manifest.number,
      now: effects.now(),
      tasks: [
        {
          stage: 0,
          part: 0,
          inputs: [...crawldb, ...(await countFiles(snapshot))],
          params: {...params},
        },
      ],
      facts: {crawldb, database: params.database},
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : markAll(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const delta = filesOf(results[0], 'crawldb');
    const edit = {reads: ['crawldb', 'hoststats'], writes: {}};
    if (delta.every((file) => file.rows === 0)) return {edit};
    const summary = results[0]?.facts?.summary as Record<string, number>;
    const writes = countsOf(results[0]);
    const before = plan.facts?.crawldb as readonly FileRef[];
    const database = plan.facts?.database as DatabaseParams;
    return crawldbNext(plan, stage, before, delta, {...edit, writes, summary}, database);
  },
});

/** Duplicates of a host, for the report. */
export interface DedupSavings {
  readonly host: string;
  readonly duplicates: number;
  /** Only marked. */
  readonly alike: number;
  readonly pages: number;
}

async function markAll(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {rules, revision, database} = task.params as unknown as DedupParams; // made by plan
  const db = await openTaskDatabase(task, ctx, database, ['crawldb', ...countTables]);
  try {
    await db.run('CREATE VIEW current_row AS SELECT * FROM crawldb');
    await beginMarks(db, rules);
    await db.run(sql.every);
    await db.run(sql.exact);
    await db.run(sql.text);
    if (rules.near !== 'off') await findNear(db, rules);
    await db.run(sql.every_examined);
    await readExamined(db);
    await db.run(sql.apply);
    await db.run('CREATE VIEW delta AS SELECT * FROM dedup_row');
    const {files, summary} = await writeDelta(db, ctx, revision);
    const [totals] = await db.all<{rows: number; duplicates: number; alike: number}>(sql.totals);
    await db.run(
      'CREATE OR REPLACE VIEW current_row AS SELECT * FROM crawldb ANTI JOIN dedup_row USING (host_key, url_key) UNION ALL SELECT * FROM dedup_row',
    );
    const savings = await db.all(sql.savings);
    return {
      files,
      counters: {
        rows_updated_total: totals?.rows ?? 0,
        duplicates_total: totals?.duplicates ?? 0,
        similar_total: totals?.alike ?? 0,
      },
      reasons: {},
      facts: {summary, savings},
    };
  } finally {
    await db.close();
  }
}
