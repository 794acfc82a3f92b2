-- What the crawl of the demo web found, a row a host. Views: crawldb, outlinks.

-- step: hosts
WITH sightings AS (
  SELECT o.to_host_key AS host_key, o.to_url_key AS url_key, count(*) AS links
  FROM outlinks o
  JOIN crawldb source ON source.host_key = o.from_host_key AND source.url_key = o.from_url_key
  WHERE o.accepted AND source.status <> 'duplicate'
  GROUP BY ALL
), again AS ( -- a seed was known before its first link, every other URL by its first link
  SELECT c.url_host_name, sum(s.links - CASE WHEN c.hop_type = 'I' THEN 0 ELSE 1 END) AS seen_again
  FROM sightings s
  JOIN crawldb c USING (host_key, url_key)
  GROUP BY ALL
), hosts AS (
  SELECT
    url_host_name,
    count(*) FILTER (visits > 0) AS pages,
    count(*) FILTER (status = 'duplicate') AS duplicates,
    count(*) FILTER (reason = 'robots_denied') AS refused,
    count(*) FILTER (status = 'unfetched') AS waiting
  FROM crawldb
  GROUP BY ALL
)
SELECT url_host_name AS host, pages, duplicates, pages - duplicates AS "unique", refused, coalesce(seen_again, 0)::BIGINT AS seen_again, waiting
FROM hosts
LEFT JOIN again USING (url_host_name)
ORDER BY host
