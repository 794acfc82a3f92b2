import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {systemCode} from '../lib/errors.ts';
import {type DelayTerm, hoststate} from '../lib/schema/hostdb.ts';
import {type RunRow, runs} from '../lib/schema/runs.ts';
import {type LockOwner, lockHolder} from '../lib/store/lock.ts';
import type {Manifest, SegmentInfo} from '../lib/store/manifest-types.ts';
import {readTable, TableReader} from '../lib/store/parquet-read.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {readSnapshot} from './read/crawl.ts';

export type {Manifest, SegmentInfo} from '../lib/store/manifest-types.ts';

/** Hosts that were asked, and those that may not be asked yet. */
export interface HostsAtRest {
  readonly asked: number;
  /** By the term that sets their delay. */
  readonly resting: Readonly<Partial<Record<DelayTerm, number>>>;
  /** When the last of them may be asked again. */
  readonly until: Date | null;
}

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
  readonly hosts: HostsAtRest;
  /** Locks that living processes hold. */
  readonly locks: readonly LockOwner[];
  /** Newest last. */
  readonly runs: readonly Pick<
    RunRow,
    'run' | 'job' | 'segment' | 'finished_time' | 'duration_ms' | 'exit_code'
  >[];
}

/**
 * @param now ms since the epoch
 * @param asOf number of a manifest; the newest if absent
 * @param lastRuns runs to show, at most
 */
export async function crawlStatus(
  dir: string,
  asOf: number | undefined,
  lastRuns: number,
  now: number,
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
  const [hosts, locks] = [await hostsAtRest(snapshot, now), await heldLocks(dir)];
  return {dir, manifest, bytes, segments, hosts, locks, runs: rows.slice(-lastRuns)};
}

async function hostsAtRest(snapshot: Snapshot, now: number): Promise<HostsAtRest> {
  const resting: Partial<Record<DelayTerm, number>> = {};
  let asked = 0;
  let until: Date | null = null;
  for (const file of await snapshot.files('hoststate')) {
    const reader = await TableReader.open(hoststate, snapshot.store.path(file));
    try {
      for (const {index, rows} of reader.groups) {
        asked += rows;
        const times = await reader.rows(index, {columns: ['next_allowed_time']});
        if (!times.some(({next_allowed_time: time}) => time.getTime() > now)) continue;
        const terms = await reader.rows(index, {columns: ['delay_term']});
        for (const [at, {next_allowed_time: time}] of times.entries()) {
          if (time.getTime() <= now) continue;
          const term = terms[at]!.delay_term;
          resting[term] = (resting[term] ?? 0) + 1;
          if (until === null || time > until) until = time;
        }
      }
    } finally {
      reader.close();
    }
  }
  return {asked, resting, until};
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
