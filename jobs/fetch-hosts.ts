import type {Config} from '../lib/config/settings.ts';
import {hoststate, robots} from '../lib/schema/hostdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import type {Task, TaskContext, TaskResult} from './job.ts';
import {readSql} from './sql-file.ts';

const sql = readSql(import.meta.url, './fetch-hosts.sql', ['hoststate', 'robots']);

/** The second stage of a fetch: the tables hoststate and robots anew, and the segment's files as they came. */
export async function mergeHosts(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {config, files} = task.params as unknown as {config: Config; files: FileRef[]}; // made by fetch.ts
  const {openDatabase} = await import('../lib/store/duckdb.ts');
  const {bindTables} = await import('../lib/store/views.ts');
  const db = await openDatabase({memoryBytes: config.storage.memory, spillDir: await ctx.store.scratch()});
  try {
    const of = (table: string) => task.inputs.filter((file) => file.table === table);
    await bindTables(db, ctx.store, {hoststate: of('hoststate'), robots: of('robots')});
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
