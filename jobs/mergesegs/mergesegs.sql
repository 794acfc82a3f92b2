-- Several segments into one, or into slices of a size. Views: candidate (captures that may be kept, with their parse),
-- captures (fetch, of all segments), crawldb, fetchlist and content of the segments that are merged. Table chosen
-- (segment): those. View file_row: a file of theirs, with the place of each row in it as file_row_number.

-- step: urls
-- URLs of captures and fetchlists, and those that were refused, in their present form.
SELECT host_key, url_key, url FROM captures
UNION SELECT host_key, url_key, url FROM fetchlist
UNION SELECT host_key, url_key, url FROM refusals

-- step: forms
-- Captures and lines under the URLs of today. Table form.
CREATE OR REPLACE VIEW captures AS
SELECT c.* REPLACE (
  coalesce(m.host_key, c.host_key) AS host_key, coalesce(m.url_key, c.url_key) AS url_key, coalesce(m.url, c.url) AS url,
  coalesce(m.url_host_name, c.url_host_name) AS url_host_name,
  coalesce(m.url_host_registered_domain, c.url_host_registered_domain) AS url_host_registered_domain
)
FROM "fetch" c LEFT JOIN form m ON m.old_host_key = c.host_key AND m.old_url_key = c.url_key;

CREATE VIEW list_line AS
SELECT f.* REPLACE (
  coalesce(m.host_key, f.host_key) AS host_key, coalesce(m.url_key, f.url_key) AS url_key
)
FROM fetchlist f LEFT JOIN form m ON m.old_host_key = f.host_key AND m.old_url_key = f.url_key;

-- step: scoped
-- URLs of the captures of these segments, with what the scope asks about. Views: crawldb, seeds.
WITH seed_fact AS (
  SELECT url AS seed, arg_max(scope, injected_time) AS scope
  FROM seeds WHERE outcome IN ('added', 'updated')
  GROUP BY url
), asked AS (
  SELECT DISTINCT host_key, url_key, url FROM captures SEMI JOIN chosen USING (segment) WHERE kind <> 'robots'
)
SELECT
  a.host_key, a.url_key, a.url, c.depth, c.hop_type, c.discovered_from, f.scope,
  CASE WHEN c.sitemap_depth IS NULL THEN c.seed END AS seed
FROM asked a
LEFT JOIN crawldb c USING (host_key, url_key)
LEFT JOIN seed_fact f ON f.seed = c.seed

-- step: accepted
-- Those that are not refused; a robots.txt stays as long as something of its host does. Table refused.
CREATE VIEW accepted AS
WITH page AS (
  SELECT segment, capture_id, host_key FROM captures ANTI JOIN refused USING (host_key, url_key) WHERE kind <> 'robots'
)
SELECT segment, capture_id FROM page
UNION ALL
SELECT segment, capture_id FROM captures SEMI JOIN page USING (host_key) WHERE kind = 'robots';

-- step: unchanged
-- What a 304 speaks of: it names a digest, and the newest payload of that URL before it that has it is meant.
CREATE TABLE unchanged AS
WITH again AS (
  SELECT segment, capture_id, host_key, url_key, content_digest, fetch_time FROM captures
  WHERE status = 'notmodified' AND content_segment IS NOT NULL
), answer AS (
  SELECT segment, host_key, url_key, content_digest, content_sha256, content_segment, fetch_time, capture_id FROM captures
  SEMI JOIN again USING (host_key, url_key)
  WHERE status = 'success' AND content_segment IS NOT NULL
)
SELECT
  r.segment, r.capture_id,
  a.segment AS answer_segment, a.capture_id AS answer_id, a.content_sha256, a.content_segment AS holder
FROM again r JOIN answer a USING (host_key, url_key)
WHERE a.fetch_time <= r.fetch_time AND a.content_digest = coalesce(r.content_digest, a.content_digest)
QUALIFY row_number() OVER (
  PARTITION BY r.segment, r.capture_id ORDER BY a.fetch_time DESC, a.segment DESC, a.capture_id
) = 1;

-- step: kept
-- The captures that stay. Of a URL the newest one, whose outcome the crawldb tells, and the newest with a payload, which
-- a 304, a failure or an empty answer since has not replaced (an empty payload is stored nowhere); of the robots.txt of
-- an origin the same. And those that a 304 of another segment speaks of. $all: all. $slice: captures a
-- slice, in order of time; 0 for one slice.
CREATE TABLE kept AS
WITH ranked AS (
  SELECT
    capture_id, segment, host_key, url_key, kind, hop, status, fetch_time, content_sha256,
    content_segment AS holder,
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
WHERE $all OR newest OR (held AND newest_held) OR (segment, capture_id) IN (
  SELECT (answer_segment, answer_id) FROM unchanged ANTI JOIN chosen USING (segment)
);

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
-- Table slice_name (slice, name). All captures that stay or refer to these segments, by their old segment, with their
-- new one and that of the payload: null for a 304 whose payload a condition has left out.
CREATE TABLE placed AS
WITH refers AS (
  SELECT capture_id, segment, content_sha256, holder, slice FROM kept
  UNION ALL
  SELECT capture_id, segment, content_sha256, content_segment, NULL
  FROM (SELECT * FROM captures ANTI JOIN chosen USING (segment)) c
  SEMI JOIN chosen s ON s.segment = c.content_segment
)
SELECT
  r.capture_id, r.segment, n.name,
  CASE
    WHEN s.segment IS NULL THEN r.holder
    WHEN m.name IS NOT NULL THEN m.name
    WHEN e.segment IS NULL THEN u.holder
  END AS holder
FROM refers r
LEFT JOIN slice_name n USING (slice)
LEFT JOIN chosen s ON s.segment = r.holder
LEFT JOIN unchanged u ON u.segment = r.segment AND u.capture_id = r.capture_id
LEFT JOIN chosen e ON e.segment = u.holder
LEFT JOIN payload p ON p.content_sha256 = coalesce(r.content_sha256, u.content_sha256)
LEFT JOIN slice_name m ON m.slice = p.slice
ORDER BY r.segment; -- each is asked for by itself

-- Where a payload comes from, the newest of the segments that have it, and where it goes.
CREATE TABLE stored AS
SELECT c.content_sha256, max(c.segment) AS segment, any_value(n.name) AS name
FROM content c JOIN payload p USING (content_sha256) JOIN slice_name n ON n.slice = p.slice
GROUP BY c.content_sha256
ORDER BY segment;

-- The same for lines of fetchlists: a URL has one, beside its newest capture that stays.
CREATE TABLE line AS
WITH wanted AS (
  SELECT host_key, url_key, segment, min(n.name) AS name
  FROM kept JOIN slice_name n USING (slice)
  WHERE kind IN ('page', 'sitemap')
  GROUP BY host_key, url_key, segment
  QUALIFY row_number() OVER (PARTITION BY host_key, url_key ORDER BY segment DESC) = 1
)
SELECT
  w.host_key, w.url_key, any_value(w.name) AS name,
  coalesce(max(f.segment) FILTER (f.segment = w.segment), max(f.segment)) AS segment
FROM list_line f JOIN wanted w USING (host_key, url_key)
GROUP BY ALL
ORDER BY segment;

-- step: captures
-- Rows of a file of captures, or of what belongs to captures, that stay. $segment: its old one.
SELECT f.file_row_number AS place, p.name, p.holder
FROM file_row f JOIN placed p USING (capture_id)
WHERE p.segment = $segment
ORDER BY place

-- step: payloads
SELECT min(f.file_row_number) AS place, any_value(s.name) AS name
FROM file_row f JOIN stored s USING (content_sha256)
WHERE s.segment = $segment
GROUP BY content_sha256
ORDER BY place

-- step: lines
SELECT min(f.file_row_number) AS place, any_value(l.name) AS name
FROM file_row f
LEFT JOIN form m ON m.old_host_key = f.host_key AND m.old_url_key = f.url_key
JOIN line l ON l.host_key = coalesce(m.host_key, f.host_key) AND l.url_key = coalesce(m.url_key, f.url_key)
WHERE l.segment = $segment
GROUP BY l.host_key, l.url_key
ORDER BY place

-- step: listed
SELECT name, count(*)::BIGINT AS urls, count(DISTINCT host_key)::BIGINT AS hosts FROM line GROUP BY name

-- step: redirected
-- All rows of a file of another segment, with the segment that has the payload from now on.
SELECT
  f.file_row_number AS place, $segment::VARCHAR AS name,
  CASE WHEN p.capture_id IS NULL THEN f.content_segment ELSE p.holder END AS holder
FROM file_row f LEFT JOIN (SELECT * FROM placed WHERE segment = $segment) p USING (capture_id)
ORDER BY place

-- step: others
-- Other segments that refer to payloads of these.
SELECT DISTINCT segment FROM placed ANTI JOIN chosen USING (segment) ORDER BY segment

-- step: delta
-- Rows of the crawldb that name a segment by which a capture is found no more. One whose newest capture a condition has
-- left out goes on naming the segment of its last fetch (docs/crawldb.md). Of a page whose payload a condition has
-- left out nothing is held: it names none.
CREATE TABLE place AS
SELECT
  k.host_key, k.url_key, k.segment, arg_max(n.name, (k.fetch_time, k.slice)) AS name,
  arg_max(n.name, (k.fetch_time, k.slice)) FILTER (k.held) AS held_name
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
