import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {systemCode} from '../lib/errors.ts';
import {type RunRow, runs} from '../lib/schema/runs.ts';
import {type LockOwner, lockHolder} from '../lib/store/lock.ts';
import type {Manifest, SegmentInfo} from '../lib/store/manifest-types.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {readSnapshot} from './read/crawl.ts';

export type {Manifest, SegmentInfo} from '../lib/store/manifest-types.ts';

/** What `crawl status` shows. All of it comes from the manifest and a few small files, so it is there at once. */
export interface CrawlStatus {
  readonly dir: string;
  readonly manifest: Manifest;
  /** Size on disk of what the manifest names. */
  readonly bytes: number;
  readonly segments: readonly (SegmentInfo & {
    readonly id: string;
    readonly captures: number;
    readonly bytes: number;
  })[];
  /** Locks that living processes hold. */
  readonly locks: readonly LockOwner[];
  /** Newest last. */
  readonly runs: readonly Pick<
    RunRow,
    'run' | 'job' | 'segment' | 'finished_time' | 'duration_ms' | 'exit_code'
  >[];
}

/**
 * @param asOf number of a manifest; the newest if absent
 * @param lastRuns runs to show, at most
 */
export async function crawlStatus(
  dir: string,
  asOf: number | undefined,
  lastRuns: number,
): Promise<CrawlStatus> {
  const snapshot = await readSnapshot(dir, asOf);
  const {manifest} = snapshot;
  const slots = Object.entries(manifest.slots);
  const bytes = slots.reduce((sum, [, slot]) => sum + slot.bytes, 0);
  const segments = snapshot.segments.map((id) => {
    const own = slots.filter(([name]) => name.startsWith(`segments/${id}/`));
    return {
      id,
      ...snapshot.segment(id),
      captures: manifest.slots[`segments/${id}/fetch`]?.rows ?? 0,
      bytes: own.reduce((sum, [, slot]) => sum + slot.bytes, 0),
    };
  });
  const columns = ['run', 'job', 'segment', 'finished_time', 'duration_ms', 'exit_code'] as const;
  const rows: CrawlStatus['runs'][number][] = [];
  for (const file of (await snapshot.files('runs')).slice(-lastRuns))
    for await (const batch of readTable(runs, snapshot.store.path(file), {columns})) rows.push(...batch);
  rows.sort((a, b) => a.finished_time.getTime() - b.finished_time.getTime());
  return {dir, manifest, bytes, segments, locks: await heldLocks(dir), runs: rows.slice(-lastRuns)};
}

/** Owners of the locks in the folder, the dead left out. */
async function heldLocks(dir: string): Promise<LockOwner[]> {
  let names: string[];
  try {
    names = await readdir(join(dir, 'tmp', 'locks'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  const owners: LockOwner[] = [];
  for (const name of names.filter((file) => file.endsWith('.json')).sort()) {
    // The name of a lock file has `-` for the `:` of its resource
    const owner = await lockHolder(dir, name.replace(/\.json$/, '').replace(/^segment-/, 'segment:'));
    if (owner) owners.push(owner);
  }
  return owners;
}
