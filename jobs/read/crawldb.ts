import type {Statistic} from '../../lib/crawldb/statistics.ts';
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

/** The row of a URL, which the query's functions normalize as others were. By the host only one bucket is read. */
export function urlSql(url: string): string {
  const text = sqlString(url);
  return `SELECT * FROM crawldb WHERE host_key = host_key(${text}) AND url_key = url_key(${text})`;
}

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
