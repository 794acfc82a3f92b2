-- URLs that the segments lead to and that are not added, and why: the table refusals. Views as in fold.sql, tables as in
-- links.sql; refused_capture: what the state machine refused.

-- step: refused
-- Each target once. A target has one row, whatever speaks against it; URLs that share the key pair of another one
-- (key_clash) count where nothing speaks against that one. kept: hash of the URL that stays.
CREATE TABLE refused_target AS
WITH refused AS (
  SELECT host_key, url_key, reason FROM judged WHERE reason IS NOT NULL
  UNION ALL
  SELECT host_key, url_key, reason FROM fresh WHERE reason IS NOT NULL
  UNION ALL
  SELECT host_key, url_key, 'duplicate_source'
  FROM target ANTI JOIN known_target USING (host_key, url_key) WHERE discovery IS NULL
)
SELECT host_key, url_key, min(reason) AS reason, NULL::UBIGINT AS kept FROM refused GROUP BY ALL
UNION ALL
SELECT host_key, url_key, 'key_clash', coalesce(k.url_hash, hash(f.url))
FROM target t
LEFT JOIN known_target k USING (host_key, url_key)
LEFT JOIN (SELECT host_key, url_key, url FROM fresh) f USING (host_key, url_key)
ANTI JOIN refused USING (host_key, url_key)
WHERE t.least_hash <> t.greatest_hash OR t.least_hash <> coalesce(k.url_hash, t.least_hash);

-- step: counted
SELECT reason, count(*)::BIGINT AS n FROM refused_target GROUP BY reason ORDER BY reason;

-- step: refusal
-- With their segments. Of links that other rules had accepted and those of today refuse (verdict) only URLs count that
-- no accepted link leads to. A redirect that was seen before its segment was parsed anew stays as it was told.
CREATE TABLE refusal AS
WITH one AS (
  SELECT
    l.segment, l.parse_id, l.to_host_key AS host_key, l.to_url_key AS url_key, l.to_url AS url,
    l.to_host_name AS url_host_name, l.from_url, r.reason, $now::TIMESTAMPTZ AS refused_time
  FROM accepted_link l
  JOIN refused_target r ON r.host_key = l.to_host_key AND r.url_key = l.to_url_key
  WHERE r.kept IS NULL OR r.kept <> hash(l.to_url)
  UNION ALL
  SELECT
    d.segment, d.parse_id, d.to_host_key, d.to_url_key, d.to_url,
    d.to_host_name, d.from_url, v.reason, $now::TIMESTAMPTZ
  FROM doubtful d
  JOIN (FROM verdict WHERE reason IS NOT NULL) v USING (n)
  ANTI JOIN target t ON t.host_key = d.to_host_key AND t.url_key = d.to_url_key
  WHERE d.accepted
  UNION ALL
  SELECT segment, NULL, host_key, url_key, url, url_host_name, from_url, reason, $now::TIMESTAMPTZ
  FROM refused_capture
  UNION ALL
  SELECT
    segment, NULL, host_key, url_key, url, url_host_name, from_url, reason, refused_time
  FROM refusals SEMI JOIN (SELECT segment FROM segs WHERE mode = 'reparse') USING (segment)
  WHERE parse_id IS NULL
)
SELECT
  segment, parse_id, host_key, url_key, min(url) AS url, min(url_host_name) AS url_host_name,
  min(from_url) AS from_url, min(reason) AS reason, min(refused_time) AS refused_time
FROM one
GROUP BY segment, parse_id, host_key, url_key, CASE WHEN reason = 'key_clash' THEN url END;

-- step: segments
-- clashes: some of its rows are of URLs that share their keys with others.
SELECT segment, bool_or(reason = 'key_clash') AS clashes FROM refusal GROUP BY segment ORDER BY segment;

-- step: in_segment
SELECT * FROM refusal WHERE segment = $segment ORDER BY host_key, url_key, parse_id, url
