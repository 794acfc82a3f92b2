-- What parts of large hosts brought, for `crawl domainstats --by path`. Views: hoststats, crawldb, captures, parse.

-- step: paths
-- By first folder of the path, `/` for what is in none, of hosts with at least $large known URLs. Yield is of the last 100
-- pages visited for the first time: the share with content of their own (as hoststats.recent_new: no error, not empty, no
-- duplicate; a dead link counts $dead_link).
WITH url AS (
  SELECT
    host_key, url_key, url_host_name, status, similar_to, fetch_time,
    $first_folder AS path
  FROM crawldb
  WHERE host_key IN (SELECT host_key FROM hoststats WHERE urls >= $large)
), capture AS (
  SELECT
    u.host_key, u.url_key, u.path, c.fetch_time, c.status = 'success' AS success, c.fetch_status, c.content_length,
    c.content_segment = c.segment AND row_number() OVER (
      PARTITION BY c.segment, c.content_digest ORDER BY c.fetch_time, c.url_key, c.host_key
    ) = 1 AS novel,
    c.status = 'gone' AND c.fetch_status IS NOT NULL AS gone,
    c.status = 'success' AND u.status <> 'duplicate' AND u.similar_to IS NULL
      AND CASE p.status WHEN 'failed' THEN false WHEN 'skipped' THEN true ELSE coalesce(p.text_length > 0, true) END AS own
  FROM captures c
  JOIN url u USING (host_key, url_key)
  LEFT JOIN parse p USING (segment, capture_id)
  WHERE c.kind = 'page'
), last_page AS (
  SELECT host_key, path, own, fetch_status
  FROM (
    SELECT * FROM capture WHERE success OR gone
    QUALIFY row_number() OVER (PARTITION BY host_key, url_key ORDER BY fetch_time) = 1
  )
  QUALIFY row_number() OVER (PARTITION BY host_key, path ORDER BY fetch_time DESC, url_key) <= 100
)
SELECT
  u.url_host_name, u.path, u.urls, u.fetched,
  coalesce(c.pages_fetched, 0)::BIGINT AS pages_fetched, coalesce(c.body_bytes, 0)::BIGINT AS body_bytes,
  coalesce(c.novel_bytes, 0)::BIGINT AS novel_bytes, round(l.yield, 3) AS yield
FROM (
  SELECT
    host_key, path, min(url_host_name) AS url_host_name, count(*)::BIGINT AS urls,
    count(*) FILTER (fetch_time IS NOT NULL)::BIGINT AS fetched
  FROM url GROUP BY host_key, path
) u
LEFT JOIN (
  SELECT
    host_key, path, count(*) FILTER (success) AS pages_fetched, sum(content_length) AS body_bytes,
    sum(content_length) FILTER (novel) AS novel_bytes
  FROM capture GROUP BY host_key, path
) c USING (host_key, path)
LEFT JOIN (
  SELECT
    host_key, path,
    (count(*) FILTER (own) + $dead_link::DOUBLE * count(*) FILTER (NOT own AND fetch_status IN (404, 410))) / count(*) AS yield
  FROM last_page GROUP BY host_key, path
) l USING (host_key, path)
ORDER BY u.urls DESC, u.url_host_name, u.path
