import type {Config} from '../../lib/config/settings.ts';
import {nearMasks} from '../../lib/signature/near-blocks.ts';
import {nearLeaders} from '../../lib/signature/near-leaders.ts';
import {type Database, sqlString} from '../../lib/store/duckdb.ts';
import {rowsTable} from '../runner/database.ts';
import {readSql} from '../runner/sql-file.ts';

/** Marks pages that repeat others: what updatedb and upkeep do for rows that they change, and dedup for all. */

export const sql = readSql(import.meta.url, './repeats.sql', [
  'page',
  'affected',
  'alone',
  'exact',
  'text',
  'examined',
  'keep_near',
  'apply',
  'every',
  'every_examined',
  'near_page',
  'near_pairs',
  'near',
  'totals',
  'savings',
]);

/** Plain data, for a task's parameters. */
export type DedupRules = Config['dedup'];

/** Makes the view `page` over `current_row`, and the empty table `repetition`. */
export async function beginMarks(db: Database, rules: DedupRules): Promise<void> {
  await db.run(`SET VARIABLE place = ${sqlString(rules.group)};
SET VARIABLE exact = ${rules.exact ? `'status'` : `'off'`};
SET VARIABLE text = ${sqlString(rules.text)};
SET VARIABLE near = ${sqlString(rules.near)};`);
  await db.run(sql.page);
}

const examinedRows = 'SELECT c.* FROM current_row c SEMI JOIN examined USING (host_key, url_key)';

/** Makes the table `examined_row` of the rows whose keys are in `examined`. */
export async function readExamined(db: Database, query = examinedRows): Promise<void> {
  await db.run(`CREATE OR REPLACE TABLE examined_row AS ${query}`);
}

/**
 * Looks at the groups of equal pages that some rows are or were in, and puts the rows whose standing changes into the
 * table `dedup_row`. Views: `current_row`, the crawldb as it will be; `touched`, the changed rows in it; `former_row`,
 * those rows as they were, and rows that go.
 *
 * @param examined query for the rows of `current_row` whose keys are in the table `examined`, where there is a shorter way
 * @returns how many of the rows in `dedup_row` are duplicates
 */
export async function markTouched(db: Database, rules: DedupRules, examined = examinedRows): Promise<number> {
  await beginMarks(db, rules);
  await db.run(sql.affected);
  const [pages] = await db.all<{alone: boolean}>(sql.alone);
  if (pages?.alone === true) {
    await db.run('CREATE OR REPLACE TABLE dedup_row AS SELECT * FROM current_row LIMIT 0');
    return 0;
  }
  for (const step of ['exact', 'text', 'examined'] as const) await db.run(sql[step]);
  await readExamined(db, examined);
  for (const step of ['keep_near', 'apply'] as const) await db.run(sql[step]);
  const [count] = await db.all<{n: number}>(`SELECT count(*) AS n FROM dedup_row WHERE status = 'duplicate'`);
  return count?.n ?? 0;
}

/** Near duplicates among all pages that repeat none otherwise. Memory: 5 bytes a fingerprint that has a neighbour. */
export async function findNear(db: Database, rules: DedupRules): Promise<void> {
  await db.run(sql.near_page);
  const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM near_print');
  await db.run('CREATE TABLE near_pair (worse INTEGER, better INTEGER)');
  for (const mask of nearMasks(rules.near_bits, count?.n ?? 0))
    await db.run(sql.near_pairs, {mask, bits: rules.near_bits});
  const leaders = nearLeaders();
  for await (const [worse, better] of db.numbers(
    'SELECT DISTINCT worse, better FROM near_pair ORDER BY worse, better',
  ))
    for (let at = 0; at < worse!.length; at++) leaders.add(worse![at]!, better![at]!);
  const table = await rowsTable(db, 'leader', {rank: {type: 'int32'}, leader: {type: 'int32'}});
  await table.insert([...leaders.followers()].map(([rank, leader]) => ({rank, leader})));
  await db.run(sql.near);
}
