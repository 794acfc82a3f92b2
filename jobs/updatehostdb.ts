import {copyStatistics, countStatistics, statisticsDiffer} from './crawldb/statistics.ts';
import {
  copyHosts,
  countFiles,
  countsOf,
  countTables,
  type DatabaseParams,
  databaseParams,
  nextRevision,
  openTaskDatabase,
  recountHosts,
  summaryOfHosts,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';

const sql = readSql(import.meta.url, './updatehostdb.sql', ['rows', 'host_ever', 'changes']);

interface CountParams {
  /** Of the crawldb that is counted. */
  readonly revision: number;
  readonly database: DatabaseParams;
}

/**
 * Counts of hosts, and those of all rows, from the crawldb (Nutch: UpdateHostDb). Rounds keep them by difference, so this
 * changes nothing unless something else wrote the crawldb; politeness and robots.txt are the fetch's, rules by hand people's.
 */
export const updatehostdb = defineJob({
  name: 'updatehostdb',
  summary: 'Count the URLs of each host anew, from the crawldb.',
  options: {},
  locks: () => ['crawldb'],

  async plan(_options, {snapshot, config, now, log}) {
    const crawldb = await snapshot.files('crawldb');
    if (crawldb.length === 0) {
      log('info', 'crawldb_empty');
      return undefined;
    }
    const inputs = [...crawldb, ...(await countFiles(snapshot))];
    const params: CountParams = {revision: nextRevision(snapshot) - 1, database: databaseParams(config)};
    return {
      base: snapshot.manifest.number,
      now: now(),
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
    };
  },

  run: countHosts,

  next(_plan, _stage, results) {
    const reads = ['crawldb', 'hoststats'];
    if (results[0]?.files.length === 0) return {edit: {reads, writes: {}}};
    return {
      edit: {
        reads,
        writes: countsOf(results[0]),
        summary: results[0]?.facts?.summary as Record<string, number>,
      },
    };
  },
});

async function countHosts(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {revision, database} = task.params as unknown as CountParams; // made by plan
  const db = await openTaskDatabase(task, ctx, database, ['crawldb', ...countTables]);
  try {
    for (const step of ['rows', 'host_ever'] as const) await db.run(sql[step]);
    await recountHosts(db);
    const [row] = await db.all<{hosts: number; added: number; changed: number}>(sql.changes);
    const {hosts = 0, added = 0, changed = 0} = row ?? {};
    const counters = {hosts_counted_total: hosts, hosts_added_total: added, hosts_changed_total: changed};
    await db.run('CREATE VIEW all_row AS FROM crawldb');
    await countStatistics(db);
    const statistics = await statisticsDiffer(db);
    if (added + changed === 0 && !statistics) return {files: [], counters, reasons: {}};
    return {
      files: [await copyHosts(db, ctx), await copyStatistics(db, ctx, revision)],
      counters,
      reasons: {},
      facts: {summary: await summaryOfHosts(db), statistics},
    };
  } finally {
    await db.close();
  }
}
