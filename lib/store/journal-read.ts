import {join} from 'node:path';
import {CrawlError} from '../errors.ts';
import {content} from '../schema/content.ts';
import {type Capture, fetch} from '../schema/fetch.ts';
import {journalFiles, journalNumber} from './journal.ts';
import {type ReadBatch, type ReadBatchesOptions, readBatches} from './journal-batches.ts';
import {type JournalPiece, journalPieces} from './journal-pieces.ts';
import {isWhole, type JournalEntry, journalEntry, journalTable} from './journal-table.ts';
import {readTable} from './parquet-read.ts';

/** What a piece of a journal holds. */
export interface JournalBatch {
  readonly entries: readonly JournalEntry[];
  /** Rows of it that are not what was written: a crash cut them. */
  readonly lost: number;
}

/**
 * All outcomes of the journals in a folder that are not sealed, oldest first, a batch at a time (about 8 MB). A torn
 * tail is left out; in the last whole batch of each file, which a power cut can leave half written, each row is
 * checked against its checksum and its payload's digest, and what differs is counted as lost: that URL is fetched
 * again.
 */
export async function* readJournal(dir: string): AsyncGenerator<JournalBatch> {
  yield* readEntries(await journalFiles(dir));
}

/**
 * The rows of all outcomes of a fetch, those that are sealed already included, or some columns of them; without
 * payloads, which stay on the disk. Oldest first.
 */
export async function* journalOutcomes<K extends keyof Capture = keyof Capture>(
  dir: string,
  columns?: readonly K[],
): AsyncGenerator<readonly Pick<Capture, K>[]> {
  for (const source of await journalSources(dir))
    if ('piece' in source) yield* pieceOutcomes(dir, source.piece, columns);
    else yield* fileOutcomes(dir, source.path, columns);
}

async function* fileOutcomes<K extends keyof Capture>(
  dir: string,
  path: string,
  columns: readonly K[] | undefined,
): AsyncGenerator<readonly Pick<Capture, K>[]> {
  const options = {withoutLastColumn: true, ...(columns && {columns})};
  let begun = false;
  try {
    for await (const {entries} of readEntries([path], options)) {
      begun = true;
      yield entries.map((entry) => entry.row);
    }
  } catch (error) {
    if (begun || !isMissing(error)) throw error;
    // The running fetch has sealed it since the folder was read.
    const piece = (await journalPieces(dir)).find(({number}) => number === journalNumber(path));
    if (piece === undefined) throw error;
    yield* pieceOutcomes(dir, piece, columns);
  }
}

/** What a fetch that goes on has to know again: all outcomes, oldest first, with the payloads of robots.txt files and of answers to random paths. */
export async function* journalHistory(dir: string): AsyncGenerator<JournalEntry> {
  for (const source of await journalSources(dir))
    if ('piece' in source) yield* pieceHistory(dir, source.piece);
    else for await (const {entries} of readEntries([source.path])) yield* entries;
}

/** Entries of journal files, in their order. */
export async function* readEntries(
  paths: readonly string[],
  options: ReadBatchesOptions = {},
): AsyncGenerator<JournalBatch> {
  for (const path of paths)
    for await (const batch of readBatches(journalTable, path, options)) yield readBatch(batch);
}

/** Sealed pieces and journal files of a folder, in the order of their numbers. A piece takes the place of its file. */
async function journalSources(dir: string): Promise<({piece: JournalPiece} | {path: string})[]> {
  // Files first: one that is sealed meanwhile is then found as a piece.
  const paths = await journalFiles(dir);
  const pieces = await journalPieces(dir);
  const sealed = new Set(pieces.map(({number}) => number));
  return [
    ...pieces.map((piece) => ({piece, number: piece.number})),
    ...paths.map((path) => ({path, number: journalNumber(path)})).filter(({number}) => !sealed.has(number)),
  ].sort((a, b) => a.number - b.number);
}

async function* pieceOutcomes<K extends keyof Capture>(
  dir: string,
  {number, files}: JournalPiece,
  columns: readonly K[] | undefined,
): AsyncGenerator<readonly Pick<Capture, K>[]> {
  for (const [place, file] of files.entries())
    if (file.table === fetch.name) yield* pieceFileOutcomes(dir, {number, place, key: file.key}, columns);
}

async function* pieceFileOutcomes<K extends keyof Capture>(
  dir: string,
  {number, place, key}: {readonly number: number; readonly place: number; readonly key: string},
  columns: readonly K[] | undefined,
): AsyncGenerator<readonly Pick<Capture, K>[]> {
  let begun = false;
  try {
    for await (const rows of readTable(fetch, join(dir, key), columns && {columns})) {
      begun = true;
      yield rows;
    }
  } catch (error) {
    if (begun || !isMissing(error)) throw error;
    // Its rows have been marked since the piece was read: they are in a file of another name, at the same place.
    const piece = (await journalPieces(dir)).find((other) => other.number === number);
    const now = piece?.files[place]?.key;
    if (now === undefined || now === key) throw error;
    yield* pieceFileOutcomes(dir, {number, place, key: now}, columns);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof CrawlError && error.code === 'FILE_MISSING';
}

async function* pieceHistory(dir: string, piece: JournalPiece): AsyncGenerator<JournalEntry> {
  const robots = new Map<string, Uint8Array>();
  if (piece.robots !== null)
    for await (const rows of readTable(content, join(dir, piece.robots.key)))
      for (const {content_sha256, payload} of rows) robots.set(content_sha256, payload);
  for await (const rows of pieceOutcomes(dir, piece, undefined))
    for (const row of rows) {
      const payload = row.content_sha256 !== null ? robots.get(row.content_sha256) : undefined;
      yield {row, payload: payload ?? null};
    }
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
