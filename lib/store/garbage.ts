import {readdir, rm, stat, unlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {systemCode} from '../errors.ts';
import {readIfThere} from './durable.ts';
import {isDead, type LockOwner} from './lock.ts';
import {manifestFolder, manifestName, manifestNumbers, readList, readManifest} from './manifest.ts';
import type {Slot} from './manifest-types.ts';
import {stagedKey} from './place.ts';
import type {Snapshot} from './store.ts';

/**
 * Garbage is what no retained manifest names, of a run that is committed or given up, untouched for 24 h.
 * Age alone would not do: it would take the files of a fetch that is paused over a weekend.
 */
const graceMs = 24 * 3_600_000;
const pauseMs = 3_600_000; // chosen: looking for garbage once an hour is often enough

export interface Retention {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly keepMs: number;
  readonly minManifests: number;
}

/** Collects garbage, unless that was done within the last hour. */
export async function collectGarbageSometimes(snapshot: Snapshot, retention: Retention): Promise<number> {
  const marker = join(snapshot.store.dir, 'tmp', 'garbage-collected');
  const last = await stat(marker).catch(() => undefined);
  if (last !== undefined && Math.abs(Date.now() - last.mtimeMs) < pauseMs) return 0;
  await writeFile(marker, '');
  await utimes(marker, new Date(), new Date());
  return collectGarbage(snapshot, retention);
}

/** Removes old manifests, then files and runs that nothing names any more. Returns the number of files removed. */
export async function collectGarbage(snapshot: Snapshot, retention: Retention): Promise<number> {
  const {dir} = snapshot.store;
  await dropManifests(dir, retention);
  const {keys, lists} = await named(dir);
  let removed = 0;
  for (const folder of ['crawldb', 'linkdb', 'hosts', 'segments', 'runs'])
    for (const key of await filesBelow(dir, folder)) {
      if (!key.endsWith('.parquet') || keys.has(key)) continue;
      if (await isGarbage(dir, key, retention.now)) removed += await remove(join(dir, key));
    }
  for (const key of await filesBelow(dir, 'lists'))
    if (!lists.has(key) && (await isOld(join(dir, key), retention.now)))
      removed += await remove(join(dir, key));
  await dropRuns(dir, retention.now);
  return removed;
}

async function dropManifests(dir: string, {now, keepMs, minManifests}: Retention): Promise<void> {
  const numbers = await manifestNumbers(dir);
  for (const number of numbers.slice(0, -minManifests)) {
    const read = await readManifest(dir, number);
    if (read === undefined || now - Date.parse(read.manifest.created_time) <= keepMs) return; // later ones are younger
    await remove(join(dir, manifestFolder, manifestName(number)));
  }
}

/** Keys of files, and of lists, that the manifests still there name: in their place and where they were written. */
async function named(dir: string): Promise<{keys: Set<string>; lists: Set<string>}> {
  const keys = new Set<string>();
  const lists = new Set<string>();
  for (const number of await manifestNumbers(dir)) {
    const read = await readManifest(dir, number);
    for (const slot of Object.values(read?.manifest.slots ?? {}) as Slot[]) {
      if (lists.has(slot.ref)) continue;
      lists.add(slot.ref);
      for (const {key} of (await readList(dir, slot)).files) keys.add(key).add(stagedKey(key));
    }
  }
  return {keys, lists};
}

async function isGarbage(dir: string, key: string, now: number): Promise<boolean> {
  const name = key.slice(key.lastIndexOf('/') + 1);
  return (await isOld(join(dir, key), now)) && !(await isRunning(dir, name.slice(0, name.indexOf('.'))));
}

async function isOld(path: string, now: number): Promise<boolean> {
  try {
    return now - (await stat(path)).ctimeMs > graceMs;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false; // another collector was faster
    throw error;
  }
}

async function isRunning(dir: string, run: string): Promise<boolean> {
  const path = join(dir, 'runs', run, 'owner.json');
  const content = await readIfThere(path);
  if (content === undefined) return false;
  const {mtimeMs} = await stat(path);
  return !isDead(JSON.parse(content.toString('utf8')) as LockOwner, Date.now() - mtimeMs);
}

/** Folders of runs that ended: their plan and results go when no file of theirs is left. */
async function dropRuns(dir: string, now: number): Promise<void> {
  for (const run of await list(join(dir, 'runs'))) {
    const left = (await filesBelow(dir, `runs/${run}`)).filter((key) => key.endsWith('.parquet'));
    if (left.length > 0 || !(await isOld(join(dir, 'runs', run), now)) || (await isRunning(dir, run)))
      continue;
    await rm(join(dir, 'runs', run), {recursive: true, force: true});
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function filesBelow(dir: string, folder: string): Promise<string[]> {
  try {
    const entries = await readdir(join(dir, folder), {recursive: true, withFileTypes: true});
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(dir.length + 1)
          .replaceAll('\\', '/'),
      )
      .sort();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

async function remove(path: string): Promise<number> {
  try {
    await unlink(path);
    return 1;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}
