-- Which URLs are worth fetching now. Each step is one question; jobs/generate.ts makes a table of each.
-- Views: due_row (the due rows of the crawldb, down to a bound by score: jobs/crawldb-candidates.ts), fetchlist (of the open segments), hoststate, hoststats, hostrules.
-- A total order decides: score, then url_key, then host_key.

-- step: locked
-- URLs that stand in the fetchlist of an open segment.
SELECT host_key, url_key, bool_and(kind = 'sitemap') AS sitemap FROM fetchlist GROUP BY ALL

-- step: host
-- What holds for hosts of which something is known. Tables: locked.
-- $now, $rest_ms: how far ahead a host may rest and still be selected; $min_delay_ms; $max_crawl_delay_ms: a host
-- that asks for more gets one URL; $window_ms: length of the fetch, 0 for none; $max_per_host; $budget: pages ever
-- of a host, -1 for no end.
WITH open_urls AS (
  SELECT host_key, count(*) FILTER (NOT sitemap) AS urls FROM locked GROUP BY host_key
), fact AS (
  SELECT
    host_key,
    coalesce(hr.blocked, false) AS blocked,
    coalesce((st.failures > 0 OR hr.hours IS NOT NULL) AND st.next_allowed_time > $now::TIMESTAMPTZ + to_milliseconds($rest_ms), false) AS resting,
    greatest(coalesce(st.delay_ms, 0), coalesce(hr.min_delay_ms, 0), $min_delay_ms, 1) AS delay_ms,
    greatest($window_ms - greatest(coalesce(epoch_ms(st.next_allowed_time) - epoch_ms($now::TIMESTAMPTZ), 0), 0), 0)
      AS time_ms,
    coalesce(hs.pages_fetched, 0) + coalesce(o.urls, 0) AS pages
  FROM hoststate st
  FULL JOIN hoststats hs USING (host_key)
  FULL JOIN hostrules hr USING (host_key)
  FULL JOIN open_urls o USING (host_key)
)
SELECT
  host_key,
  CASE
    WHEN blocked THEN 'host_blocked'
    WHEN resting THEN 'host_resting'
    WHEN $budget >= 0 AND pages >= $budget THEN 'budget'
  END AS reason,
  CASE
    WHEN delay_ms > $max_crawl_delay_ms THEN 1
    WHEN $window_ms > 0 THEN greatest(1, least($max_per_host, floor(time_ms / delay_ms)))
    ELSE $max_per_host
  END::BIGINT AS cap,
  CASE WHEN $budget >= 0 THEN greatest($budget - pages, 0) END::BIGINT AS budget_left
FROM fact

-- step: due
-- URLs whose time has come and that no open segment holds, with what their host allows. Tables: locked, host.
-- $due; $new_cap: URLs of a host of which nothing is known; $budget.
SELECT
  c.host_key, c.url_key, c.score, c.sitemap_depth IS NOT NULL AS sitemap,
  h.reason,
  coalesce(h.cap, $new_cap)::BIGINT AS cap,
  CASE WHEN $budget >= 0 THEN coalesce(h.budget_left, $budget) END AS budget_left
FROM wanted c
ANTI JOIN locked l USING (host_key, url_key)
LEFT JOIN host h USING (host_key)
WHERE c.next_fetch_time <= $due::TIMESTAMPTZ AND c.status <> 'orphan'

-- step: candidate
-- Due URLs of hosts that may be asked, as many pages of each host as its budget has left. Tables: due.
SELECT host_key, url_key, score, cap
FROM due
WHERE reason IS NULL
QUALIFY budget_left IS NULL OR sitemap
  OR row_number() OVER (PARTITION BY host_key, sitemap ORDER BY score DESC, url_key) <= budget_left

-- step: pick
-- The best of what is left, as many of each host as a fetchlist may have. Tables: candidate, picked. $top_n.
WITH ranked AS (
  SELECT c.*, row_number() OVER (PARTITION BY host_key ORDER BY score DESC, url_key) AS nth
  FROM candidate c ANTI JOIN picked p USING (host_key, url_key)
)
SELECT
  $part::INTEGER AS part,
  row_number() OVER (ORDER BY score DESC, url_key, host_key)::INTEGER AS rank,
  host_key, url_key
FROM ranked
WHERE nth <= cap
ORDER BY score DESC, url_key, host_key
LIMIT $top_n

-- step: limited
-- URLs that only the cap of their host kept out. Tables: candidate, picked. $parts: fetchlists made.
WITH taken AS (
  SELECT part, host_key, count(*) AS urls FROM picked GROUP BY ALL
), full_host AS (
  SELECT t.host_key
  FROM taken t JOIN (SELECT host_key, min(cap) AS cap FROM candidate GROUP BY host_key) c USING (host_key)
  WHERE t.urls >= c.cap
  GROUP BY t.host_key HAVING count(*) = $parts
)
SELECT count(*)::BIGINT AS n
FROM candidate c ANTI JOIN picked p USING (host_key, url_key) SEMI JOIN full_host f USING (host_key)

-- step: chosen
-- The picked URLs with all that a fetch needs. Validators go along only where the segment that holds the payload is
-- there. Tables: picked, held.
SELECT
  p.part, p.rank, c.host_key, c.url_key, c.url, c.url_host_name, c.url_host_registered_domain,
  CASE WHEN c.sitemap_depth IS NULL THEN 'page' ELSE 'sitemap' END AS kind,
  CASE
    WHEN c.fetch_time IS NULL AND c.last_success_time IS NULL THEN 'new'
    WHEN c.retries > 0 OR c.status = 'unfetched' THEN 'retry'
    ELSE 'refetch'
  END AS selected_as,
  c.score, c.depth, c.seed,
  CASE WHEN h.segment IS NOT NULL THEN c.etag END AS etag,
  CASE WHEN h.segment IS NOT NULL THEN c.last_modified END AS last_modified,
  CASE WHEN h.segment IS NOT NULL THEN c.content_digest END AS content_digest,
  h.segment AS content_segment
FROM due_row c
JOIN picked p USING (host_key, url_key)
LEFT JOIN held h ON h.segment = c.last_success_segment

-- step: known
-- What the scope looks at, of the URLs in table `asked`.
SELECT
  row_number() OVER () - 1 AS n,
  c.host_key, c.url_key, c.url, c.depth, c.hop_type, c.discovered_from, c.seed, f.scope AS seed_scope
FROM due_row c
SEMI JOIN asked USING (host_key, url_key)
LEFT JOIN (
  SELECT url AS seed, arg_max(scope, injected_time) AS scope
  FROM seeds WHERE outcome IN ('added', 'updated') GROUP BY url
) f ON f.seed = c.seed
