-- Buckets of the crawldb written anew. Views: crawldb_delta (live rows of deltas), inlinks_live (live rows of inlinks),
-- base_frontier and base_visited (the base files of the bucket at work). delta_here and link_here: their rows of the
-- buckets at work.

-- step: carried
CREATE TABLE carried (host_key UBIGINT, url_key UBIGINT, inlinks INTEGER)

-- step: count
-- Number of URLs. View: whole_base.
WITH changed AS (SELECT DISTINCT host_key, url_key FROM crawldb_delta)
SELECT (
  (SELECT count(*) FROM (SELECT host_key, url_key FROM whole_base) ANTI JOIN changed USING (host_key, url_key))
  + (SELECT count(*) FROM changed)
)::BIGINT AS n

-- step: taken
-- Rows of deltas that these buckets take up, of each URL the newest; and their changes of inlinks.
CREATE OR REPLACE TABLE taken_key AS
SELECT d.host_key, d.url_key, max(d.revision) AS revision
FROM delta_here d
GROUP BY ALL;

CREATE OR REPLACE TABLE taken AS
SELECT d.* FROM delta_here d SEMI JOIN taken_key USING (host_key, url_key, revision);

CREATE OR REPLACE TABLE taken_link AS
SELECT i.host_key, i.url_key, sum(i.inlinks)::INTEGER AS inlinks
FROM link_here i
GROUP BY ALL;

-- step: rows
-- The bucket as it will be, by list.
CREATE OR REPLACE VIEW row_frontier AS
WITH newest AS (
  SELECT * FROM base_frontier ANTI JOIN taken_key USING (host_key, url_key)
  UNION ALL
  SELECT * FROM taken
)
SELECT n.* REPLACE (n.inlinks + coalesce(l.inlinks, 0) AS inlinks)
FROM newest n LEFT JOIN taken_link l USING (host_key, url_key);

CREATE OR REPLACE VIEW row_visited AS
WITH newest AS (
  SELECT * FROM base_visited ANTI JOIN taken_key USING (host_key, url_key)
  UNION ALL
  SELECT * FROM taken
)
SELECT n.* REPLACE (n.inlinks + coalesce(l.inlinks, 0) AS inlinks)
FROM newest n LEFT JOIN taken_link l USING (host_key, url_key);

-- step: carry
-- Changes for URLs that the crawldb does not know: kept, since it may come to know them. $first, $last: the bucket.
INSERT INTO carried
SELECT l.host_key, l.url_key, l.inlinks
FROM taken_link l
ANTI JOIN (
  SELECT host_key, url_key FROM base_frontier
  UNION ALL
  SELECT host_key, url_key FROM base_visited
  UNION ALL
  SELECT host_key, url_key FROM taken
) USING (host_key, url_key)
WHERE l.host_key BETWEEN $first AND $last AND l.inlinks <> 0;

-- step: merge
-- Of each URL the newest row in the deltas that become one.
CREATE OR REPLACE VIEW merged AS
SELECT d.* FROM crawldb_delta d SEMI JOIN (
  SELECT host_key, url_key, max(revision) AS revision FROM crawldb_delta GROUP BY ALL
) USING (host_key, url_key, revision);
