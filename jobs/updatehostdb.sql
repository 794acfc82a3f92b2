-- Counts of hosts anew, from all rows of the crawldb. Views: crawldb, hoststats.

-- step: rows
CREATE VIEW next_row AS FROM crawldb;

-- step: host_ever
-- What was ever fetched, and how much of it was new, only rounds can tell: that stays. Of a host without a row the pages
-- are those that rows of the crawldb show.
CREATE VIEW host_ever AS
SELECT * FROM hoststats
UNION ALL BY NAME
SELECT host_key, count(*) FILTER (last_success_time IS NOT NULL AND sitemap_depth IS NULL) AS pages_fetched
FROM crawldb ANTI JOIN hoststats USING (host_key) GROUP BY host_key;

-- step: changes
SELECT
  count(*)::BIGINT AS hosts,
  count(*) FILTER (b.host_key IS NULL)::BIGINT AS added,
  count(*) FILTER (b.host_key IS NOT NULL AND a IS DISTINCT FROM b)::BIGINT AS changed
FROM new_hoststats a LEFT JOIN hoststats b USING (host_key);
