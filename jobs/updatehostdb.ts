import {
  copyHosts,
  type DatabaseParams,
  databaseParams,
  filesOf,
  openTaskDatabase,
  recountHosts,
  summaryOfHosts,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';

const sql = readSql(import.meta.url, './updatehostdb.sql', ['rows', 'host_ever', 'changes']);

/**
 * Counts of hosts from all rows of the crawldb (Nutch: UpdateHostDb). Rounds keep them by difference, so this changes
 * nothing unless something else wrote the crawldb; politeness and robots.txt are the fetch's, rules by hand people's.
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
    const inputs = [...crawldb, ...(await snapshot.files('hoststats'))];
    const params = {database: databaseParams(config)};
    return {
      base: snapshot.manifest.number,
      now: now(),
      tasks: [{stage: 0, part: 0, inputs, params}],
    };
  },

  run: countHosts,

  next(_plan, _stage, results) {
    const reads = ['crawldb', 'hoststats'];
    const hosts = filesOf(results[0], 'hoststats');
    if (hosts.length === 0) return {edit: {reads, writes: {}}};
    return {
      edit: {
        reads,
        writes: {hoststats: hosts},
        summary: results[0]?.facts?.summary as Record<string, number>,
      },
    };
  },
});

async function countHosts(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {database} = task.params as unknown as {database: DatabaseParams}; // made by plan
  const db = await openTaskDatabase(task, ctx, database, ['crawldb', 'hoststats']);
  try {
    for (const step of ['rows', 'host_ever'] as const) await db.run(sql[step]);
    await recountHosts(db);
    const [row] = await db.all<{hosts: number; added: number; changed: number}>(sql.changes);
    const {hosts = 0, added = 0, changed = 0} = row ?? {};
    const counters = {hosts_counted_total: hosts, hosts_added_total: added, hosts_changed_total: changed};
    if (added + changed === 0) return {files: [], counters, reasons: {}};
    return {
      files: [await copyHosts(db, ctx)],
      counters,
      reasons: {},
      facts: {summary: await summaryOfHosts(db)},
    };
  } finally {
    await db.close();
  }
}
