import type {Config} from '../../lib/config/settings.ts';
import {hoststate, robots} from '../../lib/schema/hostdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {databaseParams, openTaskDatabase} from '../crawldb/writer.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {readSql} from '../runner/sql-file.ts';

const sql = readSql(import.meta.url, './hosts.sql', ['hoststate', 'robots']);

/** The second stage of a fetch: the tables hoststate and robots anew, and the segment's files as they came. */
export async function mergeHosts(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {config, files} = task.params as unknown as {config: Config; files: FileRef[]}; // made by fetch.ts
  const once = {asViews: true};
  const db = await openTaskDatabase(task, ctx, databaseParams(config), ['hoststate', 'robots'], once);
  try {
    const merged = [
      await db.copy(sql.hoststate, {}, await ctx.store.create(hoststate, 'hosts/hoststate')),
      await db.copy(sql.robots, {}, await ctx.store.create(robots, 'hosts/robots')),
    ];
    return {
      files: [...files, ...merged],
      counters: {},
      reasons: {},
      facts: {fetchedTime: new Date(ctx.now()).toISOString()},
    };
  } finally {
    await db.close();
  }
}
