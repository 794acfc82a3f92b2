import {access, constants} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import type {Config} from '../../lib/config/settings.ts';
import type {Hosts} from '../../lib/crawldb/layout.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindSnapshot} from '../../lib/store/views.ts';
import {spillFolder} from '../runner/database.ts';

/** A crawl opened for reading: the tables of one manifest as SQL sees them. */
export interface CrawlReader {
  readonly db: Database;
  readonly snapshot: Snapshot;
  close(): Promise<void>;
}

export interface ReadSettings {
  readonly dir: string;
  readonly config: Config;
  readonly signal: AbortSignal;
  /** Number of the manifest; the newest if absent. */
  readonly asOf?: number | undefined;
  /** Only these segments; all if absent. */
  readonly segments?: readonly string[] | undefined;
  /** Name of the parse that `parse` and `outlinks` show; the current ones if absent. */
  readonly parse?: string | undefined;
  /** Of the crawldb the rows of these hosts alone: a look-up then opens the files of one bucket, whatever the size. */
  readonly hosts?: Hosts | undefined;
}

/** The crawl as of a manifest. Throws SEGMENT_UNKNOWN for a segment that is not in it. */
export async function readSnapshot(
  dir: string,
  asOf?: number,
  segments: readonly string[] = [],
): Promise<Snapshot> {
  const store = await openCrawl(dir);
  const snapshot = asOf === undefined ? await store.head() : await store.at(asOf);
  for (const segment of segments) snapshot.segment(segment);
  return snapshot;
}

/** Opens a database with views of all tables. Close it. */
export async function openReader(settings: ReadSettings): Promise<CrawlReader> {
  const {dir, config, signal, asOf, segments, parse, hosts} = settings;
  const snapshot = await readSnapshot(dir, asOf, segments);
  const db = await openDatabase({
    memoryBytes: config.storage.memory,
    ...(config.storage.threads === undefined ? {} : {threads: config.storage.threads}),
    spillDir: await readerSpillFolder(dir, config),
    signal,
  });
  try {
    await bindSnapshot(db, snapshot, {parse, hosts, ...(segments && segments.length > 0 && {segments})});
  } catch (error) {
    await db.close();
    throw error;
  }
  return {db, snapshot, close: () => db.close()};
}

/** storage.spill, else tmp/ of the crawl; the system's own for a crawl that may only be read. */
export async function readerSpillFolder(dir: string, config: Config): Promise<string> {
  const own = await spillFolder(dir, config.storage.spill);
  if (config.storage.spill !== undefined) return own;
  try {
    await access(own, constants.W_OK);
    return own;
  } catch {
    return tmpdir(); // where each database has a folder of its own, whoever else reads crawls on this machine
  }
}
