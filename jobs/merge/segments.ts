import {constants, copyFile} from 'node:fs/promises';
import {posix} from 'node:path';
import {CrawlError} from '../../lib/errors.ts';
import {tableOf} from '../../lib/extract/declaration.ts';
import type {Table} from '../../lib/schema/table.ts';
import {tables} from '../../lib/schema/tables.ts';
import {declarationOf} from '../../lib/store/extract-views.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {readTable} from '../../lib/store/parquet-read.ts';
import type {CrawlStore, Snapshot} from '../../lib/store/store.ts';
import type {TaskContext} from '../job.ts';

/** Segments of another crawl, file by file. */

/** Names of segments there that are taken here by others, and the names that they get. Plain data. */
export type Renames = Readonly<Record<string, string>>;

/** Files of a segment, by the slot that they go to. */
export type SlotFiles = Readonly<Record<string, readonly FileRef[]>>;

export interface Changes {
  readonly renames: Renames;
  /** Versions of the slots `segments/ID/fetch` in this crawl; what was whole for the one there is whole for that here. */
  readonly versions: Readonly<Record<string, number>>;
}

/** Copies the files of some segments. Where all keep their names they are copied byte for byte. */
export async function copySegments(
  source: Snapshot,
  segments: readonly string[],
  {renames, versions}: Changes,
  ctx: TaskContext,
): Promise<SlotFiles> {
  const slots: Record<string, FileRef[]> = {};
  const names = Object.keys(source.manifest.slots).sort();
  for (const [done, id] of segments.entries()) {
    for (const slot of names.filter((name) => name.startsWith(`segments/${id}/`))) {
      const to = slot.replace(id, renames[id] ?? id);
      const list: FileRef[] = [];
      for (const file of await source.files(slot)) {
        ctx.signal.throwIfAborted();
        const copy = await copyOne(source.store, slot, file, renames, ctx);
        const whole =
          copy.facts?.fetch_version !== undefined &&
          copy.facts.fetch_version === source.manifest.slots[`segments/${id}/fetch`]?.version;
        list.push(whole ? {...copy, facts: {...copy.facts, fetch_version: versions[id]!}} : copy);
      }
      slots[to] = list;
    }
    ctx.progress({done: done + 1, total: segments.length, unit: 'segments'});
  }
  return slots;
}

async function copyOne(
  store: CrawlStore,
  slot: string,
  file: FileRef,
  renames: Renames,
  ctx: TaskContext,
): Promise<FileRef> {
  const table = tableOfSlot(slot, file);
  const [, id] = /^segments\/(\d{14})\//.exec(file.key) ?? [];
  const folder = posix.dirname(file.key).replace(id ?? '', renames[id ?? ''] ?? id ?? '');
  const target = await ctx.store.create(table, folder);
  // References between segments may name a renamed one, whatever the name of this one
  if (Object.keys(renames).length === 0) {
    await copyFile(store.path(file), target.path, constants.COPYFILE_FICLONE);
    return {...(await target.finish(file.facts)), ...(file.version !== undefined && {version: file.version})};
  }
  for await (const rows of readTable(table, store.path(file)))
    await target.write(rows.map((row) => renamed(row, renames)));
  return target.close(file.facts);
}

/** The table of a file: one of the crawl's, or one that an extractor has declared. */
function tableOfSlot(slot: string, file: FileRef): Table {
  if (slot.split('/')[2] === 'extract') return tableOf(declarationOf(file));
  const table: Table | undefined = (tables as Readonly<Record<string, Table>>)[file.table];
  if (table === undefined)
    throw new CrawlError('SEGMENT_STATE', `${file.key} is of the table ${file.table}, which is not known`, {
      facts: {path: file.key, table: file.table},
    });
  return table;
}

/** The row with its segments by their new names. */
export function renamed<R extends Readonly<Record<string, unknown>>>(row: R, renames: Renames): R {
  const changes: Record<string, string> = {};
  for (const column of ['segment', 'content_segment']) {
    const to = renames[row[column] as string];
    if (to !== undefined) changes[column] = to;
  }
  return {...row, ...changes};
}
