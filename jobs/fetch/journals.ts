/** The folders of a fetch's journals, and whether they hold all answers that there were. */
import {readdir, rm, writeFile} from 'node:fs/promises';
import {join, relative} from 'node:path';
import {systemCode} from '../../lib/errors.ts';
import {journalFolder} from '../../lib/store/place.ts';

/** There after a clean end or stop: the journal holds all answers that there were. */
const cleanMark = 'clean';

/** The journal of a partition. @param dir of the crawl */
export function partFolder(dir: string, segment: string, part: number): string {
  return join(journalFolder(dir, segment), `part-${part}`);
}

/** The journals of all partitions of a segment whose fetch has begun, by their place in the crawl. @param dir of the crawl */
export async function partFolders(dir: string, segment: string): Promise<string[]> {
  const folder = journalFolder(dir, segment);
  const names = await namesIn(folder);
  const parts = (names ?? []).filter((name) => name.startsWith('part-'));
  return parts.map((name) => relative(dir, join(folder, name)));
}

/** Is every answer in the journal, if there was any? Not after a crash, even if nothing had reached the disk. */
export async function isProven(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  return names === undefined || names.includes(cleanMark);
}

export async function markProven(folder: string): Promise<void> {
  await writeFile(join(folder, cleanMark), '');
}

/** Before anything is asked, so that the mark never outlives what it says. */
export async function unmarkProven(folder: string): Promise<void> {
  await rm(join(folder, cleanMark), {force: true});
}

/** Undefined: there is no such folder. */
async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
