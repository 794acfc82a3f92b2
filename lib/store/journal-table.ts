import {createHash} from 'node:crypto';
import {crc32} from 'node:zlib';
import {type Capture, fetch} from '../schema/fetch.ts';
import type {Table} from '../schema/table.ts';

/** Names of the columns that a journal has beside those of `fetch`; no column of `fetch` may be named so. */
const payloadColumn = 'payload';
const checkColumn = 'row_check';

/**
 * What a journal holds: the fetch row and its payload in one row, so that they are recovered together or not
 * at all, and a checksum, since Arrow's stream has none.
 */
export const journalTable: Table = {
  name: fetch.name,
  version: fetch.version,
  doc: 'Outcomes of an unfinished fetch, each with its payload.',
  key: fetch.key,
  columns: {
    ...fetch.columns,
    [checkColumn]: {type: 'count', doc: 'CRC-32 of the row without its payload.'},
    // The last column, so that it can be left on the disk: see readBatches.
    [payloadColumn]: {type: 'bytes', nullable: true, doc: 'The payload.'},
  },
};

/** An outcome with its payload. */
export interface JournalEntry {
  readonly row: Capture;
  readonly payload: Uint8Array | null;
}

const fetchColumns = Object.keys(fetch.columns);

/** Values of an entry in the order of {@link journalTable}'s columns. */
export function journalValues(row: Capture, payload: Uint8Array | null): unknown[] {
  const values: unknown[] = fetchColumns.map((name) => row[name as keyof Capture]);
  values.push(rowCheck(values), payload);
  return values;
}

/** The entry that a journal row holds; the row is taken apart for it. */
export function journalEntry(values: Record<string, unknown>): JournalEntry {
  const payload = values[payloadColumn] ?? null;
  delete values[payloadColumn];
  delete values[checkColumn];
  return {row: values as Capture, payload: payload as Uint8Array | null}; // the columns of journalTable
}

/** Whether a row read back is what was written: checksum of the row, digest of the payload. */
export function isWhole(values: Readonly<Record<string, unknown>>): boolean {
  if (rowCheck(fetchColumns.map((name) => values[name])) !== values[checkColumn]) return false;
  const payload = values[payloadColumn];
  return (
    !(payload instanceof Uint8Array) ||
    createHash('sha256').update(payload).digest('hex') === values.content_sha256
  );
}

/** CRC-32 over all values that are not null, so that a later version's columns don't change it: bytes as they are, the others as text with their place. */
function rowCheck(values: readonly unknown[]): number {
  let check = 0;
  let text = '';
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (value instanceof Uint8Array) check = crc32(value, check);
    else if (value !== null) text += `${place} ${value instanceof Date ? value.getTime() : value}\0`;
  }
  return crc32(text, check);
}
