import assert from 'node:assert/strict';
import test from 'node:test';
import {newestByDatabase} from '../../jobs/fetch/hosts.ts';
import {newestInMemory} from '../../jobs/fetch/newest.ts';
import type {Task, TaskContext} from '../../jobs/job.ts';
import {hoststate, robots} from '../../lib/schema/hostdb.ts';
import type {Row, Table} from '../../lib/schema/table.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import {AttemptStore} from '../../lib/store/task-store.ts';
import {jobHarness} from '../support/job-harness.ts';
import {sampleRow} from '../support/rows.ts';

/** Rows of few keys whose times and counts often agree; `n` tells them apart. */
function stateOf(n: number): Row<typeof hoststate> {
  const time = (value: number) => new Date(1_800_000_000_000 + value * 1000);
  return {
    ...sampleRow(hoststate, n),
    host_key: BigInt.asUintN(64, BigInt(n % 7) * 0x9e37_79b9_7f4a_7c15n),
    last_response_time: n % 5 === 0 ? null : time(n % 3),
    requests: n % 4,
    next_allowed_time: time(n % 2),
    updated_segment: `${n}`.padStart(4, '0'),
  };
}

function robotsOf(n: number): Row<typeof robots> {
  const time = (value: number) => new Date(1_800_000_000_000 + value * 1000);
  return {
    ...sampleRow(robots, n),
    origin: `http${n % 2 ? 's' : ''}://${'ab-0.'[n % 5]}x${n % 3}.test${n % 11 === 0 ? ':8080' : ''}`,
    fetched_time: time(n % 6),
    expires_time: time(n),
  };
}

test('the newest rows of hosts and origins are the same in memory and by the database', async (t) => {
  const {dir, effects, config} = await jobHarness(t);
  const contextOf = (attempt: number): TaskContext => ({
    ...effects,
    run: 'r',
    attempt,
    leaseOk: () => true,
    progress: () => undefined,
    store: new AttemptStore({dir, run: 'r', stage: 1, part: 0, attempt}),
  });
  const old = contextOf(0);
  const inputs: FileRef[] = [];
  const write = async <T extends Table>(table: T, rows: readonly Row<T>[]) => {
    const file = await old.store.create(table, 'hosts/old');
    await file.write(rows);
    inputs.push(await file.close());
  };
  const numbers = Array.from({length: 120}, (_, n) => n);
  for (const third of [0, 1, 2]) {
    const own = numbers.filter((n) => n % 3 === third);
    await write(hoststate, own.map(stateOf));
    await write(robots, own.map(robotsOf));
  }
  const task: Task = {stage: 1, part: 0, inputs, params: {}};
  const ways = [
    await newestInMemory(inputs, contextOf(1)),
    await newestByDatabase(task, contextOf(2), config),
  ] as const;
  const rowsOf = async (files: readonly FileRef[], table: Table) => {
    const rows: unknown[] = [];
    for (const file of files.filter((one) => one.table === table.name))
      for await (const some of readTable(table, old.store.path(file))) rows.push(...some);
    return rows;
  };
  for (const table of [hoststate, robots]) {
    const [memory, database] = [await rowsOf(ways[0], table), await rowsOf(ways[1], table)];
    assert.ok(memory.length > 5 && memory.length < 60, `${memory.length} rows`);
    assert.deepEqual(memory, database);
  }
  assert.deepEqual(
    (await newestInMemory([], contextOf(3))).map(({table, rows}) => ({table, rows})),
    [
      {table: 'hoststate', rows: 0},
      {table: 'robots', rows: 0},
    ],
  );
});
