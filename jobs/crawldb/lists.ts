import {slotBits, slotsText} from '../../lib/crawldb/compaction.ts';
import {
  baseFacts,
  inFrontier,
  type ListName,
  listOrder,
  type Range,
  rowGroupRows,
} from '../../lib/crawldb/layout.ts';
import {gridRanks, gridText, takenFacts} from '../../lib/crawldb/score-grid.ts';
import {crawldb} from '../../lib/schema/crawldb.ts';
import {type Database, sqlString} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {TaskContext} from '../job.ts';

/** Rows of the crawldb as files: a list each, in its order, with what the manifest says of them. */

export const listNames = ['frontier', 'visited'] as const satisfies readonly ListName[];

/** Writes the rows of the table or view `delta`, as rows of this version of the crawldb. */
export async function writeRows(
  db: Database,
  ctx: TaskContext,
  revision: number,
): Promise<readonly FileRef[]> {
  const rows = `SELECT * REPLACE (${revision}::BIGINT AS revision) FROM delta`;
  return writeDeltaFiles(db, ctx, rows, {kind: 'delta', revision});
}

/** Writes the rows of a query as delta files with these facts; none for a list without rows. */
export async function writeDeltaFiles(
  db: Database,
  ctx: TaskContext,
  rows: string,
  facts: NonNullable<FileRef['facts']>,
): Promise<readonly FileRef[]> {
  const files: FileRef[] = [];
  for (const list of listNames) {
    const counts = await db.all<{slot: number; rows: number}>(
      `SELECT (host_key >> ${64 - slotBits})::INTEGER AS slot, count(*) AS rows
       FROM (${ofList(rows, list)}) GROUP BY ALL ORDER BY slot`,
    );
    if (counts.length === 0) continue;
    const taken = list === 'visited' ? await takenOf(db, rows) : {};
    files.push(await writeList(db, ctx, rows, list, {...facts, list, slots: slotsText(counts), ...taken}));
  }
  return files;
}

/** Facts of visited rows that were in the frontier until now: those visited for the first time. */
async function takenOf(db: Database, rows: string): Promise<NonNullable<FileRef['facts']>> {
  const first = `SELECT score FROM (${ofList(rows, 'visited')}) WHERE visits <= 1`;
  const [count] = await db.all<{n: number}>(`SELECT count(*) AS n FROM (${first})`);
  const ranks = gridRanks(count?.n ?? 0);
  if (ranks.length === 0) return {};
  const scores = await db.all<{score: number}>(
    `SELECT score FROM (${first})
     QUALIFY row_number() OVER (ORDER BY score DESC) IN (${ranks.join(', ')}) ORDER BY score DESC`,
  );
  return takenFacts(
    ranks.at(-1)!,
    scores.map(({score}) => score),
  );
}

/**
 * Writes the rows of a query as a bucket of the base: a file a list; an empty one where there are no rows at all,
 * since it says what the bucket has taken up. No row of the base needs a revision: whatever is live in a delta wins.
 *
 * @param rows the query, by list where it can tell them apart
 */
export async function writeBucket(
  db: Database,
  ctx: TaskContext,
  rows: (list: ListName) => string,
  range: Range,
  taken: {readonly seq: number; readonly links: number},
): Promise<readonly FileRef[]> {
  const files: FileRef[] = [];
  for (const list of listNames) {
    const query = `SELECT * REPLACE (0::BIGINT AS revision) FROM (${rows(list)})`;
    files.push(await writeList(db, ctx, query, list, baseFacts(range, list, taken.seq, taken.links)));
  }
  const full = files.filter((file) => file.rows > 0);
  return full.length > 0 ? full : files.slice(0, 1);
}

async function writeList(
  db: Database,
  ctx: TaskContext,
  rows: string,
  list: ListName,
  facts: NonNullable<FileRef['facts']>,
): Promise<FileRef> {
  const file = await db.copy(
    `${ofList(rows, list)} ORDER BY ${listOrder[list]}`,
    {},
    await ctx.store.create(crawldb, 'crawldb'),
    {rowGroupRows, facts},
  );
  if (list !== 'frontier' || file.rows === 0) return file;
  const ranks = gridRanks(file.rows);
  const scores = await db.all<{score: number}>(
    `SELECT score FROM read_parquet(${sqlString(ctx.store.path(file))}, file_row_number = true)
     WHERE file_row_number IN (${ranks.map((rank) => rank - 1).join(', ')}) ORDER BY file_row_number`,
  );
  return {...file, facts: {...facts, scores: gridText(scores.map(({score}) => score))}};
}

function ofList(rows: string, list: ListName): string {
  return `SELECT * FROM (${rows}) WHERE ${list === 'frontier' ? inFrontier : `NOT (${inFrontier})`}`;
}
