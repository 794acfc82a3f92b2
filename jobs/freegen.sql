-- A fetchlist straight from a list of URLs. Tables: line (n, the URL and its keys, score, reason), locked, host, held;
-- views: crawldb.

-- step: judged
-- Each line with why it is left out; of several lines with one URL the first counts, and the others are none.
WITH first_line AS (
  SELECT *, first_value(url) OVER same AS first_url
  FROM line WHERE reason IS NULL
  WINDOW same AS (PARTITION BY host_key, url_key ORDER BY n)
  QUALIFY row_number() OVER same = 1 OR url <> first_url
)
SELECT
  f.* EXCLUDE (reason),
  CASE
    WHEN f.url <> f.first_url OR c.url <> f.url THEN 'key_clash'
    WHEN h.reason = 'host_blocked' THEN 'host_blocked'
    WHEN l.url_key IS NOT NULL THEN 'open_segment'
  END AS reason
FROM first_line f
LEFT JOIN (SELECT host_key, url_key, url FROM crawldb) c USING (host_key, url_key)
LEFT JOIN locked l USING (host_key, url_key)
LEFT JOIN host h USING (host_key)

-- step: chosen
-- What is left, in the order of the list, with what is known of it. A URL that the crawldb does not know is its own seed.
SELECT
  0 AS part, row_number() OVER (ORDER BY j.n)::INTEGER AS rank,
  j.host_key, j.url_key, j.url, j.url_host_name, j.url_host_registered_domain,
  CASE WHEN c.sitemap_depth IS NULL THEN 'page' ELSE 'sitemap' END AS kind,
  'forced' AS selected_as,
  coalesce(j.score, c.score, $score)::DOUBLE AS score, coalesce(c.depth, 0)::INTEGER AS depth,
  CASE WHEN c.url IS NULL THEN j.url ELSE c.seed END AS seed,
  CASE WHEN h.segment IS NOT NULL THEN c.etag END AS etag,
  CASE WHEN h.segment IS NOT NULL THEN c.last_modified END AS last_modified,
  CASE WHEN h.segment IS NOT NULL THEN c.content_digest END AS content_digest,
  h.segment AS content_segment
FROM judged j
LEFT JOIN crawldb c USING (host_key, url_key)
LEFT JOIN held h ON h.segment = c.last_success_segment
WHERE j.reason IS NULL
