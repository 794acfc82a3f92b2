import assert from 'node:assert/strict';
import {statisticsFiles} from '../../jobs/crawldb/statistics.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {CrawldbStatsRow} from '../../lib/schema/crawldbstats.ts';
import type {JobHarness} from './job-harness.ts';

/** The counts that are kept with the crawldb are those of all its rows. */
export async function checkStatistics(crawl: JobHarness): Promise<void> {
  assert.equal((await statisticsFiles(await crawl.head())).length, 1, 'the counts are kept');
  const kept = await crawl.sql<CrawldbStatsRow>('FROM crawldbstats');
  assert.deepEqual(textOf(kept), textOf(plainStatistics(await crawl.crawldb())));
}

const textOf = (counts: readonly CrawldbStatsRow[]) =>
  counts.map(({statistic, word, value, urls}) => `${statistic} ${word ?? ''} ${value ?? ''}: ${urls}`).sort();

/** Rows counted one by one: what the SQL of lib/store and jobs does by sets. */
export function plainStatistics(rows: readonly CrawlDatum[]): CrawldbStatsRow[] {
  const counts = new Map<string, CrawldbStatsRow>();
  const add = (statistic: CrawldbStatsRow['statistic'], word: string | null, value: number | null) => {
    if (word === null && value === null) return;
    const key = `${statistic} ${word} ${value}`;
    counts.set(key, {statistic, word, value, urls: (counts.get(key)?.urls ?? 0) + 1});
  };
  const fourDigits = (value: number) => Number(value.toPrecision(4));
  const minute = (time: Date) => Math.floor(time.getTime() / 60_000) * 60;
  for (const row of rows) {
    add('status', row.status, null);
    add('reason', row.reason, null);
    add('retries', null, row.retries);
    add('depth', null, row.depth);
    add('score', null, fourDigits(row.score));
    add('due', null, minute(row.next_fetch_time));
    add('fetched', null, row.fetch_time && minute(row.fetch_time));
    add('interval', null, fourDigits(row.fetch_interval_s));
  }
  return [...counts.values()];
}
