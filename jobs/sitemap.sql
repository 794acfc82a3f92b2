-- Sitemaps that robots.txt files name, or that a person does. Views: crawldb, hoststats, robots, seeds.

-- step: lineage
-- Where a sitemap of a host stands among its pages: as near to a seed as the nearest, and as valued as the best.
CREATE TABLE seed_fact AS
SELECT url AS seed, arg_max(tag, injected_time) AS tag
FROM seeds WHERE outcome IN ('added', 'updated')
GROUP BY url;

CREATE TABLE lineage AS
WITH nearest AS (
  SELECT host_key, min(depth) AS depth, max(score) AS score
  FROM (SELECT host_key, depth, score FROM crawldb WHERE sitemap_depth IS NULL)
  SEMI JOIN robots USING (host_key)
  GROUP BY host_key
), named AS (
  SELECT n.host_key, n.depth, n.score, min(c.seed) AS seed
  FROM nearest n JOIN (SELECT host_key, depth, seed FROM crawldb WHERE sitemap_depth IS NULL) c
  USING (host_key, depth)
  GROUP BY ALL
)
SELECT n.*, f.tag FROM named n LEFT JOIN seed_fact f USING (seed);

-- step: origins
-- The robots.txt files of hosts of which a page is known.
SELECT r.origin, r.sitemaps, l.depth, l.score, l.seed, l.tag
FROM robots r JOIN lineage l USING (host_key)
ORDER BY r.origin

-- step: decide
-- What becomes of each sitemap found. Table found: n in order of finding; own: the host itself names it, or a person
-- does; only then a URL that is known as a page becomes a sitemap. $most: sitemaps of a host.
CREATE TABLE known AS
SELECT c.* FROM crawldb c SEMI JOIN (SELECT host_key, url_key FROM found WHERE reason IS NULL) f
USING (host_key, url_key);

CREATE TABLE known_sitemap AS
SELECT host_key, count(*) AS sitemaps
FROM (SELECT host_key FROM crawldb WHERE sitemap_depth IS NOT NULL) SEMI JOIN found USING (host_key)
GROUP BY host_key;

CREATE TABLE decided AS
WITH judged AS (
  SELECT
    f.n, f.host_key,
    CASE
      WHEN f.first_url <> f.url OR k.url <> f.url THEN 'key_clash'
      WHEN f.nth > 1 THEN 'known'
      WHEN k.url IS NULL THEN 'added'
      WHEN k.sitemap_depth IS NULL AND f.any_own THEN 'updated'
      ELSE 'known'
    END AS outcome
  FROM (
    SELECT
      *,
      row_number() OVER (same_key ORDER BY n) AS nth,
      first_value(url) OVER (same_key ORDER BY n) AS first_url,
      bool_or(own) OVER same_key AS any_own
    FROM found WHERE reason IS NULL
    WINDOW same_key AS (PARTITION BY host_key, url_key)
  ) f LEFT JOIN known k USING (host_key, url_key)
)
SELECT
  j.n,
  CASE
    WHEN j.outcome = 'added' AND coalesce(s.sitemaps, 0)
      + row_number() OVER (PARTITION BY j.host_key, j.outcome ORDER BY j.n) > $most THEN 'sitemap_limit'
    ELSE j.outcome
  END AS outcome
FROM judged j LEFT JOIN known_sitemap s USING (host_key);

-- step: delta
-- New rows, due at once; and pages that are sitemaps from now on.
CREATE TABLE delta AS
SELECT
  f.host_key, f.url_key, f.url, f.url_host_name, f.url_host_registered_domain,
  'unfetched' AS status, NULL::VARCHAR AS reason,
  f.score, f.depth, f.seed, f.tag, NULL::VARCHAR AS metadata, f.hop_type,
  $now::TIMESTAMPTZ AS discovered_time, f.discovered_from,
  $now::TIMESTAMPTZ AS next_fetch_time,
  $interval_s::INTEGER AS fetch_interval_s, false AS fixed_interval,
  0::INTEGER AS retries,
  NULL::TIMESTAMPTZ AS fetch_time, NULL::VARCHAR AS fetch_segment, NULL::SMALLINT AS fetch_status,
  NULL::VARCHAR AS fetch_redirect,
  NULL::TIMESTAMPTZ AS last_success_time, NULL::VARCHAR AS last_success_segment,
  NULL::TIMESTAMPTZ AS modified_time, NULL::VARCHAR AS content_digest,
  NULL::BLOB AS signature, NULL::BLOB AS text_signature, NULL::UBIGINT AS simhash,
  NULL::VARCHAR AS etag, NULL::VARCHAR AS last_modified,
  0::INTEGER AS visits, 0::INTEGER AS changes, NULL::VARCHAR AS duplicate_of,
  0::INTEGER AS inlinks, NULL::VARCHAR AS updated_segment,
  0::BIGINT AS revision, NULL::VARCHAR AS canonical_url, 0::INTEGER AS sitemap_depth
FROM found f JOIN decided d USING (n)
WHERE d.outcome = 'added'
UNION ALL BY NAME
SELECT k.* REPLACE (0::INTEGER AS sitemap_depth)
FROM found f JOIN decided d USING (n) JOIN known k USING (host_key, url_key)
WHERE d.outcome = 'updated';

-- step: outcomes
SELECT
  coalesce(d.outcome, 'rejected') AS outcome,
  CASE WHEN d.outcome IN ('added', 'updated', 'known') THEN NULL ELSE coalesce(f.reason, d.outcome) END AS reason,
  f.n, f.text, f.detail, f.discovered_from, f.by_hand
FROM found f LEFT JOIN decided d USING (n)
