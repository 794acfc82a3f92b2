-- What a run adds to the counts of hosts, and to the yield of hosts and of the parts of large ones. Views as in fold.sql.

-- step: yield
-- Pages first asked for in these segments, and whether they brought content of their own: no error, not empty, no
-- duplicate, and within its host and these segments no near-duplicate of another (a simhash that differs in 3 bits at
-- most, as Manku, Jain and Das Sarma 2007; two such share one of four blocks of 16 bits).
CREATE TABLE first_visit AS
SELECT
  o.host_key, o.url_key, o.url, o.simhash,
  o.fetch_status IN (404, 410) AS dead,
  o.status = 'success' AND coalesce(c.status, '') <> 'duplicate'
    AND CASE p.status WHEN 'failed' THEN false WHEN 'skipped' THEN true ELSE coalesce(p.text_length > 0, true) END AS fine
FROM outcome o
LEFT JOIN (
  SELECT segment, host_key, url_key, any_value(status) AS status, max(text_length) AS text_length FROM parse GROUP BY ALL
) p USING (segment, host_key, url_key)
LEFT JOIN old_row r USING (host_key, url_key)
LEFT JOIN (SELECT host_key, url_key, status FROM changed) c USING (host_key, url_key)
WHERE o.mode = 'apply' AND o.kind = 'page' AND r.last_success_time IS NULL AND coalesce(r.status, '') <> 'gone'
  AND (o.status = 'success' OR (o.status = 'gone' AND o.fetch_status IS NOT NULL))
QUALIFY row_number() OVER (PARTITION BY host_key, url_key ORDER BY o.fetch_time DESC, o.segment DESC) = 1;

CREATE TABLE twin AS
WITH block AS (
  SELECT v.host_key, v.url_key, v.simhash, b.at, (v.simhash >> (16 * b.at)) & 65535 AS bits
  FROM first_visit v, (SELECT unnest([0, 1, 2, 3])::UBIGINT AS at) b
  WHERE v.fine AND v.simhash IS NOT NULL
)
SELECT DISTINCT a.host_key, a.url_key
FROM block a JOIN block b ON a.host_key = b.host_key AND a.at = b.at AND a.bits = b.bits
WHERE b.url_key < a.url_key AND bit_count(xor(a.simhash, b.simhash)) <= 3;

-- step: counted
-- What is added to the counts of hosts and seeds: pages fetched, bytes received, payloads not seen before, URLs refused.
-- $dead_link: what a dead link counts of a page with content of its own.
CREATE TABLE visit_yield AS
SELECT v.host_key, v.url, CASE WHEN fine AND t.url_key IS NULL THEN 1 WHEN NOT fine AND dead THEN $dead_link ELSE 0 END::DOUBLE AS worth
FROM first_visit v LEFT JOIN twin t USING (host_key, url_key);

CREATE TABLE came AS
SELECT
  c.host_key, c.url_host_name, c.url_host_registered_domain, c.seed, c.content_length,
  c.kind = 'page' AND c.status = 'success' AS success,
  c.content_segment = c.segment AND row_number() OVER (
    PARTITION BY c.segment, c.content_digest ORDER BY c.fetch_time, c.url_key, c.host_key, c.hop
  ) = 1 AS novel
FROM captures c JOIN segs s USING (segment)
WHERE s.mode = 'apply';

CREATE TABLE counted AS
SELECT
  host_key, min(url_host_name) AS url_host_name, min(url_host_registered_domain) AS url_host_registered_domain,
  count(*) FILTER (success) AS pages_fetched,
  coalesce(sum(content_length), 0)::BIGINT AS body_bytes,
  0::BIGINT AS over_budget,
  coalesce(sum(content_length) FILTER (novel), 0)::BIGINT AS novel_bytes,
  0::BIGINT AS seen_pages, 0::BIGINT AS seen_new
FROM came
GROUP BY host_key
UNION ALL
SELECT host_key, min(url_host_name), min(url_host_registered_domain), 0, 0, count(*), 0, 0, 0
FROM judged WHERE reason = 'over_budget'
GROUP BY host_key
UNION ALL
SELECT host_key, NULL, NULL, 0, 0, 0, 0, count(*), sum(worth)
FROM visit_yield
GROUP BY host_key;

CREATE TABLE seed_counted AS
SELECT
  seed, sum(pages_fetched)::BIGINT AS pages_fetched, sum(body_bytes)::BIGINT AS body_bytes,
  sum(novel_bytes)::BIGINT AS novel_bytes, sum(over_budget)::BIGINT AS over_budget
FROM (
  SELECT
    seed, success::INTEGER AS pages_fetched, coalesce(content_length, 0) AS body_bytes,
    CASE WHEN novel THEN content_length ELSE 0 END AS novel_bytes, 0 AS over_budget
  FROM came
  UNION ALL
  SELECT seed, 0, 0, 0, 1 FROM judged WHERE reason = 'over_budget'
)
WHERE seed IS NOT NULL
GROUP BY seed;

-- step: paths
-- The same for the first folders of hosts with $large known URLs or more. Table new_hoststats: hosts as they are now. Of
-- a host the 100 folders with most pages are kept.
CREATE TABLE new_path AS
WITH seen AS (
  SELECT host_key, first_folder(url) AS path, count(*) AS pages, sum(worth) AS own
  FROM visit_yield GROUP BY ALL
)
SELECT
  host_key, h.url_host_name, path,
  recent_pages_after(coalesce(p.recent_pages, 0), coalesce(s.pages, 0)) AS recent_pages,
  recent_new_after(coalesce(p.recent_pages, 0), coalesce(p.recent_new, 0), coalesce(s.pages, 0), coalesce(s.own, 0))
    AS recent_new
FROM pathstats p
FULL JOIN seen s USING (host_key, path)
JOIN (SELECT host_key, url_host_name FROM new_hoststats WHERE urls >= $large) h USING (host_key)
QUALIFY row_number() OVER (PARTITION BY host_key ORDER BY recent_pages DESC, path) <= 100;
