-- The crawldb and the linkdb after a change of the URL policy. Views: crawldb, linkdb, hoststats, seeds.

-- step: urls
-- All URLs with what the scope asks about.
WITH seed_fact AS (
  SELECT url AS seed, arg_max(scope, injected_time) AS scope
  FROM seeds WHERE outcome IN ('added', 'updated')
  GROUP BY url
)
SELECT
  c.host_key, c.url_key, c.url, c.depth, c.seed, c.hop_type, c.discovered_from, c.sitemap_depth, f.scope,
  c.status = 'gone' AND c.next_fetch_time = $never::TIMESTAMPTZ AS refused_before
FROM crawldb c LEFT JOIN seed_fact f USING (seed)

-- step: texts
-- URLs that rows speak of.
SELECT DISTINCT text FROM (
  SELECT duplicate_of AS text FROM crawldb
  UNION ALL
  SELECT canonical_url FROM crawldb
  UNION ALL
  SELECT similar_to FROM crawldb
) WHERE text IS NOT NULL

-- step: link_urls
-- Ends of links that the crawldb does not know.
SELECT DISTINCT host_key, url_key, url FROM (
  SELECT target_host_key AS host_key, target_url_key AS url_key, target_url AS url FROM linkdb_all
  UNION ALL
  SELECT source_host_key, source_url_key, source_url FROM linkdb_all
) l ANTI JOIN crawldb c USING (host_key, url_key)

-- step: members
-- Rows that get another form, and those whose form they get. Table moved: old keys, new identity, refused: the
-- reason why the new form is none, or not wanted. The view member is what jobs/crawldb/one.sql makes one of.
CREATE TABLE form AS
SELECT
  c.* REPLACE (
    m.host_key AS host_key, m.url_key AS url_key, m.url AS url,
    m.url_host_name AS url_host_name, m.url_host_registered_domain AS url_host_registered_domain
  ),
  c.url AS old_url, c.url <> m.url AS moved, m.refused
FROM crawldb c JOIN moved m ON m.old_host_key = c.host_key AND m.old_url_key = c.url_key
UNION ALL
SELECT c.*, c.url, false, NULL
FROM crawldb c
SEMI JOIN moved m ON m.host_key = c.host_key AND m.url_key = c.url_key
ANTI JOIN moved o ON o.old_host_key = c.host_key AND o.old_url_key = c.url_key;

-- Two URLs of one key pair: the one that was there stays, or the first in order.
CREATE TABLE clash AS
SELECT host_key, url_key, old_url FROM form
QUALIFY url <> first_value(url) OVER (PARTITION BY host_key, url_key ORDER BY moved, url);
DELETE FROM form m USING clash c
WHERE m.host_key = c.host_key AND m.url_key = c.url_key AND m.old_url = c.old_url;

CREATE VIEW member AS SELECT * EXCLUDE (old_url, moved, refused), old_url AS origin FROM form;

-- step: merged
-- Rows in their new form. Tables: form, and one_row of them. Validators were given for another URL, so none is sent.
CREATE TABLE merged AS
SELECT o.* REPLACE (
  CASE WHEN NOT t.moved THEN etag END AS etag,
  CASE WHEN NOT t.moved THEN last_modified END AS last_modified,
  CASE
    WHEN refused IS NOT NULL THEN 'gone'
    WHEN status = 'gone' AND next_fetch_time = $never::TIMESTAMPTZ THEN 'unfetched'
    ELSE status
  END AS status,
  CASE
    WHEN refused IS NOT NULL THEN refused
    WHEN status = 'gone' AND next_fetch_time = $never::TIMESTAMPTZ THEN NULL
    ELSE reason
  END AS reason,
  CASE
    WHEN refused IS NOT NULL THEN $never::TIMESTAMPTZ
    WHEN status = 'gone' AND next_fetch_time = $never::TIMESTAMPTZ THEN $now::TIMESTAMPTZ
    ELSE next_fetch_time
  END AS next_fetch_time,
  CASE WHEN refused IS NULL THEN duplicate_of END AS duplicate_of,
  CASE WHEN refused IS NULL THEN duplicate_kind END AS duplicate_kind,
  CASE WHEN refused IS NULL THEN similar_to END AS similar_to
)
FROM one_row o
JOIN (
  SELECT
    host_key, url_key, bool_or(moved) AS moved,
    CASE WHEN bool_and(refused IS NOT NULL) THEN min(refused) END AS refused
  FROM form GROUP BY ALL
) t USING (host_key, url_key);

-- step: links
-- The linkdb under the new keys. Table moved_link: ends that the crawldb does not know. Of links that become one the
-- newest stays.
CREATE TABLE relink AS
SELECT old_host_key, old_url_key, host_key, url_key, url FROM moved
UNION ALL
SELECT old_host_key, old_url_key, host_key, url_key, url FROM moved_link;

CREATE TABLE next_link AS
WITH renamed AS (
  SELECT
    l.* REPLACE (
      coalesce(t.host_key, l.target_host_key) AS target_host_key, coalesce(t.url_key, l.target_url_key) AS target_url_key,
      coalesce(t.url, l.target_url) AS target_url,
      coalesce(s.host_key, l.source_host_key) AS source_host_key, coalesce(s.url_key, l.source_url_key) AS source_url_key,
      coalesce(s.url, l.source_url) AS source_url
    ),
    l.source_url AS old_source, l.target_url AS old_target
  FROM linkdb_all l
  LEFT JOIN relink t ON t.old_host_key = l.target_host_key AND t.old_url_key = l.target_url_key
  LEFT JOIN relink s ON s.old_host_key = l.source_host_key AND s.old_url_key = l.source_url_key
)
SELECT * EXCLUDE (old_source, old_target) REPLACE (
  sum(links) OVER (PARTITION BY target_host_key, target_url_key, source_host_key, source_url_key)::INTEGER AS links,
  target_host_key = source_host_key AS internal
)
FROM renamed
QUALIFY row_number() OVER (
  PARTITION BY target_host_key, target_url_key, source_host_key, source_url_key
  ORDER BY fetch_time DESC, old_source, old_target
) = 1;

-- Pages that were told; those of a linkdb from before there were linksources are the ones with links in it.
CREATE TABLE next_source AS
SELECT
  coalesce(r.host_key, s.source_host_key) AS source_host_key, coalesce(r.url_key, s.source_url_key) AS source_url_key,
  max(s.fetch_time) AS fetch_time, false AS again, 0::BIGINT AS revision
FROM (
  SELECT source_host_key, source_url_key, fetch_time FROM linksources
  UNION ALL
  SELECT source_host_key, source_url_key, fetch_time FROM linkdb_all
) s
LEFT JOIN relink r ON r.old_host_key = s.source_host_key AND r.old_url_key = s.source_url_key
GROUP BY 1, 2;

CREATE TABLE linked AS
SELECT target_host_key AS host_key, target_url_key AS url_key, count(*)::INTEGER AS inlinks
FROM next_link GROUP BY ALL;

-- step: current_row
-- The crawldb as it will be, but for duplicates of pages that are none any more. Table retext (text, url): URLs that rows speak of and that have another form. What would
-- duplicate itself, or nothing any more, is a page again.
CREATE VIEW current_row AS
WITH kept AS (
  SELECT c.* FROM crawldb c
  ANTI JOIN moved m ON m.old_host_key = c.host_key AND m.old_url_key = c.url_key
  ANTI JOIN merged n ON n.host_key = c.host_key AND n.url_key = c.url_key
  UNION ALL
  SELECT * FROM merged
), renamed AS (
  SELECT k.* REPLACE (
    CASE WHEN d.text IS NULL THEN k.duplicate_of ELSE d.url END AS duplicate_of,
    CASE WHEN e.text IS NULL THEN k.canonical_url ELSE e.url END AS canonical_url,
    CASE WHEN s.text IS NULL THEN k.similar_to ELSE s.url END AS similar_to,
    coalesce(i.inlinks, 0)::INTEGER AS inlinks
  )
  FROM kept k
  LEFT JOIN retext d ON d.text = k.duplicate_of
  LEFT JOIN retext e ON e.text = k.canonical_url
  LEFT JOIN retext s ON s.text = k.similar_to
  LEFT JOIN linked i USING (host_key, url_key)
)
SELECT * REPLACE (
  CASE WHEN status = 'duplicate' AND coalesce(duplicate_of, url) = url THEN 'fetched' ELSE status END AS status,
  CASE WHEN status = 'duplicate' AND coalesce(duplicate_of, url) = url THEN NULL ELSE reason END AS reason,
  CASE WHEN duplicate_of <> url THEN duplicate_of END AS duplicate_of,
  CASE WHEN duplicate_of <> url OR similar_to <> url THEN duplicate_kind END AS duplicate_kind,
  CASE WHEN similar_to <> url THEN similar_to END AS similar_to
)
FROM renamed;

-- Rows that take part in it, as they will be and as they were; what jobs/crawldb/repeats.sql looks at.
CREATE TABLE touched AS SELECT c.* FROM current_row c SEMI JOIN merged USING (host_key, url_key);
CREATE VIEW former_row AS
SELECT c.* FROM crawldb c SEMI JOIN moved m ON m.old_host_key = c.host_key AND m.old_url_key = c.url_key
UNION
SELECT c.* FROM crawldb c SEMI JOIN merged USING (host_key, url_key);

-- step: next_row
CREATE VIEW next_row AS
SELECT * FROM current_row ANTI JOIN dedup_row USING (host_key, url_key) UNION ALL SELECT * FROM dedup_row;

-- step: unknown
-- Inlinks of URLs that are no rows.
SELECT * FROM linked ANTI JOIN (SELECT host_key, url_key FROM next_row) USING (host_key, url_key)

-- step: host_ever
-- What was ever fetched of a host that has no rows any more goes to the host that most of them went to.
CREATE VIEW host_ever AS
WITH successor AS (
  SELECT old_host_key, host_key
  FROM (SELECT old_host_key, host_key, count(*) AS n FROM moved GROUP BY ALL)
  WHERE old_host_key NOT IN (SELECT host_key FROM next_row)
  QUALIFY row_number() OVER (PARTITION BY old_host_key ORDER BY n DESC, host_key) = 1
)
SELECT
  coalesce(s.host_key, h.host_key) AS host_key,
  min(h.url_host_name) AS url_host_name, min(h.url_host_registered_domain) AS url_host_registered_domain,
  sum(pages_fetched) AS pages_fetched, sum(body_bytes) AS body_bytes, sum(over_budget) AS over_budget,
  sum(novel_bytes) AS novel_bytes, arg_max(recent_pages, h.urls) AS recent_pages, arg_max(recent_new, h.urls) AS recent_new
FROM hoststats h LEFT JOIN successor s ON s.old_host_key = h.host_key
GROUP BY 1;

-- step: totals
SELECT
  (SELECT count(*) FROM form WHERE moved)::BIGINT AS moved,
  (SELECT count(*) FROM form)::BIGINT - (SELECT count(*) FROM merged)::BIGINT AS merged,
  (SELECT count(*) FROM clash)::BIGINT AS clashes,
  (SELECT count(*) FROM next_link WHERE cut IS NOT true)::BIGINT AS links;

-- step: refusals
SELECT reason, count(*)::BIGINT AS n FROM merged
WHERE status = 'gone' AND next_fetch_time = $never::TIMESTAMPTZ
GROUP BY reason ORDER BY reason;
