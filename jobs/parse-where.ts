import {CrawlError} from '../lib/errors.ts';
import {fetch} from '../lib/schema/fetch.ts';
import {type Database, openDatabase} from '../lib/store/duckdb.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {bindSnapshot} from '../lib/store/views.ts';
import type {JobEffects} from './job.ts';
import {databaseParams, spillFolder} from './task-database.ts';

/** Rows [from, to) of a fetch file. */
export type RowRange = readonly [from: number, to: number];

/**
 * What a condition may speak of: the columns of `captures`, those of the current parse beside them (where both have
 * one of that name it is the capture's; the parse's are parse_status and parse_reason), and in a query of its own any
 * table.
 */
const described = `SELECT c.*, p.* EXCLUDE (segment, capture_id, host_key, url_key, url, status, reason, content_mime_type),
  p.status AS parse_status, p.reason AS parse_reason
FROM captures c LEFT JOIN parse p USING (segment, capture_id)`;

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
    spillDir: spillFolder(store.dir, spill),
    signal,
  });
  try {
    await bindSnapshot(db, snapshot);
    const query = `SELECT capture_id FROM (${described}) WHERE segment = $segment AND (${where}\n)`;
    await check(db, query, where);
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

/** One expression, not a further statement. */
async function check(db: Database, query: string, where: string): Promise<void> {
  const hint = 'It takes one SQL condition over captures and parse, as: --where "parse_status = \'failed\'"';
  if (where.trim() === '' || where.includes(';'))
    throw new CrawlError('USAGE', '--where takes one SQL condition, without semicolon', {hint});
  try {
    const kinds = await db.statementKinds(query);
    if (kinds.length === 1 && kinds[0] === 'SELECT') return;
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    throw new CrawlError('USAGE', `--where ${where}: ${error.message}`, {hint, cause: error});
  }
  throw new CrawlError('USAGE', `--where ${where}: not a condition`, {hint});
}
