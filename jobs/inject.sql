-- Seed lines against the crawldb. Tables: line (the lines that say something, n in their order); views: crawldb.

-- step: decide
-- What becomes of each readable line: the first line of a URL counts; a known URL stays unless $mode says otherwise.
-- $mode: keep, update, overwrite. $score, $interval_s: where the line gives none.
CREATE TABLE known AS
SELECT c.* FROM crawldb c SEMI JOIN (SELECT host_key, url_key FROM line WHERE reason IS NULL) l
USING (host_key, url_key);

CREATE TABLE decided AS
WITH numbered AS (
  SELECT
    *,
    row_number() OVER same_key AS nth,
    first_value(url) OVER same_key AS first_url
  FROM line WHERE reason IS NULL
  WINDOW same_key AS (PARTITION BY host_key, url_key ORDER BY n)
)
SELECT
  l.n,
  CASE
    WHEN l.first_url <> l.url OR k.url <> l.url THEN 'rejected'
    WHEN l.nth > 1 THEN 'known'
    WHEN k.url IS NULL THEN 'added'
    WHEN $mode = 'overwrite' OR k.status = 'orphan' THEN 'updated'
    WHEN $mode = 'update' AND (
      k.score IS DISTINCT FROM coalesce(l.score, k.score)
      OR k.fetch_interval_s IS DISTINCT FROM coalesce(l.interval_s, k.fetch_interval_s)
      OR k.fixed_interval IS DISTINCT FROM (k.fixed_interval OR l.fixed)
      OR k.tag IS DISTINCT FROM coalesce(l.tag, k.tag)
      OR k.seed IS DISTINCT FROM l.url
      OR k.metadata IS DISTINCT FROM coalesce(json_merge_patch(k.metadata, l.metadata)::VARCHAR, l.metadata, k.metadata)
    ) THEN 'updated'
    ELSE 'known'
  END AS outcome
FROM numbered l LEFT JOIN known k USING (host_key, url_key);

-- step: delta
-- New rows, rows replaced, and rows with the line's facts on top of what was known.
CREATE TABLE delta AS
SELECT
  l.host_key, l.url_key, l.url, l.url_host_name, l.url_host_registered_domain,
  'unfetched' AS status, NULL::VARCHAR AS reason,
  coalesce(l.score, $score)::DOUBLE AS score, 0::INTEGER AS depth,
  l.url AS seed, l.tag, l.metadata, 'I' AS hop_type,
  $now::TIMESTAMPTZ AS discovered_time, NULL::VARCHAR AS discovered_from,
  $now::TIMESTAMPTZ AS next_fetch_time,
  coalesce(l.interval_s, $interval_s)::INTEGER AS fetch_interval_s, l.fixed AS fixed_interval,
  0::INTEGER AS retries,
  NULL::TIMESTAMPTZ AS fetch_time, NULL::VARCHAR AS fetch_segment, NULL::SMALLINT AS fetch_status,
  NULL::VARCHAR AS fetch_redirect,
  NULL::TIMESTAMPTZ AS last_success_time, NULL::VARCHAR AS last_success_segment,
  NULL::TIMESTAMPTZ AS modified_time, NULL::VARCHAR AS content_digest,
  NULL::BLOB AS signature, NULL::BLOB AS text_signature, NULL::UBIGINT AS simhash,
  NULL::VARCHAR AS etag, NULL::VARCHAR AS last_modified,
  0::INTEGER AS visits, 0::INTEGER AS changes, NULL::VARCHAR AS duplicate_of,
  coalesce(k.inlinks, 0)::INTEGER AS inlinks, NULL::VARCHAR AS updated_segment,
  0::BIGINT AS revision, NULL::VARCHAR AS canonical_url, k.sitemap_depth,
  NULL::VARCHAR AS duplicate_kind, NULL::VARCHAR AS similar_to
FROM line l JOIN decided d USING (n) LEFT JOIN known k USING (host_key, url_key)
WHERE d.outcome = 'added' OR (d.outcome = 'updated' AND $mode = 'overwrite')
UNION ALL BY NAME
SELECT k.* REPLACE (
  -- What a seed line names is nobody's orphan; upkeep had put it off for ever.
  CASE WHEN k.status <> 'orphan' THEN k.status WHEN k.last_success_time IS NULL THEN 'unfetched' ELSE 'fetched' END
    AS status,
  CASE WHEN k.status = 'orphan' THEN NULL ELSE k.reason END AS reason,
  CASE WHEN k.status = 'orphan' AND k.next_fetch_time = $never::TIMESTAMPTZ THEN $now::TIMESTAMPTZ
    ELSE k.next_fetch_time END AS next_fetch_time,
  coalesce(l.score, k.score) AS score,
  coalesce(l.interval_s, k.fetch_interval_s)::INTEGER AS fetch_interval_s,
  k.fixed_interval OR l.fixed AS fixed_interval,
  coalesce(l.tag, k.tag) AS tag,
  0::INTEGER AS depth,
  l.url AS seed,
  coalesce(json_merge_patch(k.metadata, l.metadata)::VARCHAR, l.metadata, k.metadata) AS metadata
)
FROM line l JOIN decided d USING (n) JOIN known k USING (host_key, url_key)
WHERE d.outcome = 'updated' AND $mode <> 'overwrite';

-- step: seeds
-- All lines, the rejected ones too.
SELECT
  $run AS run, l.source, l.line, l.text, l.url, l.host_key, l.url_key, l.tag, l.seed_group, l.score, l.scope,
  coalesce(d.outcome, 'rejected') AS outcome,
  CASE d.outcome
    WHEN 'added' THEN NULL WHEN 'updated' THEN NULL
    WHEN 'known' THEN 'seed_known'
    WHEN 'rejected' THEN 'key_clash'
    ELSE l.reason
  END AS reason,
  l.detail,
  $now::TIMESTAMPTZ AS injected_time
FROM line l LEFT JOIN decided d USING (n)
