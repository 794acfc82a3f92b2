-- Links turned round. Views: crawldb, captures (fetch), parse, outlinks, linkdb. Table segs (segment).

-- step: sources
-- Pages whose links are told anew: of each the newest capture of these segments, unless the linkdb or the crawldb
-- has a newer one. A page that is gone, has become a redirect, or could not be parsed links to nothing that is known
-- any more; a failed fetch says nothing.
CREATE TABLE source AS
WITH told AS (
  SELECT
    c.host_key, c.url_key, c.segment, c.capture_id, c.fetch_time, c.hop,
    p.capture_id IS NOT NULL AND c.status = 'success' AS parsed
  FROM captures c
  JOIN segs s USING (segment)
  LEFT JOIN (SELECT segment, capture_id FROM parse) p USING (segment, capture_id)
  WHERE c.kind IN ('page', 'hop', 'imported')
    AND (
      (c.status = 'success' AND p.capture_id IS NOT NULL)
      OR c.status IN ('redir_temp', 'redir_perm')
      OR (c.status = 'gone' AND c.fetch_status IS NOT NULL)
    )
), newest AS (
  SELECT * FROM told
  QUALIFY row_number() OVER (
    PARTITION BY host_key, url_key ORDER BY fetch_time DESC, segment DESC, capture_id
  ) = 1
), have AS (
  SELECT source_host_key AS host_key, source_url_key AS url_key, max(fetch_time) AS fetch_time
  FROM linkdb GROUP BY ALL
)
SELECT n.*
FROM newest n
LEFT JOIN have h USING (host_key, url_key)
LEFT JOIN (SELECT host_key, url_key, last_success_segment FROM crawldb) c USING (host_key, url_key)
WHERE (h.fetch_time IS NULL OR h.fetch_time <= n.fetch_time)
  AND (c.last_success_segment IS NULL OR c.last_success_segment <= n.segment);

-- step: links
-- The links of these pages, one row a source and target. Links that are not followed for what they point at or how
-- are none between pages; a link too deep or marked nofollow is one all the same. $internal, $external.
CREATE TABLE new_link AS
WITH sighting AS (
  SELECT l.*
  FROM outlinks l SEMI JOIN (SELECT segment, capture_id FROM source WHERE parsed) s USING (segment, capture_id)
  WHERE l.to_url_key IS NOT NULL AND l.hop_type <> 'R' AND (l.accepted OR l.reason IN ('depth', 'nofollow'))
    AND CASE WHEN l.to_host_key = l.from_host_key THEN $internal ELSE $external END
)
SELECT
  to_host_key AS target_host_key, to_url_key AS target_url_key, min(to_url) AS target_url,
  from_host_key AS source_host_key, from_url_key AS source_url_key, min(from_url) AS source_url,
  arg_min(anchor, position) FILTER (anchor IS NOT NULL AND anchor <> '') AS anchor,
  coalesce(
    arg_min_null(rel, position) FILTER (anchor IS NOT NULL AND anchor <> ''),
    arg_min_null(rel, position)
  ) AS rel,
  arg_min(kind, position) AS kind,
  count(*)::INTEGER AS links,
  to_host_key = from_host_key AS internal,
  min(fetch_time) AS fetch_time, min(segment) AS segment
FROM sighting
GROUP BY to_host_key, to_url_key, from_host_key, from_url_key;

-- step: linkdb
-- The linkdb with these pages' links in place of their old ones; of more than $max_inlinks to a page the best stay:
-- higher score of the source, then its key.
CREATE TABLE next_link AS
WITH merged AS (
  SELECT o.*
  FROM linkdb o ANTI JOIN (SELECT host_key AS source_host_key, url_key AS source_url_key FROM source) s
  USING (source_host_key, source_url_key)
  UNION ALL
  SELECT * FROM new_link
), crowded AS (
  SELECT target_host_key, target_url_key FROM merged GROUP BY ALL HAVING count(*) > $max_inlinks
), best AS (
  SELECT m.*
  FROM merged m
  SEMI JOIN crowded USING (target_host_key, target_url_key)
  LEFT JOIN (SELECT host_key, url_key, score FROM crawldb) c
    ON c.host_key = m.source_host_key AND c.url_key = m.source_url_key
  QUALIFY row_number() OVER (
    PARTITION BY m.target_host_key, m.target_url_key
    ORDER BY coalesce(c.score, 0) DESC, m.source_host_key, m.source_url_key
  ) <= $max_inlinks
)
SELECT * FROM merged ANTI JOIN crowded USING (target_host_key, target_url_key)
UNION ALL
SELECT * FROM best;

-- step: inlinks
-- Rows of the crawldb whose number of linking pages changes.
CREATE TABLE delta AS
WITH counted AS (
  SELECT target_host_key AS host_key, target_url_key AS url_key, count(*)::INTEGER AS inlinks
  FROM next_link
  GROUP BY ALL
)
SELECT c.* REPLACE (coalesce(n.inlinks, 0)::INTEGER AS inlinks)
FROM crawldb c LEFT JOIN counted n USING (host_key, url_key)
WHERE c.inlinks <> coalesce(n.inlinks, 0);

-- step: totals
SELECT
  (SELECT count(*) FROM next_link)::BIGINT AS links,
  (SELECT count(*) FROM next_link n ANTI JOIN linkdb o
    USING (target_host_key, target_url_key, source_host_key, source_url_key))::BIGINT AS added,
  (SELECT count(*) FROM linkdb o ANTI JOIN next_link n
    USING (target_host_key, target_url_key, source_host_key, source_url_key))::BIGINT AS removed,
  (SELECT count(*) FROM delta)::BIGINT AS rows;
