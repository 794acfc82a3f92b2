-- What each change of the crawldb brings with it. Tables: delta (the changed and new rows, one a URL), counted
-- (further additions to the counts of hosts) and
-- seed_counted (the same for seeds); views: crawldb, hoststats.

-- step: before
-- What the changed rows were; and no further additions, where the job has none.
CREATE TABLE IF NOT EXISTS counted (
  host_key UBIGINT, url_host_name VARCHAR, url_host_registered_domain VARCHAR,
  pages_fetched BIGINT, body_bytes BIGINT, over_budget BIGINT, novel_bytes BIGINT, seen_pages BIGINT, seen_new BIGINT
);
CREATE TABLE IF NOT EXISTS seed_counted (
  seed VARCHAR, pages_fetched BIGINT, body_bytes BIGINT, novel_bytes BIGINT, over_budget BIGINT
);
CREATE TABLE before_delta AS
SELECT
  host_key, url_key, status, seed, hop_type,
  reason, retries, depth, score, next_fetch_time, fetch_time, fetch_interval_s
FROM crawldb_of('delta');

-- step: recent
-- A window over the last 100 or so pages (chosen: enough for a share, few enough to forget), moved on by the pages seen:
-- as many as there is room for; old ones count as a share of what they were.
CREATE OR REPLACE MACRO recent_pages_after(pages, seen) AS least(100, pages + seen)::DOUBLE;
CREATE OR REPLACE MACRO recent_new_after(pages, own, seen, seen_own) AS CASE
  WHEN seen >= 100 THEN 100 * seen_own / seen
  WHEN pages > 0 THEN own * least(pages, 100 - seen) / pages + seen_own
  ELSE seen_own
END::DOUBLE;

-- step: hoststats
-- Counts of each host: as they were, less the changed rows as they were, plus the changed rows as they are.
CREATE TABLE new_hoststats AS
WITH change AS (
  SELECT host_key, url_host_name, url_host_registered_domain, status, 1 AS n FROM delta
  UNION ALL
  SELECT host_key, NULL, NULL, status, -1 FROM before_delta
), part AS (
  SELECT
    host_key, url_host_name, url_host_registered_domain,
    urls, unfetched, fetched, duplicates, gone, redirects, pages_fetched, body_bytes, over_budget,
    novel_bytes, recent_pages, recent_new, 0 AS seen_pages, 0 AS seen_new
  FROM hoststats
  UNION ALL
  SELECT
    host_key, url_host_name, url_host_registered_domain,
    n,
    CASE WHEN status = 'unfetched' THEN n ELSE 0 END,
    CASE WHEN status IN ('fetched', 'notmodified') THEN n ELSE 0 END,
    CASE WHEN status = 'duplicate' THEN n ELSE 0 END,
    CASE WHEN status = 'gone' THEN n ELSE 0 END,
    CASE WHEN status IN ('redir_temp', 'redir_perm') THEN n ELSE 0 END,
    0, 0, 0, NULL, NULL, NULL, 0, 0
  FROM change
  UNION ALL
  SELECT
    host_key, url_host_name, url_host_registered_domain,
    0, 0, 0, 0, 0, 0, pages_fetched, body_bytes, over_budget, novel_bytes, NULL, NULL, seen_pages, seen_new
  FROM counted
)
SELECT
  host_key,
  min(url_host_name) AS url_host_name,
  min(url_host_registered_domain) AS url_host_registered_domain,
  sum(urls)::BIGINT AS urls,
  sum(unfetched)::BIGINT AS unfetched,
  sum(fetched)::BIGINT AS fetched,
  sum(duplicates)::BIGINT AS duplicates,
  sum(gone)::BIGINT AS gone,
  sum(redirects)::BIGINT AS redirects,
  sum(pages_fetched)::BIGINT AS pages_fetched,
  sum(body_bytes)::BIGINT AS body_bytes,
  sum(over_budget)::BIGINT AS over_budget,
  coalesce(sum(novel_bytes), 0)::BIGINT AS novel_bytes,
  recent_pages_after(coalesce(max(recent_pages), 0), sum(seen_pages)) AS recent_pages,
  recent_new_after(coalesce(max(recent_pages), 0), coalesce(max(recent_new), 0), sum(seen_pages), sum(seen_new)) AS recent_new
FROM part
GROUP BY host_key;

-- step: seed_changes
-- By how much the counts of seeds change. A seed has the URLs that are its own by the rows, but for injected ones.
CREATE TABLE seed_change AS
SELECT
  seed, sum(urls)::BIGINT AS urls, sum(pages_fetched)::BIGINT AS pages_fetched, sum(body_bytes)::BIGINT AS body_bytes,
  sum(novel_bytes)::BIGINT AS novel_bytes, sum(over_budget)::BIGINT AS over_budget
FROM (
  SELECT seed, 1 AS urls, 0 AS pages_fetched, 0 AS body_bytes, 0 AS novel_bytes, 0 AS over_budget
  FROM delta WHERE hop_type <> 'I'
  UNION ALL
  SELECT seed, -1, 0, 0, 0, 0 FROM before_delta WHERE hop_type <> 'I'
  UNION ALL
  SELECT seed, 0, pages_fetched, body_bytes, novel_bytes, over_budget FROM seed_counted
)
WHERE seed IS NOT NULL
GROUP BY seed
HAVING sum(urls) <> 0 OR sum(pages_fetched) <> 0 OR sum(body_bytes) <> 0 OR sum(over_budget) <> 0;

-- step: seedstats
-- View: seedstats.
CREATE TABLE new_seedstats AS
SELECT
  seed, sum(urls)::BIGINT AS urls, sum(pages_fetched)::BIGINT AS pages_fetched, sum(body_bytes)::BIGINT AS body_bytes,
  sum(novel_bytes)::BIGINT AS novel_bytes, sum(over_budget)::BIGINT AS over_budget
FROM (
  SELECT seed, urls, pages_fetched, body_bytes, novel_bytes, over_budget FROM seedstats
  UNION ALL
  SELECT * FROM seed_change
)
GROUP BY seed;

-- step: recounted_hosts
-- The counts of hosts where all rows are written anew. Views: next_row, and host_ever, what was ever fetched of hosts, in
-- columns of hoststats.
CREATE TABLE new_hoststats AS
WITH counted AS (
  SELECT
    host_key, min(url_host_name) AS url_host_name, min(url_host_registered_domain) AS url_host_registered_domain,
    count(*) AS urls,
    count(*) FILTER (status = 'unfetched') AS unfetched,
    count(*) FILTER (status IN ('fetched', 'notmodified')) AS fetched,
    count(*) FILTER (status = 'duplicate') AS duplicates,
    count(*) FILTER (status = 'gone') AS gone,
    count(*) FILTER (status IN ('redir_temp', 'redir_perm')) AS redirects
  FROM next_row GROUP BY host_key
)
SELECT
  host_key,
  coalesce(c.url_host_name, e.url_host_name) AS url_host_name,
  coalesce(c.url_host_registered_domain, e.url_host_registered_domain) AS url_host_registered_domain,
  coalesce(c.urls, 0)::BIGINT AS urls,
  coalesce(c.unfetched, 0)::BIGINT AS unfetched,
  coalesce(c.fetched, 0)::BIGINT AS fetched,
  coalesce(c.duplicates, 0)::BIGINT AS duplicates,
  coalesce(c.gone, 0)::BIGINT AS gone,
  coalesce(c.redirects, 0)::BIGINT AS redirects,
  coalesce(e.pages_fetched, 0)::BIGINT AS pages_fetched,
  coalesce(e.body_bytes, 0)::BIGINT AS body_bytes,
  coalesce(e.over_budget, 0)::BIGINT AS over_budget,
  coalesce(e.novel_bytes, 0)::BIGINT AS novel_bytes,
  coalesce(e.recent_pages, 0)::DOUBLE AS recent_pages,
  coalesce(e.recent_new, 0)::DOUBLE AS recent_new
FROM counted c FULL JOIN host_ever e USING (host_key);

-- step: recounted_seeds
-- And those of seeds. Views: next_row, seedstats.
CREATE TABLE new_seedstats AS
WITH counted AS (
  SELECT seed, count(*) AS urls FROM next_row WHERE hop_type <> 'I' AND seed IS NOT NULL GROUP BY seed
)
SELECT
  seed, coalesce(c.urls, 0)::BIGINT AS urls, coalesce(s.pages_fetched, 0)::BIGINT AS pages_fetched,
  coalesce(s.body_bytes, 0)::BIGINT AS body_bytes, coalesce(s.novel_bytes, 0)::BIGINT AS novel_bytes,
  coalesce(s.over_budget, 0)::BIGINT AS over_budget
FROM counted c FULL JOIN seedstats s USING (seed);

-- step: summary
-- Counts of the whole crawl, for `crawl status`.
SELECT
  coalesce(sum(urls), 0)::BIGINT AS urls,
  coalesce(sum(unfetched), 0)::BIGINT AS unfetched,
  coalesce(sum(fetched), 0)::BIGINT AS fetched,
  coalesce(sum(duplicates), 0)::BIGINT AS duplicates,
  coalesce(sum(gone), 0)::BIGINT AS gone,
  coalesce(sum(redirects), 0)::BIGINT AS redirects,
  coalesce(sum(pages_fetched), 0)::BIGINT AS pages_fetched,
  coalesce(sum(body_bytes) - sum(novel_bytes), 0)::BIGINT AS saved_bytes,
  count(*)::BIGINT AS hosts
FROM new_hoststats;
