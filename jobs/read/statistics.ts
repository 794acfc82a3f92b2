import type {Config} from '../../lib/config/settings.ts';
import type {CrawldbStatsRow} from '../../lib/schema/crawldbstats.ts';
import {openDatabase} from '../../lib/store/duckdb.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindTables} from '../../lib/store/views.ts';
import {statisticsFiles, statisticsFunctions} from '../crawldb/statistics.ts';
import {readerSpillFolder} from './crawl.ts';

/**
 * The counts of `crawl readdb --stats`: as they are kept with the data, or, where they are not, of all rows. In memory:
 * a row for each value of each column, of times for each minute.
 */
export async function readStatistics(
  snapshot: Snapshot,
  config: Config,
  signal: AbortSignal,
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
    const counts = await db.all<CrawldbStatsRow>(
      `FROM ${kept ? 'crawldbstats' : "row_statistics('crawldb')"}`,
    );
    return {counts, kept};
  } finally {
    await db.close();
  }
}
