-- Links turned round. Views: captures (fetch), parse, outlinks, linkdb, linksources. Table segs (segment).
-- What is written is what these segments tell; of what was there before only pages that are told again are looked up.

-- step: told
-- Pages whose links are told: of each the newest capture of these segments. A page that is gone, has become a
-- redirect, or could not be parsed links to nothing that is known any more; a failed fetch says nothing.
CREATE TABLE told AS
WITH capture AS (
  SELECT
    c.host_key, c.url_key, c.segment, c.capture_id, c.fetch_time,
    p.capture_id IS NOT NULL AND c.status = 'success' AS parsed
  FROM captures c
  JOIN segs s USING (segment)
  LEFT JOIN (SELECT segment, capture_id FROM parse) p USING (segment, capture_id)
  WHERE c.kind IN ('page', 'hop', 'imported')
    AND (
      (c.status = 'success' AND p.capture_id IS NOT NULL)
      OR c.status IN ('redir_temp', 'redir_perm')
      OR (c.status = 'gone' AND c.fetch_status IS NOT NULL)
    )
)
SELECT * FROM capture
QUALIFY row_number() OVER (
  PARTITION BY host_key, url_key ORDER BY fetch_time DESC, segment DESC, capture_id
) = 1;

-- step: applied
-- Where a later segment was applied: what the crawldb holds of these pages.
CREATE TABLE applied AS
SELECT host_key, url_key, last_success_segment FROM crawldb_of('told');

-- step: unapplied
CREATE TABLE applied (host_key UBIGINT, url_key UBIGINT, last_success_segment VARCHAR)

-- step: derive
-- A linkdb from before there were linksources: each page with links in it was told.
CREATE OR REPLACE VIEW linksources AS
SELECT
  source_host_key, source_url_key, max(fetch_time) AS fetch_time, false AS again, 0::BIGINT AS revision
FROM linkdb_all GROUP BY source_host_key, source_url_key

-- step: sources
-- The told pages, unless the linkdb or the crawldb has a newer capture of one; and whether the linkdb had it before.
CREATE TABLE source AS
WITH have AS (
  SELECT l.source_host_key AS host_key, l.source_url_key AS url_key, max(l.fetch_time) AS fetch_time
  FROM linksources l JOIN told t ON t.host_key = l.source_host_key AND t.url_key = l.source_url_key
  GROUP BY ALL
)
SELECT t.*, h.fetch_time IS NOT NULL AS again
FROM told t
LEFT JOIN have h USING (host_key, url_key)
LEFT JOIN applied a USING (host_key, url_key)
WHERE (h.fetch_time IS NULL OR h.fetch_time <= t.fetch_time)
  AND (a.last_success_segment IS NULL OR a.last_success_segment <= t.segment);

-- step: links
-- The links of these pages, one row a source and target: its first sighting on the page, and the first that has an
-- anchor. Links that are not followed for what they point at or how are none between pages; a link too deep or marked
-- nofollow is one all the same. Numbers alone, since texts in the states of an aggregate are held in memory beside its
-- limit (docs/decisions/0222). $internal, $external.
CREATE TABLE told_link AS
SELECT
  l.to_host_key AS target_host_key, l.to_url_key AS target_url_key,
  l.from_host_key AS source_host_key, l.from_url_key AS source_url_key,
  any_value(hash(l.capture_id)) AS capture,
  min(l.position) AS first,
  min(l.position) FILTER (l.anchor IS NOT NULL AND l.anchor <> '') AS anchored,
  count(*)::INTEGER AS links
FROM outlinks l SEMI JOIN (SELECT segment, capture_id FROM source WHERE parsed) s USING (segment, capture_id)
WHERE l.to_url_key IS NOT NULL AND l.hop_type <> 'R' AND (l.accepted OR l.reason IN ('depth', 'nofollow'))
  AND CASE WHEN l.to_host_key = l.from_host_key THEN $internal ELSE $external END
GROUP BY ALL;

-- step: rows
-- The same as rows of the linkdb, read once, while they are written. Of the sightings the first tells, but anchor and rel
-- come from the first that has an anchor. $revision.
CREATE MACRO sighting(which) AS TABLE
SELECT l.*, t.links, t.first, t.anchored
FROM outlinks l
JOIN told_link t
  ON t.source_host_key = l.from_host_key AND t.source_url_key = l.from_url_key AND t.capture = hash(l.capture_id)
  AND t.target_host_key = l.to_host_key AND t.target_url_key = l.to_url_key
  AND l.position = CASE WHEN which = 'first' THEN t.first WHEN t.anchored > t.first THEN t.anchored END;

CREATE VIEW new_link AS
SELECT
  f.to_host_key AS target_host_key, f.to_url_key AS target_url_key, f.to_url AS target_url,
  f.from_host_key AS source_host_key, f.from_url_key AS source_url_key, f.from_url AS source_url,
  CASE WHEN f.anchored = f.first THEN f.anchor ELSE a.anchor END AS anchor,
  coalesce(a.rel, f.rel) AS rel,
  f.kind,
  f.links,
  f.to_host_key = f.from_host_key AS internal,
  f.fetch_time, f.segment,
  $revision::BIGINT AS revision,
  NULL::BOOLEAN AS cut
FROM sighting('first') f
LEFT JOIN sighting('anchored') a USING (from_host_key, from_url_key, to_host_key, to_url_key)

-- step: old
-- The links that pages told again had before.
CREATE TABLE old_link AS
SELECT l.target_host_key, l.target_url_key, l.source_host_key, l.source_url_key, l.cut
FROM linkdb_all l
SEMI JOIN (SELECT host_key AS source_host_key, url_key AS source_url_key FROM source WHERE again) s
USING (source_host_key, source_url_key)

-- step: nothing_old
CREATE TABLE old_link (
  target_host_key UBIGINT, target_url_key UBIGINT, source_host_key UBIGINT, source_url_key UBIGINT,
  cut BOOLEAN
)

-- step: change
-- By how much the number of pages that link to a URL changes.
CREATE TABLE change AS
SELECT host_key, url_key, sum(n)::INTEGER AS inlinks
FROM (
  SELECT target_host_key AS host_key, target_url_key AS url_key, 1 AS n FROM told_link
  UNION ALL
  SELECT target_host_key, target_url_key, -1 FROM old_link
)
GROUP BY ALL
HAVING sum(n) <> 0

-- step: totals
SELECT
  (SELECT count(*) FROM told_link)::BIGINT AS told,
  (SELECT count(*) FROM old_link WHERE cut IS NOT true)::BIGINT AS old,
  (SELECT count(*) FROM told_link n SEMI JOIN (SELECT * FROM old_link WHERE cut IS NOT true) o
    USING (target_host_key, target_url_key, source_host_key, source_url_key))::BIGINT AS kept,
  (SELECT count(*) FROM change)::BIGINT AS rows;
