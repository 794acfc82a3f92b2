import type {Capture} from '../schema/fetch.ts';
import {journalFiles} from './journal.ts';
import {type ReadBatch, type ReadBatchesOptions, readBatches} from './journal-batches.ts';
import {isWhole, type JournalEntry, journalEntry, journalTable} from './journal-table.ts';

/** What a piece of a journal holds. */
export interface JournalBatch {
  readonly entries: readonly JournalEntry[];
  /** Rows of it that are not what was written: a crash cut them. */
  readonly lost: number;
}

/**
 * All outcomes of the journals in a folder, oldest first, a batch at a time (about 8 MB). A torn tail is left
 * out; in the last whole batch of each file, which a power cut can leave half written, each row is checked
 * against its checksum and its payload's digest, and what differs is counted as lost: that URL is fetched again.
 */
export async function* readJournal(dir: string): AsyncGenerator<JournalBatch> {
  yield* readEntries(dir, {});
}

/**
 * The rows of the same outcomes, or some columns of them, without payloads, which stay on the disk: who is done, for
 * the resumption of a fetch.
 */
export async function* journalOutcomes<K extends keyof Capture = keyof Capture>(
  dir: string,
  columns?: readonly K[],
): AsyncGenerator<readonly Pick<Capture, K>[]> {
  const options = {withoutLastColumn: true, ...(columns && {columns})};
  for await (const {entries} of readEntries(dir, options)) yield entries.map((entry) => entry.row);
}

async function* readEntries(dir: string, options: ReadBatchesOptions): AsyncGenerator<JournalBatch> {
  for (const path of await journalFiles(dir))
    for await (const batch of readBatches(journalTable, path, options)) yield readBatch(batch);
}

function readBatch(batch: ReadBatch): JournalBatch {
  const entries: JournalEntry[] = [];
  let lost = 0;
  for (let i = 0; i < batch.rows; i++) {
    const values = readRow(batch, i);
    if (values === undefined) lost++;
    else entries.push(journalEntry(values));
  }
  return {entries, lost};
}

function readRow(batch: ReadBatch, index: number): Record<string, unknown> | undefined {
  if (!batch.last) return batch.row(index);
  try {
    const values = batch.row(index);
    return isWhole(values) ? values : undefined;
  } catch {
    return undefined; // offsets that lead nowhere: half written
  }
}
