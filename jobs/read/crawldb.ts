import {CrawlError} from '../../lib/errors.ts';
import {dbStatuses} from '../../lib/schema/status.ts';
import {sqlString} from '../../lib/store/duckdb.ts';
import type {Manifest} from '../../lib/store/manifest-types.ts';

/** The questions of `crawl readdb` (Nutch: CrawlDbReader) as SQL. Pure. */

/** Which rows of the crawldb; all that are given must hold. */
export interface RowFilter {
  readonly status: readonly string[];
  readonly host: readonly string[];
  /** RE2, found anywhere in the URL. */
  readonly regex: string | undefined;
  /** Failures in a row, exactly. */
  readonly retries: number | undefined;
  /** Condition in SQL over the columns of the crawldb. */
  readonly where: string | undefined;
  /** Share of the rows by chance, 0 to 1; the same rows each time. */
  readonly sample: number | undefined;
}

/** All conditions, as ` WHERE …`; nothing where there are none. Throws USAGE for a status that is none. */
export function filterSql({status, host, regex, retries, where, sample}: RowFilter): string {
  const wrong = status.find((word) => !(dbStatuses as readonly string[]).includes(word));
  if (wrong !== undefined)
    throw new CrawlError('USAGE', `no such status: ${wrong}`, {hint: `One of: ${dbStatuses.join(' ')}`});
  if (sample !== undefined && !(sample >= 0 && sample <= 1))
    throw new CrawlError('USAGE', `--sample ${sample} is no share`, {hint: 'Give a number from 0 to 1.'});
  return whereSql([
    status.length > 0 && `status IN (${status.map(sqlString).join(', ')})`,
    host.length > 0 && `url_host_name IN (${host.map((name) => sqlString(name.toLowerCase())).join(', ')})`,
    regex !== undefined && `regexp_matches(url, ${sqlString(regex)})`,
    retries !== undefined && `retries = ${retries}`,
    where !== undefined && `(\n${where}\n)`,
    // Keys are hashes: their low bits are as good as chance
    sample !== undefined && `url_key % 1000000 < ${Math.round(sample * 1e6)}`,
  ]);
}

/** ` WHERE a AND b` of the conditions that there are. */
export function whereSql(conditions: readonly (string | false | undefined)[]): string {
  const given = conditions.filter((one) => one !== false && one !== undefined);
  return given.length === 0 ? '' : ` WHERE ${given.join(' AND ')}`;
}

/** Whole rows, as they come: a dump is as fast as the disk. */
export function dumpSql(filter: RowFilter): string {
  return `SELECT * FROM crawldb${filterSql(filter)}`;
}

/** The URLs with the highest scores. Equal scores in order of URL. */
export function topSql(n: number, minScore: number | undefined, filter: RowFilter): string {
  const least = minScore === undefined ? undefined : `score >= ${minScore}`;
  const where = filter.where === undefined ? least : least && `(${filter.where}\n) AND ${least}`;
  const all = {...filter, where: where ?? filter.where};
  return `SELECT score, url, status, depth, inlinks, next_fetch_time FROM crawldb${filterSql(all)}
ORDER BY score DESC, url LIMIT ${n}`;
}

/** The row of a URL, which the query's url_key normalizes as others were. */
export function urlSql(url: string): string {
  return `SELECT * FROM crawldb WHERE url_key = url_key(${sqlString(url)})`;
}

/** A count or a bound, as `readdb --stats` lists them. */
export type Statistic = {
  readonly statistic: string;
  /** Of what, as a status; empty for a total. */
  readonly of: string;
  readonly value: number | string;
};

/** What the manifest says, at once, however large the crawldb is. */
export function quickStatistics({number, created_time, slots, summary}: Manifest): Statistic[] {
  const rows: Statistic[] = [
    {statistic: 'manifest', of: '', value: number},
    {statistic: 'as of', of: '', value: created_time},
    {statistic: 'size on disk', of: 'bytes', value: slots.crawldb?.bytes ?? 0},
  ];
  const first = ['urls', 'hosts', 'unfetched', 'fetched', 'redirects', 'gone', 'duplicates'];
  const names = [...first, ...Object.keys(summary).filter((name) => !first.includes(name))];
  for (const name of names)
    if (summary[name] !== undefined)
      rows.push({statistic: 'total', of: name.replaceAll('_', ' '), value: summary[name]});
  return rows;
}

/** Of a crawldb of more rows the quantiles are those of a sixteenth of them (chosen: 60,000 rows tell them well). */
const sampledRows = 1_000_000;

/**
 * What takes a scan of a few columns. One row, made into {@link Statistic}s by {@link scanStatistics}. Rows are grouped
 * once, and counted by group: a histogram of each column takes twice as long (measured 2026-11).
 *
 * @param rows of the crawldb, about
 */
export function scanSql(rows: number): string {
  const counts = (column: string) =>
    `(SELECT map(list(${column}), list(n)) FROM (SELECT ${column}, sum(n)::UBIGINT AS n FROM part GROUP BY ${column})) AS ${column}`;
  return `WITH part AS (
  SELECT
    status, coalesce(reason, '') AS reason, retries, depth, count(*) AS n,
    min(score) AS score_min, sum(score) AS score_sum, max(score) AS score_max,
    min(next_fetch_time) AS due_min, max(next_fetch_time) AS due_max,
    count(*) FILTER (next_fetch_time <= now()) AS due_now,
    min(fetch_time) AS fetch_min, max(fetch_time) AS fetch_max,
    min(fetch_interval_s) AS interval_min, sum(fetch_interval_s) AS interval_sum, max(fetch_interval_s) AS interval_max
  FROM crawldb GROUP BY ALL
)
SELECT
  ${['status', 'reason', 'retries', 'depth'].map(counts).join(',\n  ')},
  min(score_min) AS score_min, sum(score_sum) / sum(n) AS score_avg, max(score_max) AS score_max,
  (
    SELECT approx_quantile(score, [0.05, 0.25, 0.5, 0.75, 0.95, 0.99])
    FROM crawldb${rows > sampledRows ? ' WHERE url_key % 16 = 0' : ''}
  ) AS score_quantiles,
  min(due_min) AS due_min, max(due_max) AS due_max, coalesce(sum(due_now), 0)::BIGINT AS due_now,
  min(fetch_min) AS fetch_min, max(fetch_max) AS fetch_max,
  min(interval_min) AS interval_min, (sum(interval_sum) / sum(n))::DOUBLE AS interval_avg,
  max(interval_max) AS interval_max
FROM part`;
}

/** Counts by status and host, the hosts with most URLs first: readdb --stats --sort. */
export function hostStatusSql(n: number): string {
  return `WITH largest AS (
  SELECT url_host_name, urls AS total FROM hoststats ORDER BY urls DESC, url_host_name LIMIT ${n}
), counted AS (
  SELECT url_host_name, status, count(*)::BIGINT AS urls FROM crawldb SEMI JOIN largest USING (url_host_name) GROUP BY ALL
)
SELECT url_host_name AS host, status, urls FROM counted JOIN largest USING (url_host_name)
ORDER BY total DESC, host, urls DESC, status`;
}

interface ScanRow extends Readonly<Record<string, unknown>> {
  readonly status: Readonly<Record<string, number>> | null;
  readonly reason: Readonly<Record<string, number>> | null;
  readonly retries: Readonly<Record<string, number>> | null;
  readonly depth: Readonly<Record<string, number>> | null;
  readonly score_quantiles: readonly number[] | null;
}
const quantiles = ['5 %', '25 %', '50 %', '75 %', '95 %', '99 %'];

/** The row of {@link scanSql} as a list; nothing of an empty crawldb. */
export function scanStatistics(raw: Readonly<Record<string, unknown>>): Statistic[] {
  const row = raw as ScanRow; // the columns of scanSql
  const list: Statistic[] = [];
  const counts = (
    statistic: string,
    by: Readonly<Record<string, number>> | null,
    order: 'most' | 'number',
  ) => {
    const entries = Object.entries(by ?? {}).filter(([of]) => of !== '');
    entries.sort(([a, n], [b, m]) => (order === 'most' ? m - n || (a < b ? -1 : 1) : Number(a) - Number(b)));
    for (const [of, value] of entries) list.push({statistic, of, value});
  };
  const bound = (statistic: string, of: string, value: unknown) => {
    if (value instanceof Date) list.push({statistic, of, value: value.toISOString()});
    else if (typeof value === 'number')
      list.push({statistic, of, value: Number.isInteger(value) ? value : Number(value.toPrecision(6))});
  };
  counts('status', row.status, 'most');
  counts('reason', row.reason, 'most');
  counts('retries', row.retries, 'number');
  counts('depth', row.depth, 'number');
  bound('score', 'least', row.score_min);
  for (const [at, of] of quantiles.entries()) bound('score', of, row.score_quantiles?.[at]);
  bound('score', 'mean', row.score_avg);
  bound('score', 'greatest', row.score_max);
  bound('due', 'now', row.due_now);
  bound('due', 'earliest', row.due_min);
  bound('due', 'latest', row.due_max);
  bound('fetched', 'earliest', row.fetch_min);
  bound('fetched', 'latest', row.fetch_max);
  bound('interval in seconds', 'least', row.interval_min);
  bound('interval in seconds', 'mean', row.interval_avg);
  bound('interval in seconds', 'greatest', row.interval_max);
  return list;
}
