-- Rows of one URL that become one. View or table member: rows of the crawldb with a column `origin`, which orders those
-- that are equal otherwise. Variable shared: some members tell of the same visits, which are then counted once.

-- step: one
-- The newest fetch tells the state and the newest success what is held; the nearest row tells how far from which seed
-- it is, the earliest how it was found; the best score counts.
CREATE TABLE one_row AS
WITH state AS (
  SELECT * FROM member
  QUALIFY row_number() OVER (
    PARTITION BY host_key, url_key ORDER BY fetch_time DESC NULLS LAST, updated_segment DESC NULLS LAST, origin
  ) = 1
), success AS (
  SELECT * FROM member
  QUALIFY row_number() OVER (
    PARTITION BY host_key, url_key ORDER BY last_success_time DESC NULLS LAST, origin
  ) = 1
), nearest AS (
  SELECT * FROM member
  QUALIFY row_number() OVER (PARTITION BY host_key, url_key ORDER BY depth, seed NULLS LAST, origin) = 1
), earliest AS (
  SELECT * FROM member
  QUALIFY row_number() OVER (
    PARTITION BY host_key, url_key
    ORDER BY discovered_from IS NOT NULL, discovered_time, discovered_from, origin
  ) = 1
), total AS (
  SELECT
    host_key, url_key,
    max(score) AS score, bool_or(fixed_interval) AS fixed, min(next_fetch_time) AS first_due,
    min(fetch_interval_s) FILTER (fixed_interval) AS fixed_interval_s,
    CASE WHEN getvariable('shared') THEN max(visits) ELSE sum(visits) END::INTEGER AS visits,
    CASE WHEN getvariable('shared') THEN max(changes) ELSE sum(changes) END::INTEGER AS changes,
    min(sitemap_depth) AS sitemap_depth, min(metadata) AS metadata, bool_or(history_frozen) AS frozen, max(updated_segment) AS updated_segment
  FROM member GROUP BY ALL
)
SELECT s.* EXCLUDE (origin) REPLACE (
  t.score AS score, n.depth AS depth, n.seed AS seed, n.tag AS tag, coalesce(n.metadata, t.metadata) AS metadata,
  e.hop_type AS hop_type, e.discovered_time AS discovered_time, e.discovered_from AS discovered_from,
  CASE WHEN s.fetch_time IS NULL THEN t.first_due ELSE s.next_fetch_time END AS next_fetch_time,
  t.fixed AS fixed_interval, coalesce(t.fixed_interval_s, s.fetch_interval_s) AS fetch_interval_s,
  u.last_success_time AS last_success_time, u.last_success_segment AS last_success_segment,
  u.modified_time AS modified_time, u.content_digest AS content_digest, u.signature AS signature,
  u.text_signature AS text_signature, u.simhash AS simhash, u.canonical_url AS canonical_url,
  u.etag AS etag, u.last_modified AS last_modified,
  u.visit_history AS visit_history, u.change_rate AS change_rate,
  u.hints_followed AS hints_followed, u.hints_right AS hints_right,
  t.visits AS visits, t.changes AS changes, t.updated_segment AS updated_segment,
  t.sitemap_depth AS sitemap_depth, t.frozen AS history_frozen
)
FROM state s
JOIN success u USING (host_key, url_key)
JOIN nearest n USING (host_key, url_key)
JOIN earliest e USING (host_key, url_key)
JOIN total t USING (host_key, url_key)
