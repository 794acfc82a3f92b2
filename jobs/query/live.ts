import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {systemCode} from '../../lib/errors.ts';
import {fetch} from '../../lib/schema/fetch.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {createSql} from '../../lib/store/duckdb-append.ts';
import {journalFolder} from '../../lib/store/place.ts';
import type {Snapshot} from '../../lib/store/store.ts';

/** `fetch_live`: rows of fetches that are not finished, from their journals; columns of the table `fetch`. */
export const liveTable = 'fetch_live';

/** Whether a query speaks of it: only then the journals are read. */
export function namesLive(sql: string): boolean {
  return /\bfetch_live\b/i.test(sql);
}

/** Makes it, empty. */
export async function defineLive(db: Database): Promise<void> {
  await db.run(createSql(liveTable, fetch.columns));
}

/** Segments that may have a journal. */
export function unfinished(snapshot: Snapshot, only: readonly string[] = []): string[] {
  return snapshot.segments.filter(
    (id) => snapshot.segment(id).state !== 'fetched' && (only.length === 0 || only.includes(id)),
  );
}

/**
 * Fills it anew with what the journals of these segments hold by now; what is not flushed yet is not seen.
 */
export async function fillLive(db: Database, dir: string, segments: readonly string[]): Promise<void> {
  await db.run(`TRUNCATE ${liveTable}`);
  const {journalOutcomes} = await import('../../lib/store/journal-read.ts'); // with Arrow: most queries do without
  for (const segment of segments)
    for (const part of await partsOf(journalFolder(dir, segment)))
      for await (const rows of journalOutcomes(part)) await db.insert(liveTable, fetch.columns, rows);
}

/** Folders of the journals, one a partition. None where no fetch was begun. */
async function partsOf(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => /^part-\d+$/.test(name))
      .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
      .map((name) => join(folder, name));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
