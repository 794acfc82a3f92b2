import {neverDue} from '../../lib/crawldb/row.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {readSql} from '../runner/sql-file.ts';
import {hasRows, markDuplicates, replaceChanged, type Update} from './step.ts';

const sql = readSql(import.meta.url, './lost.sql', ['lost', 'revived']);

/**
 * The links of a segment that is applied anew take the place of those of its former parse: URLs that nothing else led
 * to, and that were never asked for, become orphans; orphans that are linked to again are what they were, and
 * duplicates where they repeat a page.
 *
 * @returns how many duplicates were found
 */
export async function replaceLinks(update: Update): Promise<number> {
  const {db, params} = update;
  const duplicates = await reviveOrphans(update);
  if (!params.segments.some(({mode}) => mode === 'reparse')) return duplicates;
  await db.run(sql.lost);
  await replaceChanged(db, 'lost');
  return duplicates;
}

async function reviveOrphans(update: Update): Promise<number> {
  const {db, params} = update;
  if (!(await hasRows(db, `known_target WHERE status = 'orphan'`))) return 0;
  await db.run(sql.revived, {now: new Date(params.now), never: neverDue});
  await replaceChanged(db, 'revived');
  return (await hasRows(db, `revived WHERE status = 'fetched'`)) ? markDuplicates(update, 'revived') : 0;
}

/**
 * Outlinks that this needs beside those of the parses that are applied: of former parses, and of all other segments.
 *
 * @param reparsed segments that are applied anew
 * @param chosen all segments that are applied
 */
export async function otherLinks(
  snapshot: Snapshot,
  reparsed: readonly string[],
  chosen: readonly string[],
): Promise<FileRef[]> {
  if (reparsed.length === 0) return [];
  const files: FileRef[] = [];
  for (const id of snapshot.segments) {
    const {applied, current} = snapshot.segment(id);
    if (applied === undefined || (chosen.includes(id) && !reparsed.includes(id))) continue;
    // The current parse of a segment that is applied anew is among its inputs already.
    const parses = reparsed.includes(id) ? [applied] : new Set([applied, current]);
    for (const parse of parses)
      if (typeof parse === 'string')
        files.push(...(await snapshot.files(`segments/${id}/outlinks/${parse}`)));
  }
  return files;
}
