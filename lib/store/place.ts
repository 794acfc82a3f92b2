import {existsSync} from 'node:fs';
import {mkdir, rename, rm} from 'node:fs/promises';
import {dirname, join, posix} from 'node:path';
import {systemCode} from '../errors.ts';
import {crashPoint} from './crash-points.ts';
import {writeError} from './durable.ts';
import type {Manifest} from './manifest-types.ts';

/**
 * Where a table's file lies. An attempt writes it into its run's folder; the commit's manifest names its place
 * among the segments and tables; whoever comes first after the manifest moves it there. The name begins with the
 * run's id, so the first place can always be found from the second.
 */

/** Name of a file of an attempt: run, stage, part, attempt and a running number. */
export function attemptFileName(
  run: string,
  stage: number,
  part: number,
  attempt: number,
  index: number,
  extension: string,
): string {
  return `${run}.${stage}.${part}.${attempt}.${index}${extension}`;
}

/** Where the attempt wrote the file that has, or will have, this key. */
export function stagedKey(key: string): string {
  const name = posix.basename(key);
  return posix.join('runs', name.slice(0, name.indexOf('.')), 'files', name);
}

/** Absolute path of the file with this key: in its place, or where the attempt wrote it. */
export function locate(dir: string, key: string): string {
  const placed = join(dir, key);
  if (existsSync(placed)) return placed;
  const staged = join(dir, stagedKey(key));
  return existsSync(staged) ? staged : placed;
}

/**
 * Carries out the moves that a manifest names; those already made are passed over. Two processes may do it at once.
 * On a read-only file system nothing is moved: `locate` finds the files all the same.
 */
export async function finishPlacements(dir: string, placements: Manifest['placements']): Promise<void> {
  let first = true;
  for (const {from, to} of placements) {
    try {
      await mkdir(dirname(join(dir, to)), {recursive: true});
      await rename(join(dir, from), join(dir, to));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') continue;
      if (['EROFS', 'EACCES', 'EPERM'].includes(systemCode(error) ?? '')) return;
      throw writeError(error, join(dir, to));
    }
    if (first) crashPoint('first_file_placed');
    first = false;
  }
}

/** Folder of a segment's journal: there only while a fetch of it is unfinished. */
export function journalFolder(dir: string, segment: string): string {
  return join(dir, 'segments', segment, 'journal');
}

/**
 * Removes the journals of segments whose rows are committed, or that were dropped. Called after each commit, so that
 * one which a crash left behind goes with the next.
 */
export async function removeJournals(dir: string, segments: readonly string[]): Promise<void> {
  for (const segment of segments) {
    const folder = journalFolder(dir, segment);
    if (existsSync(folder)) await rm(folder, {recursive: true, force: true});
  }
}
