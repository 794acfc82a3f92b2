import {CrawlError} from '../../lib/errors.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindSnapshot} from '../../lib/store/views.ts';
import type {JobEffects} from '../job.ts';
import {checkCondition, describedCaptures} from '../read/capture-where.ts';
import {databaseParams, spillFolder} from '../runner/database.ts';

/** Rows [from, to) of a fetch file. */
export type RowRange = readonly [from: number, to: number];

/**
 * Rows of each fetch file (by its key) whose captures a condition chooses; files without any are absent. Held in
 * memory at a time: the capture ids of one segment. Throws USAGE for what is no condition, QUERY_FAILED.
 */
export async function selectRows(
  where: string,
  segments: readonly string[],
  effects: JobEffects,
): Promise<ReadonlyMap<string, readonly RowRange[]>> {
  const {snapshot, store, config, signal} = effects;
  const {memory, threads, spill} = databaseParams(config);
  const db = await openDatabase({
    memoryBytes: memory,
    ...(threads !== undefined && {threads}),
    spillDir: await spillFolder(store.dir, spill),
    signal,
  });
  try {
    await bindSnapshot(db, snapshot);
    const query = `SELECT capture_id FROM (${describedCaptures}) WHERE segment = $segment AND (${where}\n)`;
    await checkCondition(db, query, where);
    const chosen = new Map<string, readonly RowRange[]>();
    for (const segment of segments) {
      const ids = new Set(
        (await db.all<{capture_id: string}>(query, {segment})).map((row) => row.capture_id),
      );
      if (ids.size === 0) continue;
      for (const file of await snapshot.files(`segments/${segment}/fetch`)) {
        const ranges = await rangesOf(store.path(file), ids);
        if (ranges.length > 0) chosen.set(file.key, ranges);
      }
    }
    return chosen;
  } finally {
    await db.close();
  }
}

async function rangesOf(path: string, ids: ReadonlySet<string>): Promise<RowRange[]> {
  const ranges: [from: number, to: number][] = [];
  let row = 0;
  for await (const rows of readTable(fetch, path, {columns: ['capture_id']}))
    for (const {capture_id} of rows) {
      const last = ranges.at(-1);
      if (ids.has(capture_id)) {
        if (last?.[1] === row) last[1]++;
        else ranges.push([row, row + 1]);
      }
      row++;
    }
  return ranges;
}

/** Cuts ranges into groups of at most `size` rows, so that each is a task. */
export function cutRanges(ranges: readonly RowRange[], size: number): RowRange[][] {
  const groups: RowRange[][] = [];
  let left = 0;
  for (const [first, end] of ranges)
    for (let from = first; from < end; ) {
      if (left === 0) {
        groups.push([]);
        left = size;
      }
      const to = Math.min(end, from + left);
      groups.at(-1)!.push([from, to]);
      left -= to - from;
      from = to;
    }
  return groups;
}

/** A parse of some captures stands beside whole ones, under a name that no segment shows. */
export function checkTrial(
  as: string | undefined,
  present: string,
  segments: readonly string[],
  snapshot: Snapshot,
): void {
  if (as === undefined)
    throw new CrawlError('USAGE', '--where reads some captures only: name the result with --as NAME');
  const shown = segments.filter((id) => snapshot.segment(id).current === as);
  if (as === present || shown.length > 0)
    throw new CrawlError(
      'USAGE',
      `--as ${as} is the whole parse of ${shown.join(', ') || 'the present parser'}`,
      {
        hint: 'Give the captures that --where chooses a name of their own.',
      },
    );
}
