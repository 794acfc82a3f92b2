-- The outcome of fetched segments, merged into the crawldb. jobs/updatedb/task.ts runs the steps of the files beside it.
-- Views: crawldb, captures (fetch), parse, outlinks, seeds, hoststate, hoststats.
-- Table segs (segment, mode, parse_id): apply (outcomes and links), reparse (signatures and links of a segment applied
-- before), history (applied before; read for URLs whose outcomes come late).

-- step: outcomes
-- One row for each outcome of a URL: its own, or that of a redirect that led to it. Few rows: what the round fetched.
CREATE TABLE outcome AS
SELECT
  c.host_key, c.url_key, c.url, c.kind, c.hop, c.origin_url, c.depth, c.seed,
  c.segment, c.status, c.reason, c.fetch_time, c.fetch_status, c.fetch_redirect,
  c.content_digest, c.content_segment, c.content_mime_type, c.etag, c.last_modified,
  p.status AS parse_status, p.reason AS parse_reason, p.signature, p.text_signature, p.simhash, p.canonical_url,
  h.next_allowed_time AS host_allowed,
  s.mode
FROM captures c
JOIN segs s USING (segment)
LEFT JOIN parse p USING (segment, capture_id)
LEFT JOIN hoststate h ON h.host_key = c.host_key
WHERE s.mode = 'apply' AND c.kind IN ('page', 'hop', 'sitemap', 'imported');

-- What is known of the URLs asked for, numbered in order of key.
CREATE TABLE visited_key AS
SELECT host_key, url_key, row_number() OVER (ORDER BY host_key, url_key) - 1 AS n, false AS late
FROM (SELECT DISTINCT host_key, url_key FROM outcome);

CREATE TABLE old_row AS
SELECT * FROM crawldb_of('visited_key');

-- step: late
-- URLs whose row holds newer outcomes than these: all their outcomes are read again.
UPDATE visited_key SET late = true
FROM (
  SELECT DISTINCT o.host_key, o.url_key
  FROM outcome o JOIN old_row r USING (host_key, url_key)
  WHERE o.fetch_time < r.fetch_time OR o.segment < r.updated_segment
) l
WHERE visited_key.host_key = l.host_key AND visited_key.url_key = l.url_key;

INSERT INTO outcome
SELECT
  c.host_key, c.url_key, c.url, c.kind, c.hop, c.origin_url, c.depth, c.seed,
  c.segment, c.status, c.reason, c.fetch_time, c.fetch_status, c.fetch_redirect,
  c.content_digest, c.content_segment, c.content_mime_type, c.etag, c.last_modified,
  p.status, p.reason, p.signature, p.text_signature, p.simhash, p.canonical_url,
  h.next_allowed_time,
  s.mode
FROM captures c
JOIN segs s USING (segment)
SEMI JOIN (SELECT host_key, url_key FROM visited_key WHERE late) v USING (host_key, url_key)
LEFT JOIN parse p USING (segment, capture_id)
LEFT JOIN hoststate h ON h.host_key = c.host_key
WHERE s.mode = 'history' AND c.kind IN ('page', 'hop', 'sitemap', 'imported');

-- step: origins
-- Where a redirect led on from, for targets that the crawldb does not know; and the scope and tag of seeds.
CREATE TABLE origin AS
SELECT o.segment, o.url AS origin_url, max(r.score) AS score, min(r.depth) AS depth
FROM outcome o JOIN old_row r USING (host_key, url_key)
WHERE o.kind <> 'hop'
GROUP BY ALL;

CREATE TABLE seed_fact AS
SELECT url AS seed, arg_max(tag, injected_time) AS tag, arg_max(scope, injected_time) AS scope
FROM seeds WHERE outcome IN ('added', 'updated')
GROUP BY url;

-- step: batch
-- Outcomes of some URLs with all that the state machine looks at, in order of URL and time. $first, $last.
SELECT
  v.n, v.late, o.*,
  g.score AS origin_score, f.tag AS seed_tag, f.scope AS seed_scope
FROM outcome o
JOIN visited_key v USING (host_key, url_key)
LEFT JOIN origin g USING (segment, origin_url)
LEFT JOIN seed_fact f USING (seed)
WHERE v.n BETWEEN $first AND $last
ORDER BY v.n, o.fetch_time, o.segment, o.hop, o.kind;

-- step: old_batch
SELECT v.n, r.* FROM old_row r JOIN visited_key v USING (host_key, url_key)
WHERE v.n BETWEEN $first AND $last;

-- step: current
-- The crawldb as it is so far: changed rows in place of the old.
CREATE VIEW current_row AS
SELECT c.* FROM crawldb c ANTI JOIN changed d USING (host_key, url_key)
UNION ALL
SELECT * FROM changed;

-- The same for the keys in a table: what rounds ask, since it reads further columns of those rows alone.
CREATE MACRO current_of(keys) AS TABLE
SELECT * FROM crawldb_beside(keys, 'changed')
UNION ALL
SELECT d.* FROM changed d SEMI JOIN query_table(keys) k USING (host_key, url_key);

-- URLs that were met as outcomes first: targets of redirects.
CREATE TABLE met AS
SELECT host_key, url_host_registered_domain, seed, hop_type FROM changed ANTI JOIN old_row USING (host_key, url_key);

-- step: reparsed
-- The newest parsed capture of each URL in each segment parsed anew.
CREATE TABLE reparsed AS
WITH one AS (
  SELECT
    p.host_key, p.url_key, p.segment, p.status AS parse_status, p.reason AS parse_reason,
    p.signature, p.text_signature, p.simhash, p.canonical_url
  FROM parse p
  JOIN segs s USING (segment)
  JOIN captures c USING (segment, capture_id)
  WHERE s.mode = 'reparse'
  QUALIFY row_number() OVER (
    PARTITION BY p.segment, p.host_key, p.url_key ORDER BY c.fetch_time DESC, p.capture_id
  ) = 1
)
SELECT row_number() OVER (ORDER BY o.host_key, o.url_key) - 1 AS n, o.*
FROM one o SEMI JOIN (SELECT host_key, url_key, last_success_segment AS segment FROM current_row) r
USING (host_key, url_key, segment);

-- step: reparsed_batch
SELECT * FROM reparsed WHERE n BETWEEN $first AND $last ORDER BY n;

-- step: reparsed_rows
SELECT p.n, r.* FROM current_row r
JOIN (SELECT n, host_key, url_key FROM reparsed WHERE n BETWEEN $first AND $last) p USING (host_key, url_key);
