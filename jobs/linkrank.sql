-- PageRank of pages, hosts and domains. Views: linkdb, hoststats, crawldb.
-- Each level brings two tables: node (key_a, key_b; its number is its place, from 0) and edge (a_source, b_source,
-- a_target, b_target), each pair once. Links of a page, host or domain to itself say nothing and are left out.

-- step: page_edge
-- $internal: links within a host count too.
CREATE VIEW edge AS
SELECT
  source_host_key AS a_source, source_url_key AS b_source, target_host_key AS a_target, target_url_key AS b_target
FROM linkdb
WHERE (source_host_key, source_url_key) <> (target_host_key, target_url_key) AND (NOT internal OR getvariable('internal'));

-- step: host_edge
CREATE TABLE edge AS
SELECT source_host_key AS a_source, 0::UBIGINT AS b_source, target_host_key AS a_target, 0::UBIGINT AS b_target
FROM linkdb WHERE source_host_key <> target_host_key
GROUP BY ALL;

-- step: host_name
-- Names of all hosts of the linkdb, and the domain of each: the host itself where no URL of it is known.
CREATE TABLE host_name AS
WITH url AS (
  SELECT target_host_key AS host_key, any_value(target_url) AS url FROM linkdb GROUP BY ALL
  UNION ALL
  SELECT source_host_key, any_value(source_url) FROM linkdb GROUP BY ALL
), named AS (
  SELECT host_key, regexp_extract(any_value(url), '^[a-z]+://(\[[^\]]*\]|[^/?#:]*)', 1) AS name FROM url GROUP BY ALL
)
SELECT n.host_key, n.name, coalesce(h.url_host_registered_domain, n.name) AS domain
FROM named n LEFT JOIN hoststats h USING (host_key);

-- step: domain_edge
-- Table domain_key (name, domain_key).
CREATE TABLE edge AS
SELECT s.domain_key AS a_source, 0::UBIGINT AS b_source, t.domain_key AS a_target, 0::UBIGINT AS b_target
FROM (SELECT DISTINCT source_host_key, target_host_key FROM linkdb WHERE source_host_key <> target_host_key) l
JOIN host_name sh ON sh.host_key = l.source_host_key
JOIN host_name th ON th.host_key = l.target_host_key
JOIN domain_key s ON s.name = sh.domain
JOIN domain_key t ON t.name = th.domain
WHERE s.domain_key <> t.domain_key
GROUP BY ALL;

-- step: node
CREATE TABLE node AS
SELECT key_a, key_b FROM (
  SELECT DISTINCT a_source AS key_a, b_source AS key_b FROM edge
  UNION
  SELECT DISTINCT a_target, b_target FROM edge
) ORDER BY key_a, key_b;

-- step: numbered
-- Links by the numbers of their ends, in the order that the graph is built in.
CREATE TABLE numbered AS
SELECT s.rowid::INTEGER AS source, t.rowid::INTEGER AS target
FROM edge e
JOIN node s ON s.key_a = e.a_source AND s.key_b = e.b_source
JOIN node t ON t.key_a = e.a_target AND t.key_b = e.b_target;

-- step: page_name
-- URLs of the pages of some hosts, from $first to $last: as the crawldb has them, else as a link to them does, else as
-- one of their own.
CREATE TABLE page_name AS
WITH page AS (
  SELECT key_a, key_b FROM node WHERE key_a BETWEEN $first AND $last
), known AS (
  SELECT p.key_a, p.key_b, c.url
  FROM page p
  JOIN (SELECT host_key, url_key, url FROM crawldb WHERE host_key BETWEEN $first AND $last) c
  ON c.host_key = p.key_a AND c.url_key = p.key_b
), unknown AS (
  FROM page ANTI JOIN known USING (key_a, key_b)
), target AS (
  SELECT target_host_key AS key_a, target_url_key AS key_b, min(target_url) AS url
  FROM (FROM linkdb WHERE target_host_key BETWEEN $first AND $last)
  SEMI JOIN unknown u ON u.key_a = target_host_key AND u.key_b = target_url_key
  GROUP BY ALL
), source AS (
  SELECT source_host_key AS key_a, source_url_key AS key_b, min(source_url) AS url
  FROM linkdb
  SEMI JOIN (FROM unknown ANTI JOIN target USING (key_a, key_b)) u
  ON u.key_a = source_host_key AND u.key_b = source_url_key
  GROUP BY ALL
)
FROM known UNION ALL FROM target UNION ALL FROM source;

-- step: page_rows
SELECT
  'page' AS level, n.key_a AS host_key, n.key_b AS url_key, p.url AS name,
  r.rank, r.rank * $nodes AS score, r.inlinks, r.outlinks
FROM node n JOIN ranked r ON r.id = n.rowid JOIN page_name p ON p.key_a = n.key_a AND p.key_b = n.key_b
WHERE n.key_a BETWEEN $first AND $last
ORDER BY host_key, url_key

-- step: host_rows
SELECT
  'host' AS level, n.key_a AS host_key, NULL::UBIGINT AS url_key, h.name,
  r.rank, r.rank * $nodes AS score, r.inlinks, r.outlinks
FROM node n JOIN ranked r ON r.id = n.rowid JOIN host_name h ON h.host_key = n.key_a
ORDER BY host_key

-- step: domain_rows
SELECT
  'domain' AS level, n.key_a AS host_key, NULL::UBIGINT AS url_key, d.name,
  r.rank, r.rank * $nodes AS score, r.inlinks, r.outlinks
FROM node n JOIN ranked r ON r.id = n.rowid JOIN domain_key d ON d.domain_key = n.key_a
ORDER BY host_key

-- step: scored
-- Rows of the crawldb whose score becomes that of their page.
CREATE TABLE delta AS
SELECT c.* REPLACE (r.rank * $nodes AS score)
FROM crawldb c
JOIN node n ON n.key_a = c.host_key AND n.key_b = c.url_key
JOIN ranked r ON r.id = n.rowid
WHERE c.score <> r.rank * $nodes;

CREATE VIEW before_delta AS SELECT * FROM crawldb_of('delta');
