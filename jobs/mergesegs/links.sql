-- Outlinks of captures that stay, and what updatedb refused of them. Tables as in mergesegs.sql; view outlinks: the links
-- of one parse of some segments; refusals: those of all that are merged.

-- step: names
-- Segments that links of these go to. $segments: their ids, with commas between.
SELECT DISTINCT name FROM placed
WHERE name IS NOT NULL AND list_contains(string_split($segments, ','), segment)
ORDER BY name;

-- step: links
-- $name: of the segment that comes out; $parse: of the parse.
SELECT l.* REPLACE ($name AS segment, $parse AS parse_id)
FROM outlinks l
SEMI JOIN (SELECT segment, capture_id FROM placed WHERE name = $name) p
ON p.segment = l.segment AND p.capture_id = l.capture_id
ORDER BY from_host_key, from_url_key, capture_id, position

-- step: refusal
CREATE TABLE refusal AS
SELECT NULL::VARCHAR AS name, NULL::VARCHAR AS new_parse, * FROM refusals WHERE false;

-- step: told
-- $segment: the old one; $parse: the new name of its parse.
INSERT INTO refusal
SELECT DISTINCT p.name, $parse, r.*
FROM refusals r
JOIN outlinks l
  ON l.segment = r.segment AND l.parse_id = r.parse_id AND l.to_host_key = r.host_key AND l.to_url_key = r.url_key
JOIN placed p ON p.segment = l.segment AND p.capture_id = l.capture_id
WHERE r.segment = $segment AND p.name IS NOT NULL AND (r.reason <> 'key_clash' OR r.url = l.to_url);

-- step: redirects
-- $newest: the segment that has the name of the newest.
INSERT INTO refusal SELECT $newest, NULL, * FROM refusals WHERE parse_id IS NULL;

-- step: segments
SELECT name, bool_or(reason = 'key_clash') AS clashes FROM refusal GROUP BY name ORDER BY name;

-- step: in_segment
-- Under the URLs of today (table form). $name.
WITH formed AS (
  SELECT
    r.new_parse AS parse_id, r.segment, r.from_url, r.reason, r.refused_time,
    coalesce(m.host_key, r.host_key) AS host_key, coalesce(m.url_key, r.url_key) AS url_key,
    coalesce(m.url, r.url) AS url, coalesce(m.url_host_name, r.url_host_name) AS url_host_name
  FROM refusal r LEFT JOIN form m ON m.old_host_key = r.host_key AND m.old_url_key = r.url_key
  WHERE r.name = $name
)
SELECT
  $name AS segment, parse_id, host_key, url_key, min(url) AS url, min(url_host_name) AS url_host_name,
  min(from_url) AS from_url, arg_max(reason, (segment, reason)) AS reason, max(refused_time) AS refused_time
FROM formed
GROUP BY parse_id, host_key, url_key, CASE WHEN reason = 'key_clash' THEN url END
ORDER BY host_key, url_key, parse_id, url
