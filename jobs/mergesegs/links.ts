import {outlinks} from '../../lib/schema/outlinks.ts';
import {refusals} from '../../lib/schema/refusals.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {bindTables} from '../../lib/store/views.ts';
import type {TaskContext} from '../job.ts';
import {readSql} from '../runner/sql-file.ts';
import {fileRows, type SegmentsWriter} from './writer.ts';

const sql = readSql(import.meta.url, './links.sql', [
  'names',
  'links',
  'refusal',
  'told',
  'redirects',
  'segments',
  'in_segment',
]);

/** Outlinks of a segment's parse, and the name of that parse from now on. */
export interface ParseLinks {
  readonly segment: string;
  readonly to: string;
  readonly files: readonly FileRef[];
}

/** As the writers of the crawldb: whoever reads rows in TypeScript holds a row group. */
const rowGroupRows = 20_000;

/**
 * Outlinks of captures that stay, by DuckDB: they are most rows of a segment and hold nothing large. Memory: DuckDB's; it
 * sorts some files at a time. The same rows are copied one by one where their URLs change (SegmentsWriter.copy).
 */
export async function copyLinks(
  db: Database,
  ctx: TaskContext,
  links: readonly ParseLinks[],
  newest: string,
  writer: SegmentsWriter,
): Promise<void> {
  for (const group of groupsOf(links)) {
    ctx.signal.throwIfAborted();
    const {to} = group[0]!;
    await bindTables(db, ctx.store, {outlinks: group.flatMap(({files}) => files)}, {asViews: true});
    const names = await db.all<{name: string}>(sql.names, {
      segments: group.map(({segment}) => segment).join(','),
    });
    for (const name of new Set([...names.map(({name}) => name), newest]))
      await writer.fill(outlinks, `segments/${name}/outlinks/${to}`, (file, facts) =>
        db.copy(sql.links, {name, parse: to}, file, {facts, rowGroupRows}),
      );
  }
}

/** Files of one parse whose rows are sorted together: as many as make one file, at least one segment's. */
function groupsOf(links: readonly ParseLinks[]): readonly (readonly ParseLinks[])[] {
  const groups: ParseLinks[][] = [];
  let rows = 0;
  for (const one of links) {
    const own = one.files.reduce((sum, file) => sum + file.rows, 0);
    const last = groups.at(-1);
    if (last?.[0]?.to === one.to && rows + own <= fileRows) {
      last.push(one);
      rows += own;
    } else {
      groups.push([one]);
      rows = own;
    }
  }
  return groups;
}

/**
 * What updatedb refused of the links that stay, and of redirects, which go to the newest segment. Of a URL that several
 * segments refused the newest reason counts. The view `refusals` has the rows of all segments that are merged.
 */
export async function copyRefusals(
  db: Database,
  ctx: TaskContext,
  links: readonly ParseLinks[],
  newest: string,
  writer: SegmentsWriter,
): Promise<void> {
  const refused = await db.all<{segment: string}>('SELECT DISTINCT segment FROM refusals');
  if (refused.length === 0) return;
  const some = new Set(refused.map(({segment}) => segment));
  await db.run(sql.refusal);
  for (const {segment, to, files} of links.filter((one) => some.has(one.segment))) {
    ctx.signal.throwIfAborted();
    await bindTables(db, ctx.store, {outlinks: files}, {asViews: true});
    await db.run(sql.told, {segment, parse: to});
  }
  await db.run(sql.redirects, {newest});
  for (const {name, clashes} of await db.all<{name: string; clashes: boolean}>(sql.segments))
    await writer.fill(refusals, `segments/${name}/refusals`, (file) =>
      db.copy(sql.in_segment, {name}, file, {facts: {segment: name, clashes}}),
    );
}
