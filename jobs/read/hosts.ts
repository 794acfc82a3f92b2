import {deadLinkWorth, largeHost} from '../../lib/selection/yield.ts';
import {sqlString} from '../../lib/store/duckdb.ts';
import {firstFolderSql} from '../crawldb/path.ts';
import {readSql} from '../runner/sql-file.ts';
import {whereSql} from './crawldb.ts';

const sql = readSql(import.meta.url, './paths.sql', ['paths']);

/** The questions of `crawl readhostdb` and `crawl domainstats` (Nutch: ReadHostDb, DomainStatistics) as SQL. Pure. */

export interface HostFilter {
  readonly hosts: readonly string[];
  readonly where: string | undefined;
  readonly topN: number | undefined;
}

/** Rows of the hostdb, hosts with most URLs first; or names only. */
export function hostsSql({hosts, where, topN}: HostFilter, columns: '*' | 'url_host_name'): string {
  const conditions = whereSql([
    hosts.length > 0 && `url_host_name IN (${hosts.map(sqlString).join(', ')})`,
    where !== undefined && `(\n${where}\n)`,
  ]);
  return `SELECT ${columns} FROM hostdb${conditions} ORDER BY urls DESC NULLS LAST, url_host_name${topN === undefined ? '' : ` LIMIT ${topN}`}`;
}

/** Those of these names that the hostdb does not have, as `name`. */
export function unknownHostsSql(hosts: readonly string[]): string {
  const names = hosts.map((name) => `(${sqlString(name)})`).join(', ');
  return `SELECT DISTINCT name FROM (VALUES ${names}) asked(name) ANTI JOIN hostdb ON url_host_name = name ORDER BY name`;
}

/** Home pages that were fetched: the root of a host, https before http. */
export function homepagesSql(filter: HostFilter): string {
  return `SELECT url_host_name, max(url) AS url FROM crawldb
WHERE status IN ('fetched', 'notmodified') AND url IN ('http://' || url_host_name || '/', 'https://' || url_host_name || '/')
  AND url_host_name IN (${hostsSql(filter, 'url_host_name')})
GROUP BY ALL ORDER BY url_host_name`;
}

export const domainLevels = ['host', 'domain', 'suffix', 'tld', 'code', 'scheme', 'path'] as const;
export type DomainLevel = (typeof domainLevels)[number];

/**
 * Counts by host, registered domain, public suffix or last label, from the counts that updatedb keeps: no scan of the
 * crawldb. By HTTP status code of the last fetch, or by scheme, from the crawldb. By path: the folders of large hosts with
 * what they brought, from crawldb and segments.
 */
export function domainStatsSql(level: DomainLevel, topN: number | undefined): string {
  const limit = topN === undefined ? '' : ` LIMIT ${topN}`;
  if (level === 'path') {
    const paths = sql.paths
      .replaceAll('$large', `${largeHost}`)
      .replaceAll('$dead_link', `${deadLinkWorth}`)
      .replaceAll('$first_folder', firstFolderSql('url'));
    return `${paths}${limit}`;
  }
  if (level === 'code' || level === 'scheme') {
    const name = level === 'code' ? 'fetch_status' : `regexp_extract(url, '^([a-z]+):', 1)`;
    return `SELECT ${name} AS ${level}, count(*)::BIGINT AS urls, count(DISTINCT host_key)::BIGINT AS hosts
FROM crawldb GROUP BY ALL ORDER BY urls DESC, ${level}${limit}`;
  }
  // An IP address has no suffix
  const address = `regexp_matches(url_host_name, '^[0-9.]+$|[:\\[]')`;
  const name = {
    host: 'url_host_name',
    domain: 'url_host_registered_domain',
    suffix: `CASE WHEN ${address} THEN '' WHEN contains(url_host_registered_domain, '.') THEN regexp_replace(url_host_registered_domain, '^[^.]*[.]', '') ELSE url_host_registered_domain END`,
    tld: `CASE WHEN ${address} THEN '' ELSE regexp_extract(url_host_name, '[^.]*$') END`,
  }[level];
  return `SELECT
  ${name} AS "${level}", count(*)::BIGINT AS hosts, sum(urls)::BIGINT AS urls, sum(fetched)::BIGINT AS fetched,
  sum(unfetched)::BIGINT AS unfetched, sum(redirects)::BIGINT AS redirects, sum(gone)::BIGINT AS gone,
  sum(duplicates)::BIGINT AS duplicates, sum(pages_fetched)::BIGINT AS pages_fetched,
  sum(body_bytes)::BIGINT AS body_bytes
FROM hoststats GROUP BY ALL ORDER BY urls DESC, "${level}"${limit}`;
}
