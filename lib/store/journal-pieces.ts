import {readdir, readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {systemCode} from '../errors.ts';
import {replaceFile} from './durable.ts';
import {journalEnding} from './journal.ts';
import type {FileRef} from './manifest-types.ts';
import {fileError} from './table-io.ts';

/**
 * A journal file that was sealed while its fetch goes on: its rows and payloads in files of `fetch` and `content`
 * beside it, ready to become those of the segment. It counts from the moment that its description is there; then
 * the journal file goes.
 */
export interface JournalPiece {
  /** Of the journal file. */
  readonly number: number;
  /** Keys are names in the journal's folder. */
  readonly files: readonly FileRef[];
  /** Payloads of robots.txt files once more, in a file of `content`: what a fetch that goes on has to read. */
  readonly robots: FileRef | null;
  readonly stored: number;
  readonly shared: number;
  readonly savedBytes: number;
  readonly lost: number;
}

/** Not `.parquet`: these files are named by no manifest, and are no garbage. */
const pieceEnding = '.sealed';
const description = '.piece.json';

const nameOf = (number: number) => `${number}`.padStart(6, '0');

/** Name of a file of a piece. */
export function pieceFileName(number: number, table: string, index: number): string {
  return `${nameOf(number)}.${table}.${index}${pieceEnding}`;
}

/** Pieces of a journal folder, in order. */
export async function journalPieces(dir: string): Promise<JournalPiece[]> {
  const pieces: JournalPiece[] = [];
  for (const name of await namesIn(dir)) {
    if (!name.endsWith(description)) continue;
    const written = JSON.parse(await readFile(join(dir, name), 'utf8')) as JournalPiece; // by publishPiece
    pieces.push({...written, savedBytes: written.savedBytes ?? 0}); // earlier versions did not count them
  }
  return pieces;
}

/** Makes a piece count, and removes the journal file that it stands for. */
export async function publishPiece(dir: string, piece: JournalPiece): Promise<void> {
  await replaceFile(join(dir, nameOf(piece.number) + description), JSON.stringify(piece));
  await rm(join(dir, nameOf(piece.number) + journalEnding), {force: true});
}

/** Removes what a crash left: files of pieces that do not count, journal files whose piece counts. */
export async function tidyPieces(dir: string): Promise<void> {
  const pieces = await journalPieces(dir);
  const kept = new Set(
    pieces.flatMap(({files, robots}) => [...files, ...(robots ? [robots] : [])].map(({key}) => key)),
  );
  const sealed = new Set(pieces.map(({number}) => nameOf(number) + journalEnding));
  for (const name of await namesIn(dir))
    if ((name.endsWith(pieceEnding) && !kept.has(name)) || sealed.has(name))
      await rm(join(dir, name), {force: true});
}

async function namesIn(dir: string): Promise<string[]> {
  try {
    return (await readdir(dir)).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw fileError(error, dir);
  }
}
