import type {Reason} from '../../lib/schema/reason.ts';
import {refusals} from '../../lib/schema/refusals.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {readSql} from '../runner/sql-file.ts';
import {charge, hasRows, type Update} from './step.ts';

const sql = readSql(import.meta.url, './refusals.sql', [
  'refused',
  'counted',
  'refusal',
  'segments',
  'in_segment',
]);

const {segment, host_key, url_key, url, url_host_name, from_url, reason} = refusals.columns;

/** What the state machine refuses of the captures themselves: the table `refused_capture`. */
export function refusedCaptures(db: Update['db']): Promise<Update['refused']> {
  return rowsTable(db, 'refused_capture', {
    segment,
    host_key,
    url_key,
    url,
    url_host_name,
    from_url,
    reason,
  });
}

/** Counts what is not added. Makes the table `refused_target`. */
export async function countRefusals({db, reasons}: Update): Promise<void> {
  await db.run(sql.refused);
  for (const {reason, n} of await db.all<{reason: Reason; n: number}>(sql.counted))
    charge(reasons, reason, n);
}

/**
 * A file for each segment that led to URLs which were not added: a row a URL, so never more than it has links, and gone
 * with it. Where nothing is refused this costs four questions to empty tables.
 */
export async function writeRefusals({db, ctx, params}: Update): Promise<readonly FileRef[]> {
  const some = [
    'refused_target',
    'refused_capture',
    'verdict WHERE reason IS NOT NULL',
    'refusals WHERE parse_id IS NULL',
  ].map((rows) => hasRows(db, rows));
  if (!(await Promise.all(some)).includes(true)) return [];
  await db.run(sql.refusal, {now: new Date(params.now)});
  const files: FileRef[] = [];
  for (const {segment, clashes} of await db.all<{segment: string; clashes: boolean}>(sql.segments)) {
    const file = await ctx.store.create(refusals, `segments/${segment}/refusals`);
    files.push(await db.copy(sql.in_segment, {segment}, file, {facts: {segment, clashes}}));
  }
  return files;
}
