-- What a segment's former parse alone had brought. Views as in fold.sql; outlinks holds, beside the links of the
-- parses that are applied now, those of the former parses of segments that are applied anew, and the current ones of
-- all other applied segments. Tables segs (segment, mode, parse_id), target, known_target, and the view current_row.

-- step: lost
-- URLs never asked for, that only links of a former parse led to: they become orphans, which generate passes over.
-- What a seed line, a robots.txt or another link names stays.
CREATE TABLE lost AS
WITH former AS (
  SELECT DISTINCT l.to_host_key AS host_key, l.to_url_key AS url_key
  FROM outlinks l JOIN segs s USING (segment)
  WHERE s.mode = 'reparse' AND l.parse_id IS DISTINCT FROM s.parse_id AND l.accepted AND l.to_url_key IS NOT NULL
), candidate AS (
  SELECT host_key, url_key
  FROM current_row
  SEMI JOIN former USING (host_key, url_key)
  ANTI JOIN (SELECT host_key, url_key FROM seeds WHERE url IS NOT NULL) s USING (host_key, url_key)
  ANTI JOIN (SELECT host_key, url_key FROM target WHERE discovery IS NOT NULL) t USING (host_key, url_key)
  WHERE status = 'unfetched' AND fetch_time IS NULL AND discovered_from IS NOT NULL AND sitemap_depth IS NULL
), held AS (
  SELECT DISTINCT l.to_host_key AS host_key, l.to_url_key AS url_key
  FROM outlinks l
  SEMI JOIN (SELECT host_key AS to_host_key, url_key AS to_url_key FROM candidate) c USING (to_host_key, to_url_key)
  LEFT JOIN (SELECT DISTINCT segment, parse_id FROM segs WHERE mode = 'reparse') s USING (segment)
  WHERE l.accepted AND (s.segment IS NULL OR s.parse_id = l.parse_id)
)
SELECT r.* REPLACE ('orphan' AS status, 'orphan' AS reason)
FROM current_row r
SEMI JOIN (SELECT * FROM candidate ANTI JOIN held USING (host_key, url_key)) o USING (host_key, url_key);

-- step: revived
-- Orphans that something links to again: with what is known of their last success, and due; upkeep (tidydb) had put them
-- off for ever ($never). $now.
CREATE TABLE revived AS
SELECT r.* REPLACE (
  CASE WHEN last_success_time IS NULL THEN 'unfetched' ELSE 'fetched' END AS status,
  NULL AS reason,
  CASE WHEN next_fetch_time = $never::TIMESTAMPTZ THEN $now::TIMESTAMPTZ
    ELSE next_fetch_time END AS next_fetch_time
)
FROM current_row r
SEMI JOIN (
  SELECT host_key, url_key FROM known_target
  SEMI JOIN (SELECT host_key, url_key FROM target WHERE discovery IS NOT NULL) t USING (host_key, url_key)
  WHERE status = 'orphan'
) o USING (host_key, url_key);
