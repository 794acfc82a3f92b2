-- Files of the linkdb. Buckets are written anew: what pages told anew had before goes, and of too many links to one page
-- all but the best are marked as cut. View: here (the links of the bucket at work, as the view linkdb_all has them).

-- step: crowded
-- Targets with more than $max_inlinks.
CREATE OR REPLACE TABLE crowded AS
SELECT target_host_key, target_url_key FROM here GROUP BY ALL HAVING count(*) > $max_inlinks;

-- step: no_surplus
-- Where there are none.
CREATE OR REPLACE TABLE surplus (
  target_host_key UBIGINT, target_url_key UBIGINT, source_host_key UBIGINT, source_url_key UBIGINT
);

-- step: surplus
-- Their links that are cut: the lower scores of sources, then the higher keys. Macro: crawldb_of. $max_inlinks.
CREATE OR REPLACE TABLE rival AS
SELECT DISTINCT h.source_host_key AS host_key, h.source_url_key AS url_key
FROM here h SEMI JOIN crowded USING (target_host_key, target_url_key);

CREATE OR REPLACE TABLE surplus AS
SELECT h.target_host_key, h.target_url_key, h.source_host_key, h.source_url_key
FROM here h
SEMI JOIN crowded USING (target_host_key, target_url_key)
LEFT JOIN (SELECT host_key, url_key, score FROM crawldb_of('rival')) c
  ON c.host_key = h.source_host_key AND c.url_key = h.source_url_key
QUALIFY row_number() OVER (
  PARTITION BY h.target_host_key, h.target_url_key
  ORDER BY coalesce(c.score, 0) DESC, h.source_host_key, h.source_url_key
) > $max_inlinks;

-- step: cut
-- How many more are cut than were before.
SELECT (SELECT count(*) FROM surplus)::BIGINT - (SELECT count(*) FROM here WHERE cut)::BIGINT AS n

-- step: rows
SELECT h.* REPLACE (CASE WHEN s.source_url_key IS NOT NULL THEN true END AS cut)
FROM here h LEFT JOIN surplus s
  ON s.target_host_key = h.target_host_key AND s.target_url_key = h.target_url_key
  AND s.source_host_key = h.source_host_key AND s.source_url_key = h.source_url_key
ORDER BY target_host_key, target_url_key, source_host_key, source_url_key

-- step: new_sources
-- The pages told by these segments. Table: source. $revision.
CREATE TABLE told_source AS
SELECT host_key AS source_host_key, url_key AS source_url_key, fetch_time, again, $revision::BIGINT AS revision
FROM source

-- step: sources
-- All pages that were ever told, the newest telling of each. View: linksources. $revision; $passed: what all buckets of
-- the linkdb have taken up, so that it matters no more whether a page had been told before.
CREATE TABLE told_source AS
SELECT * REPLACE (again AND revision > $passed AS again)
FROM (
  SELECT * FROM linksources
  UNION ALL
  SELECT host_key, url_key, fetch_time, again, $revision::BIGINT FROM source
)
QUALIFY row_number() OVER (PARTITION BY source_host_key, source_url_key ORDER BY revision DESC) = 1
