import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {type RunRow, runs} from '../schema/runs.ts';
import {programVersion} from '../version.ts';
import {writeError} from './durable.ts';
import type {Edit, FileRef} from './manifest-types.ts';
import {createTableFile} from './parquet.ts';
import {readTable} from './parquet-read.ts';
import type {Snapshot} from './store.ts';

const maxFiles = 64; // chosen: a file costs a query about 0.3 ms, and merging them a few milliseconds once in 64 commits

/** The edit with the run's report as a new row of the table `runs`. */
export async function withReport(
  snapshot: Snapshot,
  edit: Edit,
  report: Omit<RunRow, 'version'>,
): Promise<Edit> {
  const row: RunRow = {...report, version: programVersion};
  return {...edit, appends: {...edit.appends, runs: [await write(snapshot, row.run, 'report', [row])]}};
}

/** Edit that makes the many small files of the table `runs` one, or undefined while they are few. */
export async function mergedReports(snapshot: Snapshot, run: string): Promise<Edit | undefined> {
  const old = await snapshot.files('runs');
  if (old.length < maxFiles) return undefined;
  const rows: RunRow[] = [];
  for (const file of old)
    for await (const batch of readTable(runs, snapshot.store.path(file))) rows.push(...batch);
  return {reads: ['runs'], writes: {runs: [await write(snapshot, run, 'reports', rows)]}};
}

async function write(
  snapshot: Snapshot,
  run: string,
  kind: string,
  rows: readonly RunRow[],
): Promise<FileRef> {
  const name = `${run}.${kind}.parquet`;
  const folder = join(snapshot.store.dir, 'runs', run, 'files');
  try {
    await mkdir(folder, {recursive: true});
  } catch (error) {
    throw writeError(error, folder);
  }
  const file = await createTableFile(runs, join(folder, name), {key: `runs/${run}/${name}`});
  await file.write(rows);
  return file.close();
}
