import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {fetch} from '../schema/fetch.ts';
import {type JournalPiece, pieceFileName, publishPiece} from './journal-pieces.ts';
import type {FileRef} from './manifest-types.ts';
import {createTableFile} from './parquet.ts';
import {readTable} from './parquet-read.ts';
import {PayloadRepeats, RepeatFilter, repeatColumns} from './payload-repeats.ts';

/**
 * Marks, over all pieces of a fetch that is over, the rows whose payload their host sends for many URLs: while a piece
 * is made nobody knows what is still to come. Pieces with such rows get a new file of `fetch`; a crash in between leaves
 * the old one or the new one. Memory: 16 MB, and what {@link RepeatFilter} lets pass.
 *
 * @returns all pieces as they are now
 */
export async function markRepeats(
  folder: string,
  pieces: readonly JournalPiece[],
): Promise<readonly JournalPiece[]> {
  const filter = new RepeatFilter();
  for (const piece of pieces) for await (const row of seenIn(folder, piece)) filter.add(row);
  const repeats = new PayloadRepeats();
  for (const piece of pieces)
    for await (const row of seenIn(folder, piece)) if (filter.mayBeRepeated(row)) repeats.count(row);
  const marked: JournalPiece[] = [];
  for (const piece of pieces) marked.push(await markPiece(folder, piece, repeats));
  return marked;
}

async function* seenIn(folder: string, {files}: JournalPiece) {
  const columns = [...repeatColumns, 'soft_404'] as const;
  for (const {table, key} of files)
    if (table === fetch.name)
      for await (const rows of readTable(fetch, join(folder, key), {columns})) yield* rows;
}

async function markPiece(
  folder: string,
  piece: JournalPiece,
  repeats: PayloadRepeats,
): Promise<JournalPiece> {
  let unmarked = false;
  for await (const row of seenIn(folder, piece)) unmarked ||= repeats.marks(row);
  if (!unmarked) return piece;
  const files: FileRef[] = [];
  for (const file of piece.files)
    files.push(file.table === fetch.name ? await rewritten(folder, piece.number, file, repeats) : file);
  const marked = {...piece, files};
  await publishPiece(folder, marked);
  for (const {table, key} of piece.files)
    if (table === fetch.name) await rm(join(folder, key), {force: true});
  return marked;
}

async function rewritten(
  folder: string,
  number: number,
  {key: old}: FileRef,
  repeats: PayloadRepeats,
): Promise<FileRef> {
  const [, table = '', index] = /\.([^.]+)\.(\d+)\.[^.]+$/.exec(old) ?? []; // as pieceFileName has made it
  const times = Number(/^marked(\d+)$/.exec(table)?.[1] ?? 0) + 1;
  // Another name each time that a piece is marked: the old file is there until the new one counts.
  const key = pieceFileName(number, `marked${times}`, Number(index));
  await rm(join(folder, key), {force: true}); // what a crash has left
  const file = createTableFile(fetch, join(folder, key), {key});
  for await (const rows of readTable(fetch, join(folder, old)))
    await file.write(rows.map((row) => (repeats.marks(row) ? {...row, soft_404: 'repeated' as const} : row)));
  return file.close();
}
