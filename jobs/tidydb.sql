-- Upkeep of the crawldb by today's rules. Views: crawldb (as its files have it), linkdb, hoststats, seeds.

-- step: urls
-- All URLs with what the scope asks about. $scope_reasons: comma separated.
WITH seed_fact AS (
  SELECT url AS seed, arg_max(scope, injected_time) AS scope
  FROM seeds WHERE outcome IN ('added', 'updated')
  GROUP BY url
)
SELECT
  c.host_key, c.url_key, c.url, c.depth, c.seed, c.hop_type, c.discovered_from, c.sitemap_depth, f.scope,
  CASE WHEN c.status = 'gone' AND list_contains(string_split($scope_reasons, ','), c.reason) THEN c.reason END
    AS refused
FROM crawldb c LEFT JOIN seed_fact f USING (seed)

-- step: links
-- What links lead to: not those of a page to itself, nor those of orphans. Tables: change (host_key, url_key, kind, reason);
-- lost: the orphans so far.
CREATE TABLE lost AS SELECT host_key, url_key FROM crawldb WHERE status = 'orphan';
CREATE VIEW other_link AS
SELECT
  target_host_key AS host_key, target_url_key AS url_key, source_host_key, source_url_key
FROM linkdb_all
WHERE target_url_key <> source_url_key OR target_host_key <> source_host_key;
CREATE VIEW target AS
SELECT DISTINCT o.host_key, o.url_key
FROM other_link o ANTI JOIN lost l ON l.host_key = o.source_host_key AND l.url_key = o.source_url_key;

-- step: released
-- Orphans to which a link leads again; then those to which these lead.
CREATE OR REPLACE TABLE found AS
SELECT host_key, url_key FROM lost SEMI JOIN target USING (host_key, url_key) ANTI JOIN change USING (host_key, url_key);
INSERT INTO change SELECT host_key, url_key, 'released', NULL FROM found;
DELETE FROM lost l USING found f WHERE l.host_key = f.host_key AND l.url_key = f.url_key;

-- step: candidates
-- Pages that were found by a link, long ago: before $before. A redirect that leads to one holds it as a link does.
CREATE TABLE candidate AS
WITH redirect AS (
  SELECT DISTINCT fetch_redirect AS url FROM crawldb
  WHERE status IN ('redir_temp', 'redir_perm') AND fetch_redirect IS NOT NULL
)
SELECT c.host_key, c.url_key
FROM crawldb c ANTI JOIN redirect USING (url) ANTI JOIN change USING (host_key, url_key)
WHERE c.hop_type IN ('L', 'E') AND c.discovered_from IS NOT NULL AND c.sitemap_depth IS NULL
  AND c.discovered_time < $before AND c.status NOT IN ('orphan', 'gone');
CREATE VIEW asked AS FROM candidate;

-- step: orphans
-- Those to which none leads any more.
CREATE OR REPLACE TABLE found AS FROM asked ANTI JOIN target USING (host_key, url_key);
INSERT INTO change SELECT host_key, url_key, 'orphan', NULL FROM found;
INSERT INTO lost FROM found;
-- Then those to which these led.
CREATE OR REPLACE VIEW asked AS
SELECT host_key, url_key FROM candidate
SEMI JOIN (
  SELECT o.host_key, o.url_key FROM other_link o
  SEMI JOIN found f ON f.host_key = o.source_host_key AND f.url_key = o.source_url_key
) USING (host_key, url_key)
ANTI JOIN lost USING (host_key, url_key);

-- step: changed
-- Rows that change. What is known of their last success stays. $now: released rows are due.
CREATE TABLE changed AS
SELECT c.* REPLACE (
  CASE h.kind
    WHEN 'refused' THEN 'gone' WHEN 'orphan' THEN 'orphan'
    ELSE CASE WHEN c.last_success_time IS NULL THEN 'unfetched' ELSE 'fetched' END
  END AS status,
  h.reason AS reason,
  CASE WHEN h.kind = 'released' THEN $now ELSE $never END AS next_fetch_time,
  CASE WHEN h.kind = 'released' THEN 0 ELSE c.retries END AS retries,
  NULL AS duplicate_of, NULL AS duplicate_kind, NULL AS similar_to
)
FROM crawldb c JOIN change h USING (host_key, url_key);

-- step: purge
-- Rows that go: gone for good or orphaned, not asked for since $before, and no seeds. A refusal (robots.txt, the scope,
-- an address) is no reason: forgotten, it would be found and asked about again.
CREATE TABLE purged AS
SELECT host_key, url_key FROM (
  SELECT * FROM crawldb ANTI JOIN changed USING (host_key, url_key) UNION ALL SELECT * FROM changed
)
WHERE discovered_from IS NOT NULL AND coalesce(fetch_time, discovered_time) < $before
  AND (status = 'orphan' OR (status = 'gone' AND (reason IS NULL OR list_contains(string_split($failures, ','), reason))));

-- step: current_row
-- The crawldb as it will be, and the rows that change as they will be and as they were; what jobs/crawldb/repeats.sql
-- looks at.
CREATE VIEW touched AS SELECT * FROM changed ANTI JOIN purged USING (host_key, url_key);
CREATE VIEW current_row AS
SELECT * FROM crawldb ANTI JOIN changed USING (host_key, url_key) ANTI JOIN purged USING (host_key, url_key)
UNION ALL
SELECT * FROM touched;
CREATE TABLE former_row AS
SELECT host_key, url_key, url, status, signature, text_signature, simhash, duplicate_of, duplicate_kind, similar_to
FROM crawldb SEMI JOIN (
  SELECT host_key, url_key FROM changed UNION ALL SELECT host_key, url_key FROM purged
) USING (host_key, url_key);

-- step: delta
-- The rows that change, those whose standing as duplicates does among them.
CREATE VIEW delta AS
SELECT * FROM touched ANTI JOIN dedup_row USING (host_key, url_key) UNION ALL SELECT * FROM dedup_row;

-- step: next_row
CREATE VIEW next_row AS
SELECT * FROM current_row ANTI JOIN dedup_row USING (host_key, url_key) UNION ALL SELECT * FROM dedup_row;

-- step: unknown
-- Inlinks of URLs that are no rows: not known yet, or forgotten now. View inlinks_live: changes that no bucket has taken up.
SELECT host_key, url_key, sum(inlinks)::INTEGER AS inlinks
FROM (
  SELECT host_key, url_key, inlinks FROM inlinks_live
  ANTI JOIN (SELECT host_key, url_key FROM crawldb) USING (host_key, url_key)
  UNION ALL
  SELECT host_key, url_key, inlinks FROM crawldb SEMI JOIN purged USING (host_key, url_key)
)
GROUP BY ALL

-- step: host_ever
-- What was ever fetched stays.
CREATE VIEW host_ever AS FROM hoststats;

-- step: reasons
SELECT reason, count(*)::BIGINT AS n FROM change WHERE kind = 'refused' GROUP BY reason ORDER BY reason;

-- step: totals
SELECT
  count(*) FILTER (kind = 'refused')::BIGINT AS refused,
  count(*) FILTER (kind = 'orphan')::BIGINT AS orphaned,
  count(*) FILTER (kind = 'released')::BIGINT AS released
FROM change;
