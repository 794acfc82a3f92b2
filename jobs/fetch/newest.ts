import {hoststate, robots} from '../../lib/schema/hostdb.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import type {TaskContext} from '../job.ts';

/**
 * The newest row of each key out of a few thousand, without DuckDB, by the rules of hosts.sql: to load the library takes
 * half a second, to open a database 0.1. test/unit/fetch-newest.test.ts holds both ways to the same rows.
 */
interface Merging<T extends Table> {
  readonly table: T;
  keyOf(row: Row<T>): bigint | string;
  /** What makes a row newer than another of its key, the first that differs. */
  newness(row: Row<T>): readonly (number | string)[];
}

const ofHosts: Merging<typeof hoststate> = {
  table: hoststate,
  keyOf: (row) => row.host_key,
  newness: (row) => [
    row.last_response_time?.getTime() ?? Number.NEGATIVE_INFINITY,
    row.requests,
    row.next_allowed_time.getTime(),
    row.updated_segment,
  ],
};
const ofOrigins: Merging<typeof robots> = {
  table: robots,
  keyOf: (row) => row.origin,
  newness: (row) => [row.fetched_time.getTime(), row.expires_time.getTime()],
};

/** Files of hoststate and robots with one row a key, in order of key. @param inputs of both tables */
export async function newestInMemory(inputs: readonly FileRef[], ctx: TaskContext): Promise<FileRef[]> {
  return [await newestOf(ofHosts, inputs, ctx), await newestOf(ofOrigins, inputs, ctx)];
}

async function newestOf<T extends Table>(
  {table, keyOf, newness}: Merging<T>,
  inputs: readonly FileRef[],
  ctx: TaskContext,
): Promise<FileRef> {
  const newest = new Map<bigint | string, Row<T>>();
  for (const file of inputs)
    if (file.table === table.name)
      for await (const rows of readTable(table, ctx.store.path(file)))
        for (const row of rows as Row<T>[]) {
          const known = newest.get(keyOf(row));
          if (known === undefined || isAfter(newness(row), newness(known))) newest.set(keyOf(row), row);
        }
  const sorted = [...newest].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  const written = await ctx.store.create(table, `hosts/${table.name}`);
  await written.write(sorted);
  return written.close();
}

function isAfter(a: readonly (number | string)[], b: readonly (number | string)[]): boolean {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at >= 0 && a[at]! > b[at]!;
}
