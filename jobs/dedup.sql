-- Exact duplicates: pages whose content-decoded bodies are equal; sitemaps are none. View: current_row (the crawldb as it will be).

-- step: mark
-- Rows whose standing among their equals changes. Tables: affected (the signatures to look at).
-- $place: where equals are looked for: none (the whole crawl), domain, host, or page (nowhere).
-- One page of a group stays, by a written order: the one that most of the group name as canonical, then the higher
-- score, then https, then the shorter URL, then the one seen first, then the URL. If it goes, the next takes its place.
CREATE TABLE dedup_row AS
WITH member AS (
  SELECT
    c.*,
    CASE $place
      WHEN 'host' THEN c.url_host_name
      WHEN 'domain' THEN c.url_host_registered_domain
      WHEN 'page' THEN c.url
      ELSE ''
    END AS place
  FROM current_row c SEMI JOIN affected a USING (signature)
  WHERE c.status IN ('fetched', 'notmodified', 'duplicate') AND c.sitemap_depth IS NULL
), vote AS (
  SELECT signature, place, canonical_url AS url, count(*) AS votes
  FROM member WHERE canonical_url IS NOT NULL GROUP BY ALL
), ranked AS (
  SELECT m.*, row_number() OVER best AS nth, first_value(m.url) OVER best AS winner
  FROM member m LEFT JOIN vote v USING (signature, place, url)
  WINDOW best AS (
    PARTITION BY m.signature, m.place
    ORDER BY coalesce(v.votes, 0) DESC, m.score DESC, starts_with(m.url, 'https:') DESC, length(m.url),
      m.discovered_time, m.url
  )
)
SELECT
  * EXCLUDE (place, nth, winner)
  REPLACE (
    CASE WHEN nth > 1 THEN 'duplicate' WHEN status = 'duplicate' THEN 'fetched' ELSE status END AS status,
    CASE WHEN nth > 1 THEN 'duplicate' WHEN status = 'duplicate' THEN NULL ELSE reason END AS reason,
    CASE WHEN nth > 1 THEN winner END AS duplicate_of
  )
FROM ranked
WHERE (nth > 1 AND (status <> 'duplicate' OR duplicate_of IS DISTINCT FROM winner))
  OR (nth = 1 AND (status = 'duplicate' OR duplicate_of IS NOT NULL));

-- step: every_signature
-- For the whole crawl: signatures that several rows have, or that a duplicate has.
CREATE TABLE affected AS
SELECT signature FROM current_row
WHERE signature IS NOT NULL AND status IN ('fetched', 'notmodified', 'duplicate') AND sitemap_depth IS NULL
GROUP BY signature
HAVING count(*) > 1 OR bool_or(status = 'duplicate');

-- step: savings
-- Duplicates by host: how many, and the host whose pages they repeat most often.
SELECT url_host_name AS host, count(*)::BIGINT AS duplicates
FROM current_row WHERE status = 'duplicate'
GROUP BY url_host_name ORDER BY duplicates DESC, host LIMIT 100;
