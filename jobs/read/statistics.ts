import type {Config} from '../../lib/config/settings.ts';
import type {CrawldbStatsRow} from '../../lib/schema/crawldbstats.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindTables} from '../../lib/store/views.ts';
import {statisticsFiles, statisticsFunctions, toldStatistics} from '../crawldb/statistics.ts';
import {readerSpillFolder} from './crawl.ts';

/**
 * The counts that `crawl readdb --stats` follows from: as they are kept with the data, or, where they are not, of all
 * rows. In memory: a row for each value of each column, but for times.
 *
 * @param now ms since the epoch: by it times are told
 */
export async function readStatistics(
  snapshot: Snapshot,
  config: Config,
  signal: AbortSignal,
  now: number,
): Promise<{readonly counts: readonly CrawldbStatsRow[]; readonly kept: boolean}> {
  const {memory, threads} = config.storage;
  const told = await statisticsFiles(snapshot);
  const kept = told.length > 0;
  const db = await openDatabase({
    memoryBytes: memory,
    ...(threads !== undefined && {threads}),
    spillDir: await readerSpillFolder(snapshot.store.dir, config),
    signal,
  });
  try {
    const files = kept ? {crawldbstats: told} : {crawldb: await snapshot.files('crawldb')};
    await bindTables(db, snapshot.store, files, {asViews: true});
    await db.run(statisticsFunctions);
    await db.run(
      `CREATE TABLE counts AS SELECT * FROM ${kept ? 'crawldbstats' : "row_statistics('crawldb')"}`,
    );
    const minute = Math.floor(now / 60_000) * 60;
    const counts = await db.all<CrawldbStatsRow>(toldStatistics, {minute});
    return {counts, kept};
  } finally {
    await db.close();
  }
}
