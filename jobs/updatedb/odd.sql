-- Values out of bounds. Views as in fold.sql.

-- step: odd
-- What was out of all bounds in these segments. $now: of the job; a fetch on another machine may have another clock. $web:
-- when the web began. $hints, $min_interval_s, $max_interval_s: as for `add`.
SELECT
  (SELECT count(*) FROM outcome WHERE mode = 'apply' AND fetch_time > $now)::BIGINT AS clock_ahead_total,
  l.lastmod_future_total, l.lastmod_ancient_total,
  (SELECT count(*) FROM judged WHERE reason IS NULL AND $hints
    AND sitemap_interval_s NOT BETWEEN $min_interval_s AND $max_interval_s)::BIGINT AS changefreq_bounded_total,
  (SELECT count(*) FROM (
    SELECT host_key, url_key FROM old_row WHERE NOT isfinite(score)
    UNION
    SELECT host_key, url_key FROM changed SEMI JOIN visited_key USING (host_key, url_key) WHERE NOT isfinite(score)
  ))::BIGINT AS scores_bounded_total
FROM (
  SELECT
    count(*) FILTER (lastmod > fetch_time)::BIGINT AS lastmod_future_total,
    count(*) FILTER (lastmod < $web)::BIGINT AS lastmod_ancient_total
  FROM accepted_link WHERE lastmod IS NOT NULL
) l;
