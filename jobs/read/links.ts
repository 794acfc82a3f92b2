import type {RankLevel} from '../../lib/schema/linkrank.ts';
import {sqlString} from '../../lib/store/duckdb.ts';
import {whereSql} from './crawldb.ts';

/** The questions of `crawl readlinkdb` (Nutch: LinkDbReader, NodeDumper) as SQL. Pure. */

/** All links, as they come, or those to URLs in which a pattern is found. */
export function linksSql(regex: string | undefined): string {
  return `SELECT target_url, source_url, anchor, rel, kind, links, internal, fetch_time, segment FROM linkdb${whereSql(
    [regex !== undefined && `regexp_matches(target_url, ${sqlString(regex)})`],
  )}`;
}

/** Who links to a page, links from other hosts first. */
export function inlinksSql(url: string): string {
  const text = sqlString(url);
  return `SELECT source_url, anchor, rel, kind, links, internal, fetch_time, segment FROM linkdb
WHERE target_host_key = host_key(${text}) AND target_url_key = url_key(${text}) ORDER BY internal, source_url`;
}

/** Pages that most others link to. */
export function mostLinkedSql(n: number): string {
  return `SELECT
  count(*)::BIGINT AS inlinks, count(*) FILTER (NOT internal)::BIGINT AS external,
  count(DISTINCT source_host_key)::BIGINT AS hosts, min(target_url) AS url
FROM linkdb GROUP BY target_host_key, target_url_key ORDER BY inlinks DESC, url LIMIT ${n}`;
}

/** One row: how many links, pages and hosts. */
export const linkStatsSql = `SELECT
  count(*)::BIGINT AS links, coalesce(sum(links), 0)::BIGINT AS sightings,
  count(*) FILTER (internal)::BIGINT AS internal, count(*) FILTER (NOT internal)::BIGINT AS external,
  count(DISTINCT (target_host_key, target_url_key))::BIGINT AS targets,
  count(DISTINCT (source_host_key, source_url_key))::BIGINT AS sources,
  count(DISTINCT target_host_key)::BIGINT AS target_hosts, count(DISTINCT source_host_key)::BIGINT AS source_hosts,
  count(*) FILTER (anchor <> '')::BIGINT AS with_anchor,
  count(DISTINCT segment)::BIGINT AS segments, min(fetch_time) AS oldest, max(fetch_time) AS newest
FROM linkdb`;

/**
 * The graph of hosts or registered domains: an edge for each pair between which there are links. Links are counted by
 * pair of hosts first, so that names are looked up once a host. A host of which no URL is known stands for its domain.
 */
export function graphSql(level: 'host' | 'domain', internal: boolean): string {
  const name = (side: string) =>
    level === 'host' ? `${side}.name` : `coalesce(${side}_known.url_host_registered_domain, ${side}.name)`;
  return `WITH pair AS (
  SELECT source_host_key, target_host_key, count(*) AS links
  FROM linkdb GROUP BY ALL
), host AS (
  SELECT host_key, regexp_extract(any_value(url), '^[a-z]+://(\\[[^\\]]*\\]|[^/?#:]*)', 1) AS name
  FROM (
    SELECT target_host_key AS host_key, any_value(target_url) AS url FROM linkdb GROUP BY ALL
    UNION ALL
    SELECT source_host_key, any_value(source_url) FROM linkdb GROUP BY ALL
  ) GROUP BY ALL
), edge AS (
  SELECT ${name('source')} AS source, ${name('target')} AS target, links
  FROM pair
  JOIN host source ON source.host_key = source_host_key
  JOIN host target ON target.host_key = target_host_key
  LEFT JOIN hoststats source_known ON source_known.host_key = source_host_key
  LEFT JOIN hoststats target_known ON target_known.host_key = target_host_key
)
SELECT source, target, sum(links)::BIGINT AS links FROM edge${internal ? '' : ' WHERE source <> target'}
GROUP BY ALL ORDER BY links DESC, source, target`;
}

/** The best of the last linkrank. */
export function ranksSql(level: RankLevel, n: number): string {
  return `SELECT name, rank, score, inlinks, outlinks FROM linkrank
WHERE level = ${sqlString(level)} ORDER BY rank DESC, name LIMIT ${n}`;
}
