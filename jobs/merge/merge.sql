-- Several crawls into one. Tables and views: crawldb, linkdb, hoststats, pathstats, robots, hoststate, hostrules, seeds of the crawl
-- that takes them in; other_crawldb … of the others, each with a column origin that numbers them from 1.
-- Rows that become one: jobs/crawldb/one.sql, with the variable shared where some segment is in two of the crawls.

-- step: clashes
-- Two URLs of one key pair: the one that was here stays, or that of the first crawl.
CREATE VIEW every_row AS
SELECT *, 0 AS origin FROM crawldb UNION ALL BY NAME SELECT * FROM other_crawldb;
CREATE TABLE several AS
SELECT host_key, url_key, arg_min(url, origin) AS url, count(DISTINCT url) - 1 AS clashes
FROM every_row GROUP BY ALL HAVING count(*) > 1;
CREATE VIEW member AS SELECT e.* FROM every_row e SEMI JOIN several s USING (host_key, url_key, url);

-- step: links
-- The links of a page are those of the crawl that was told of it last, none if it has none there.
CREATE VIEW every_link AS
SELECT *, 0 AS origin FROM linkdb_all UNION ALL BY NAME SELECT * FROM other_linkdb;
CREATE TABLE next_source AS
WITH told AS (
  SELECT source_host_key, source_url_key, fetch_time, 0 AS origin FROM linksources
  UNION ALL
  SELECT source_host_key, source_url_key, fetch_time, origin FROM other_linksources
  UNION ALL
  -- A linkdb from before there were linksources: each page with links in it was told
  SELECT source_host_key, source_url_key, fetch_time, origin FROM every_link
)
SELECT source_host_key, source_url_key, max(fetch_time) AS fetch_time, arg_max(origin, (fetch_time, -origin)) AS origin
FROM told GROUP BY ALL;

-- Whatever is told of a page from now on is newer: revisions of another crawl mean nothing here.
CREATE TABLE next_link AS
SELECT l.* EXCLUDE (origin) REPLACE (0::BIGINT AS revision)
FROM every_link l SEMI JOIN next_source USING (source_host_key, source_url_key, origin);

CREATE TABLE linked AS
SELECT target_host_key AS host_key, target_url_key AS url_key, count(*)::INTEGER AS inlinks
FROM next_link GROUP BY ALL;

-- step: sources
SELECT source_host_key, source_url_key, fetch_time, false AS again, 0::BIGINT AS revision
FROM next_source ORDER BY source_host_key, source_url_key

-- step: current_row
-- The crawldb as it will be, but for duplicates; the rows that others have brought or changed, as they will be and as they
-- were; what jobs/crawldb/repeats.sql looks at.
CREATE VIEW current_row AS
WITH one AS (
  SELECT e.* EXCLUDE (origin) FROM every_row e ANTI JOIN several USING (host_key, url_key)
  UNION ALL
  SELECT * FROM one_row
)
SELECT o.* REPLACE (coalesce(l.inlinks, 0)::INTEGER AS inlinks)
FROM one o LEFT JOIN linked l USING (host_key, url_key);
CREATE TABLE touched AS SELECT c.* FROM current_row c SEMI JOIN other_crawldb USING (host_key, url_key);
CREATE TABLE former_row AS
SELECT host_key, url_key, url, status, signature, text_signature, simhash, duplicate_of, duplicate_kind, similar_to
FROM every_row e SEMI JOIN other_crawldb USING (host_key, url_key)
QUALIFY row_number() OVER (PARTITION BY host_key, url_key ORDER BY origin) = 1;

-- step: next_row
CREATE VIEW next_row AS
SELECT * FROM current_row ANTI JOIN dedup_row USING (host_key, url_key) UNION ALL SELECT * FROM dedup_row;

-- step: unknown
-- Inlinks of URLs that are no rows.
SELECT * FROM linked ANTI JOIN (SELECT host_key, url_key FROM next_row) USING (host_key, url_key)

-- step: host_ever
-- What was ever fetched of hosts is added up.
CREATE VIEW host_ever AS
SELECT
  host_key, min(url_host_name) AS url_host_name, min(url_host_registered_domain) AS url_host_registered_domain,
  CASE WHEN getvariable('shared') THEN max(pages_fetched) ELSE sum(pages_fetched) END AS pages_fetched,
  CASE WHEN getvariable('shared') THEN max(body_bytes) ELSE sum(body_bytes) END AS body_bytes,
  CASE WHEN getvariable('shared') THEN max(over_budget) ELSE sum(over_budget) END AS over_budget,
  CASE WHEN getvariable('shared') THEN max(novel_bytes) ELSE sum(novel_bytes) END AS novel_bytes,
  arg_max(recent_pages, h.urls) AS recent_pages, arg_max(recent_new, h.urls) AS recent_new
FROM (SELECT * FROM hoststats UNION ALL BY NAME SELECT * EXCLUDE (origin) FROM other_hoststats) h GROUP BY host_key;

-- Hosts: their state by the last answer, and asked again when all crawls allow it; of robots.txt files the one read last;
-- of rules by hand the one that was here.

-- step: hoststate_rows
WITH every AS (
  SELECT *, 0 AS origin FROM hoststate UNION ALL BY NAME SELECT * FROM other_hoststate
)
SELECT * EXCLUDE (origin) REPLACE (
  max(next_allowed_time) OVER (PARTITION BY host_key) AS next_allowed_time
)
FROM every
QUALIFY row_number() OVER (PARTITION BY host_key ORDER BY last_response_time DESC NULLS LAST, origin) = 1
ORDER BY host_key

-- step: robots_rows
WITH every AS (
  SELECT *, 0 AS origin_number FROM robots
  UNION ALL BY NAME
  SELECT * FROM other_robots
)
SELECT * EXCLUDE (origin_number) FROM every
QUALIFY row_number() OVER (PARTITION BY origin ORDER BY fetched_time DESC, origin_number) = 1
ORDER BY origin

-- step: hostrules_rows
WITH every AS (
  SELECT *, 0 AS origin FROM hostrules UNION ALL BY NAME SELECT * FROM other_hostrules
)
SELECT * EXCLUDE (origin) FROM every
QUALIFY row_number() OVER (PARTITION BY url_host_name ORDER BY origin) = 1
ORDER BY url_host_name

-- step: familyrules_rows
WITH every AS (
  SELECT *, 0 AS origin FROM familyrules UNION ALL BY NAME SELECT * FROM other_familyrules
)
SELECT * EXCLUDE (origin) FROM every
QUALIFY row_number() OVER (PARTITION BY place, pattern ORDER BY origin) = 1
ORDER BY place, pattern

-- step: families_rows
-- Of a family that several crawls judge, what the one knows that saw the most of it.
WITH every AS (
  SELECT *, 0 AS origin FROM families UNION ALL BY NAME SELECT * FROM other_families
)
SELECT * EXCLUDE (origin) FROM every
QUALIFY row_number() OVER (PARTITION BY place, pattern ORDER BY pages DESC, origin) = 1
ORDER BY place, pattern

-- step: pathstats_rows
-- Of a folder, the yield of the crawl that saw the most pages of it.
WITH every AS (
  SELECT *, 0 AS origin FROM pathstats UNION ALL BY NAME SELECT * FROM other_pathstats
)
SELECT * EXCLUDE (origin) FROM every
QUALIFY row_number() OVER (PARTITION BY host_key, path ORDER BY recent_pages DESC, origin) = 1
ORDER BY host_key, path

-- step: seedstats
-- What was fetched for seeds. Their URLs are counted anew, by the rows.
CREATE TABLE every_seed AS
WITH every AS (
  SELECT * FROM seedstats UNION ALL BY NAME SELECT * EXCLUDE (origin) FROM other_seedstats
)
SELECT
  seed,
  CASE WHEN getvariable('shared') THEN max(pages_fetched) ELSE sum(pages_fetched) END::BIGINT AS pages_fetched,
  CASE WHEN getvariable('shared') THEN max(body_bytes) ELSE sum(body_bytes) END::BIGINT AS body_bytes,
  CASE WHEN getvariable('shared') THEN max(novel_bytes) ELSE sum(novel_bytes) END::BIGINT AS novel_bytes,
  CASE WHEN getvariable('shared') THEN max(over_budget) ELSE sum(over_budget) END::BIGINT AS over_budget
FROM every GROUP BY seed;
CREATE OR REPLACE VIEW seedstats AS SELECT * FROM every_seed;

-- step: seeds_rows
SELECT * EXCLUDE (origin) FROM other_seeds
EXCEPT
SELECT * FROM seeds

-- step: totals
SELECT
  (SELECT count(*) FROM other_crawldb)::BIGINT AS read,
  (SELECT count(DISTINCT (host_key, url_key)) FROM every_row)::BIGINT - (SELECT count(*) FROM crawldb)::BIGINT AS added,
  (SELECT count(*) FROM several)::BIGINT AS merged,
  (SELECT coalesce(sum(clashes), 0) FROM several)::BIGINT AS clashes,
  (SELECT count(*) FROM next_link WHERE cut IS NOT true)::BIGINT AS links;
