import {inlinks} from '../../lib/schema/inlinks.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import type {TaskContext} from '../job.ts';

/** Changes of the number of linking pages that no row of the crawldb holds yet. */

/** The slot `inlinks` at the plan. */
export interface InlinksSlot {
  readonly files: readonly FileRef[];
  readonly version: number;
}

/** The slot `inlinks`, for the facts of a plan. */
export async function inlinksSlot(snapshot: Snapshot): Promise<InlinksSlot> {
  return {files: await snapshot.files('inlinks'), version: inlinksVersion(snapshot)};
}

/** Version of the slot `inlinks`; a commit makes the next one. */
export function inlinksVersion({manifest}: Pick<Snapshot, 'manifest'>): number {
  return manifest.slots.inlinks?.version ?? 0;
}

/**
 * Writes changes as a file of `inlinks`; none where there are none. A job that writes all rows anew, with all their
 * inlinks, keeps so what it knows of URLs that are no rows: the linkdb has their links, and they may become rows.
 *
 * @param changes query for host_key, url_key and inlinks, a row a URL
 * @param revision version of the slot that the commit makes
 */
export async function writeInlinks(
  db: Database,
  ctx: TaskContext,
  changes: string,
  revision: number,
): Promise<readonly FileRef[]> {
  const file = await db.copy(
    `SELECT host_key, url_key, inlinks, ${revision}::BIGINT AS revision FROM (${changes})
     WHERE inlinks <> 0 ORDER BY host_key, url_key`,
    {},
    await ctx.store.create(inlinks, 'linkdb/inlinks'),
    {facts: {kind: 'delta', revision}},
  );
  return file.rows === 0 ? [] : [file];
}
