import {type Row, table} from './table.ts';

/** What the rows of the crawldb are counted by. */
export const countedBy = [
  'status',
  'reason',
  'retries',
  'depth',
  'score',
  'due',
  'fetched',
  'interval',
] as const;

export const crawldbstats = table({
  name: 'crawldbstats',
  version: 1,
  doc: 'Counts of the rows of the crawldb, for `crawl readdb --stats`. Written with each change of the crawldb.',
  key: ['statistic', 'word', 'value'],
  columns: {
    statistic: {
      type: 'text',
      values: countedBy,
      doc: 'Column that is counted by; due is next_fetch_time, fetched is fetch_time, interval is fetch_interval_s.',
    },
    word: {type: 'text', nullable: true, doc: 'Its value, of status and reason.'},
    value: {
      type: 'double',
      nullable: true,
      doc: 'Its value as a number: scores and intervals (seconds) to four digits; of times the minute, in seconds since 1970.',
    },
    urls: {type: 'count', doc: 'Rows that have it. Rows where the column is null are not counted.'},
  },
});
export type CrawldbStatsRow = Row<typeof crawldbstats>;
