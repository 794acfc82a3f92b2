import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import type {Config} from '../../lib/config/settings.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {type TableName, tables} from '../../lib/schema/tables.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import {type AppendColumns, createSql} from '../../lib/store/duckdb-append.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {type BindWays, bindTables} from '../../lib/store/views.ts';
import type {JobEffects, Task, TaskContext} from '../job.ts';

/** The database of a task or plan: memory, threads and spill as configured, the tables bound to the task's inputs. */

/** What a task needs to open its database; plain data. */
export interface DatabaseParams {
  readonly memory: number;
  readonly threads?: number;
  /** storage.spill; absent: a folder of the attempt below tmp/ of the crawl. */
  readonly spill?: string;
}

export function databaseParams(config: Config, tasks = 1): DatabaseParams {
  const {memory, threads, spill} = config.storage;
  return {
    memory: Math.floor(memory / tasks),
    ...(threads !== undefined && {threads}),
    ...(spill !== undefined && {spill}),
  };
}

/**
 * Where a database of the crawl in `dir` spills: `storage.spill`, which counts from the crawl, else its tmp/. The former
 * is never made: where a disk is not mounted, its place would fill another one. Throws CONFIG_INVALID.
 */
export async function spillFolder(dir: string, spill: string | undefined): Promise<string> {
  if (spill === undefined) return resolve(dir, 'tmp');
  const folder = resolve(dir, spill);
  const problem = await stat(folder).then(
    (found) => (found.isDirectory() ? undefined : 'is no folder'),
    (error: unknown) => `cannot be used: ${systemCode(error) ?? String(error)}`,
  );
  if (problem === undefined) return folder;
  throw new CrawlError('CONFIG_INVALID', `storage.spill: ${folder} ${problem}`, {
    facts: {path: folder},
    hint: 'Make the folder, or mount its disk; crawl config storage.spill shows where the setting comes from.',
  });
}

/**
 * A database with the task's inputs, by table; tables named in `also` are empty where there is no input. What is small
 * is read into memory at once, unless the task asks it only once or twice (`asViews`).
 */
export async function openTaskDatabase(
  task: Task,
  ctx: TaskContext,
  params: DatabaseParams,
  also: readonly TableName[],
  bind: BindWays = {},
): Promise<Database> {
  const db = await openDatabase({
    memoryBytes: params.memory,
    ...threadsFor(params, task.inputs),
    spillDir:
      params.spill === undefined ? await ctx.store.scratch() : await spillFolder(ctx.store.dir, params.spill),
    signal: ctx.signal,
  });
  return bound(db, ctx.store, byTable(task.inputs, also), bind);
}

/** The same for a plan, over the present crawl; only reads, and as views. */
export async function openPlanDatabase(
  effects: JobEffects,
  files: readonly FileRef[],
  also: readonly TableName[],
  bind: Omit<BindWays, 'asViews'> = {},
): Promise<Database> {
  const params = databaseParams(effects.config);
  const db = await openDatabase({
    memoryBytes: params.memory,
    ...threadsFor(params, files),
    spillDir: await spillFolder(effects.store.dir, params.spill),
    signal: effects.signal,
  });
  return bound(db, effects.store, byTable(files, also), {...bind, asViews: true});
}

async function bound(
  db: Database,
  store: {path(file: FileRef): string},
  files: Partial<Record<TableName, readonly FileRef[]>>,
  bind: BindWays,
): Promise<Database> {
  try {
    await bindTables(db, store, files, bind);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}

/**
 * Inputs up to this size are the work of one thread: a second one has nothing to do, and doubles the processor time by
 * waiting for it (measured 2026-11: 17 files of 179 rows read in 80 ms with two threads, in 40 with one).
 */
const oneThreadBytes = 8 * 2 ** 20;

function threadsFor(params: DatabaseParams, files: readonly FileRef[]): {readonly threads?: number} {
  if (params.threads !== undefined) return {threads: params.threads};
  return files.reduce((sum, {bytes}) => sum + bytes, 0) <= oneThreadBytes ? {threads: 1} : {};
}

function byTable(
  inputs: readonly FileRef[],
  also: readonly TableName[],
): Partial<Record<TableName, readonly FileRef[]>> {
  const lists: Partial<Record<TableName, FileRef[]>> = {};
  for (const name of also) lists[name] = [];
  for (const file of inputs) {
    if (!isTableName(file.table)) throw new Error(`no such table: ${file.table}`);
    const list = lists[file.table] ?? [];
    list.push(file);
    lists[file.table] = list;
  }
  return lists;
}

function isTableName(name: string): name is TableName {
  return Object.hasOwn(tables, name);
}

/** Makes a table of rows that TypeScript brings; `insert` adds a batch. */
export async function rowsTable(
  db: Database,
  name: string,
  columns: AppendColumns,
): Promise<{insert(rows: readonly Readonly<Record<string, unknown>>[]): Promise<void>}> {
  await db.run(createSql(name, columns));
  return {insert: (rows) => db.insert(name, columns, rows)};
}
