import type {CrawldbStatsRow, countedBy} from '../schema/crawldbstats.ts';

/** What `crawl readdb --stats` says of counts of the crawldb (Nutch: CrawlDbReader). Pure. */

/** A count or a bound. */
export type Statistic = {
  readonly statistic: string;
  /** Of what, as a status; empty for a total. */
  readonly of: string;
  readonly value: number | string;
};

type Column = (typeof countedBy)[number];

const quantiles = [0.05, 0.25, 0.5, 0.75, 0.95, 0.99];

/**
 * Rows of `crawldbstats` as a list for people; nothing of an empty crawldb. Numbers have four digits and times the
 * minute, as the counts have. A quantile is the least value that so large a share of the rows does not exceed.
 *
 * @param now ms since the epoch; what is due in the minute of it is due now
 */
export function statisticsOf(counts: readonly CrawldbStatsRow[], now: number): Statistic[] {
  const words = (of: Column): Statistic[] =>
    counts
      .filter(({statistic}) => statistic === of)
      .map(({word, urls}) => ({statistic: of, of: word ?? '', value: urls}))
      .sort((a, b) => b.value - a.value || (a.of < b.of ? -1 : 1));
  const numbers = (of: Column): Counted[] =>
    counts
      .filter(({statistic}) => statistic === of)
      .map(({value, urls}) => ({value: value ?? 0, urls}))
      .sort((a, b) => a.value - b.value);
  const byNumber = (of: Column): Statistic[] =>
    numbers(of).map(({value, urls}) => ({statistic: of, of: String(value), value: urls}));
  const due = numbers('due');
  return [
    ...words('status'),
    ...words('reason'),
    ...byNumber('retries'),
    ...byNumber('depth'),
    ...boundsOf('score', numbers('score'), quantiles),
    ...(due.length === 0 ? [] : [{statistic: 'due', of: 'now', value: dueBy(due, now)}]),
    ...timesOf('due', due),
    ...timesOf('fetched', numbers('fetched')),
    ...boundsOf('interval in seconds', numbers('interval')),
  ];
}

/** So many rows have this value; in order of value. */
interface Counted {
  readonly value: number;
  readonly urls: number;
}

function boundsOf(
  statistic: string,
  values: readonly Counted[],
  shares: readonly number[] = [],
): Statistic[] {
  if (values.length === 0) return [];
  const total = values.reduce((sum, {urls}) => sum + urls, 0);
  const mean = values.reduce((sum, {value, urls}) => sum + value * urls, 0) / total;
  return [
    {statistic, of: 'least', value: values[0]!.value},
    ...shares.map((share) => ({
      statistic,
      of: `${share * 100} %`,
      value: atShare(values, share * total),
    })),
    {statistic, of: 'mean', value: Number(mean.toPrecision(4))},
    {statistic, of: 'greatest', value: values.at(-1)!.value},
  ];
}

function atShare(values: readonly Counted[], rank: number): number {
  let passed = 0;
  for (const {value, urls} of values) {
    passed += urls;
    if (passed >= rank) return value;
  }
  return values.at(-1)!.value;
}

function dueBy(due: readonly Counted[], now: number): number {
  return due.reduce((sum, {value, urls}) => sum + (value * 1000 <= now ? urls : 0), 0);
}

function timesOf(statistic: string, values: readonly Counted[]): Statistic[] {
  if (values.length === 0) return [];
  const minute = ({value}: Counted) => new Date(value * 1000).toISOString().replace(/:00\.000Z$/, 'Z');
  return [
    {statistic, of: 'earliest', value: minute(values[0]!)},
    {statistic, of: 'latest', value: minute(values.at(-1)!)},
  ];
}
