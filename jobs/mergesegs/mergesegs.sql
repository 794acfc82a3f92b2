-- Several segments into one, or into slices of a size. Views: candidate (captures that may be kept, with their parse),
-- captures (fetch, of all segments), crawldb. Table chosen (segment): those that are merged.

-- step: kept
-- The captures that stay. Of a URL the newest one, whose outcome the crawldb tells, and the newest with a payload, which
-- a 304, a failure or an empty answer since has not replaced (an empty payload is stored nowhere); of the robots.txt of an origin the same. $all: all. $slice: captures a
-- slice, in order of time; 0 for one slice.
CREATE TABLE kept AS
WITH ranked AS (
  SELECT
    capture_id, segment, host_key, url_key, kind, hop, status, fetch_time, content_sha256,
    coalesce(content_segment, segment) AS holder,
    CASE WHEN kind IN ('page', 'hop', 'sitemap', 'imported') THEN 'page' ELSE kind END AS what,
    status = 'success' AND content_sha256 IS NOT NULL AND content_segment IS NOT NULL AS held
  FROM candidate
), numbered AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY host_key, url_key, what
      ORDER BY status = 'skipped', fetch_time DESC, segment DESC, hop DESC, capture_id
    ) = 1 AS newest,
    row_number() OVER (
      PARTITION BY host_key, url_key, what, held ORDER BY fetch_time DESC, segment DESC, hop DESC, capture_id
    ) = 1 AS newest_held
  FROM ranked
)
SELECT
  *,
  CASE WHEN $slice > 0 THEN (row_number() OVER (ORDER BY fetch_time, capture_id) - 1) // $slice ELSE 0 END::INTEGER
    AS slice
FROM numbered
WHERE $all OR newest OR (held AND newest_held);

-- step: payload
-- Payloads of these segments that are still referred to, each with the first slice that does: by captures that stay, or
-- by other segments. $last: the last slice.
CREATE TABLE payload AS
SELECT content_sha256, coalesce(min(slice), $last)::INTEGER AS slice
FROM (
  SELECT content_sha256, holder, slice FROM kept
  UNION ALL
  SELECT content_sha256, content_segment, NULL FROM captures ANTI JOIN chosen USING (segment)
) r SEMI JOIN chosen c ON c.segment = r.holder
WHERE content_sha256 IS NOT NULL
GROUP BY content_sha256;

-- step: places
-- Table slice_name (slice, name). Where the payload of a URL is from now on, for captures that only refer to it (304).
CREATE TABLE url_payload AS
SELECT k.host_key, k.url_key, arg_max(n.name, k.fetch_time) AS name
FROM kept k JOIN payload p USING (content_sha256) JOIN slice_name n ON n.slice = p.slice
WHERE k.held AND k.what = 'page'
GROUP BY ALL;

-- All captures that stay or refer to these segments, by their old segment, with their new one and that of the payload.
CREATE TABLE placed AS
WITH refers AS (
  SELECT capture_id, segment, host_key, url_key, content_sha256, holder, slice FROM kept
  UNION ALL
  SELECT c.capture_id, c.segment, c.host_key, c.url_key, c.content_sha256, c.content_segment, NULL
  FROM (SELECT * FROM captures ANTI JOIN chosen USING (segment)) c
  SEMI JOIN chosen s ON s.segment = c.content_segment
)
SELECT
  r.capture_id, r.segment, n.name,
  CASE WHEN s.segment IS NULL THEN r.holder ELSE coalesce(m.name, u.name, r.holder) END AS holder
FROM refers r
LEFT JOIN slice_name n USING (slice)
LEFT JOIN chosen s ON s.segment = r.holder
LEFT JOIN payload p USING (content_sha256)
LEFT JOIN slice_name m ON m.slice = p.slice
LEFT JOIN url_payload u USING (host_key, url_key);

-- step: captures
-- $segment: an old one.
SELECT capture_id, name, holder FROM placed WHERE segment = $segment

-- step: listed
-- URLs of its fetchlist that stay, and where.
SELECT host_key, url_key, min(n.name) AS name
FROM kept JOIN slice_name n USING (slice)
WHERE segment = $segment AND kind IN ('page', 'sitemap')
GROUP BY ALL

-- step: payloads
SELECT content_sha256, n.name FROM payload JOIN slice_name n USING (slice)

-- step: others
-- Other segments that refer to payloads of these.
SELECT DISTINCT segment FROM placed ANTI JOIN chosen USING (segment) ORDER BY segment

-- step: delta
-- Rows of the crawldb that name a segment by which a capture is found no more. Of a page whose payload a condition has
-- left out nothing is held: it names none.
CREATE TABLE place AS
SELECT
  k.host_key, k.url_key, k.segment, arg_max(n.name, k.fetch_time) AS name,
  arg_max(n.name, k.fetch_time) FILTER (k.held) AS held_name
FROM kept k JOIN slice_name n USING (slice)
WHERE k.what = 'page'
GROUP BY ALL;

CREATE TABLE met AS SELECT DISTINCT host_key, url_key FROM captures SEMI JOIN chosen USING (segment);

CREATE TABLE delta AS
SELECT c.* REPLACE (
  coalesce(f.name, c.fetch_segment) AS fetch_segment,
  CASE WHEN g.segment IS NULL THEN c.last_success_segment ELSE s.held_name END AS last_success_segment
)
FROM crawldb_of('met') c
LEFT JOIN chosen g ON g.segment = c.last_success_segment
LEFT JOIN place f ON f.host_key = c.host_key AND f.url_key = c.url_key AND f.segment = c.fetch_segment
LEFT JOIN place s ON s.host_key = c.host_key AND s.url_key = c.url_key AND s.segment = c.last_success_segment
WHERE f.name <> c.fetch_segment OR (g.segment IS NOT NULL AND s.held_name IS DISTINCT FROM c.last_success_segment);

-- step: totals
SELECT
  (SELECT count(*) FROM captures SEMI JOIN chosen USING (segment))::BIGINT AS captures,
  (SELECT count(*) FROM kept)::BIGINT AS kept,
  coalesce((SELECT max(slice) FROM kept), 0)::BIGINT + 1 AS slices;
