import {sqlString} from '../../lib/store/duckdb.ts';

/** The questions of `crawl readseg` (Nutch: SegmentReader) as SQL. Pure. */

/** Parts of a segment, by the names of their tables in SQL. */
export const segmentParts = ['fetchlist', 'fetch', 'content', 'parse', 'outlinks'] as const;
export type SegmentPart = (typeof segmentParts)[number];

/** FETCH is a word of SQL, so that table goes by its other name. */
const tableOf = (part: SegmentPart): string => (part === 'fetch' ? 'captures' : part);

/** How much a segment holds, and when it was fetched. Payloads are not read. */
export const segmentListSql = `WITH generated AS (
  SELECT segment, count(*) AS generated FROM fetchlist GROUP BY ALL
), fetched AS (
  SELECT
    segment, min(fetch_time) AS fetch_start, max(fetch_time) AS fetch_end,
    count(*) FILTER (kind IN ('page', 'sitemap', 'imported') AND status <> 'skipped') AS fetched,
    count(*) FILTER (kind IN ('page', 'sitemap', 'imported') AND status = 'success') AS success,
    count(*) FILTER (kind = 'hop') AS hops
  FROM captures GROUP BY ALL
), parsed AS (
  SELECT segment, count(*) FILTER (status IN ('success', 'partial')) AS parsed, sum(outlinks)::BIGINT AS outlinks
  FROM parse GROUP BY ALL
)
SELECT
  segment, coalesce(generated, 0)::BIGINT AS generated, fetch_start, fetch_end,
  coalesce(fetched, 0)::BIGINT AS fetched, coalesce(success, 0)::BIGINT AS success, coalesce(hops, 0)::BIGINT AS hops,
  coalesce(parsed, 0)::BIGINT AS parsed, coalesce(outlinks, 0)::BIGINT AS outlinks
FROM generated FULL JOIN fetched USING (segment) FULL JOIN parsed USING (segment)
ORDER BY segment`;

/** All rows of a part, as they come. */
export function partSql(part: SegmentPart): string {
  return `SELECT * FROM ${tableOf(part)}`;
}

/** Rows of a part about a URL: its own, and of `content` the payloads of its captures. */
export function partOfUrlSql(part: SegmentPart, url: string): string {
  const key = `url_key(${sqlString(url)})`;
  switch (part) {
    case 'fetchlist':
      return `SELECT * FROM fetchlist WHERE url_key = ${key} ORDER BY segment`;
    case 'fetch':
      return `SELECT * FROM captures WHERE url_key = ${key} ORDER BY fetch_time, hop`;
    case 'content':
      return `SELECT c.* FROM content c SEMI JOIN (
  SELECT content_sha256, coalesce(content_segment, segment) AS segment FROM captures WHERE url_key = ${key}
) f USING (content_sha256, segment) ORDER BY segment`;
    case 'parse':
      return `SELECT * FROM parse WHERE url_key = ${key} ORDER BY segment`;
    case 'outlinks':
      return `SELECT position, to_url, anchor, rel, kind, accepted, reason, rule FROM outlinks
WHERE from_url_key = ${key} ORDER BY segment, capture_id, position`;
  }
}
