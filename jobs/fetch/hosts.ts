import type {Config} from '../../lib/config/settings.ts';
import {hoststate, robots} from '../../lib/schema/hostdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {databaseParams, openTaskDatabase} from '../crawldb/writer.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import {readSql} from '../runner/sql-file.ts';
import {newestInMemory} from './newest.ts';

const sql = readSql(import.meta.url, './hosts.sql', ['hoststate', 'robots']);

/** Chosen: up to here it takes no longer in memory than with a database that has to be opened (decision 205). */
const few = {rows: 2000, bytes: 8 * 2 ** 20};

/** The second stage of a fetch: the tables hoststate and robots anew, and the segment's files as they came. */
export async function mergeHosts(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {config, files} = task.params as unknown as {config: Config; files: FileRef[]}; // made by fetch.ts
  const total = (of: 'rows' | 'bytes') => task.inputs.reduce((sum, file) => sum + file[of], 0);
  const inMemory = total('rows') <= few.rows && total('bytes') <= few.bytes;
  const merged = await (inMemory ? newestInMemory(task.inputs, ctx) : newestByDatabase(task, ctx, config));
  return {
    files: [...files, ...merged],
    counters: {},
    reasons: {},
    facts: {fetchedTime: new Date(ctx.now()).toISOString()},
  };
}

/** The same out of any number of rows. */
export async function newestByDatabase(task: Task, ctx: TaskContext, config: Config): Promise<FileRef[]> {
  const db = await openTaskDatabase(task, ctx, databaseParams(config), ['hoststate', 'robots'], {
    asViews: true,
  });
  try {
    return [
      await db.copy(sql.hoststate, {}, await ctx.store.create(hoststate, 'hosts/hoststate')),
      await db.copy(sql.robots, {}, await ctx.store.create(robots, 'hosts/robots')),
    ];
  } finally {
    await db.close();
  }
}
