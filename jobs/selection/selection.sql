-- Which URLs are worth fetching now. Each step is one question; jobs/selection/steps.ts makes a table of each.
-- Views: wanted (the rows asked about, with their priority), due_row (the due rows of the crawldb, down to a bound by
-- score: jobs/crawldb/candidates.ts), fetchlist (of the open segments), seeds, hoststate, hoststats,
-- robots; table host_rule (what rules by hand say together of a host). Every order is total: url_key and host_key come last.

-- step: locked
-- URLs that stand in the fetchlist of an open segment.
SELECT host_key, url_key, bool_and(kind = 'sitemap') AS sitemap FROM fetchlist GROUP BY ALL

-- step: host
-- What holds for hosts of which something is known. Tables: locked; views: asked_hoststate, asked_hoststats.
-- $now; $rest_ms: how far ahead a host may rest and still be selected; $min_delay_ms; $max_crawl_delay_ms: a host
-- that asks for more gets one URL; $latency_factor, $max_latency_ms: of the delay; $usual_response_ms: time of an
-- answer of a host that gave none yet; $window_ms: length of the fetch, 0 for none; $max_per_host; $yield: hosts whose
-- last pages had little of their own get less; $host_pages, $host_bytes, $host_novel: budget of a host, -1 for no end.
WITH open_urls AS (
  SELECT host_key, count(*) FILTER (NOT sitemap) AS urls FROM locked GROUP BY host_key
), robots_due AS (
  SELECT host_key, max(expires_time) <= $now::TIMESTAMPTZ AS due FROM robots GROUP BY host_key
), fact AS (
  SELECT
    host_key,
    coalesce(hr.blocked, false) AS blocked,
    coalesce(st.failures > 0 OR hr.hours IS NOT NULL, false) AS waits,
    -- A last answer in the future was told by a clock that ran ahead: the pause after it is no longer for that
    least(
      greatest(epoch_ms(st.next_allowed_time) - epoch_ms($now::TIMESTAMPTZ), 0),
      CASE WHEN st.last_response_time > $now::TIMESTAMPTZ THEN st.delay_ms END
    ) AS rest_ms,
    CASE WHEN st.latency_ms > 0 AND $latency_factor > 0 THEN st.latency_ms / $latency_factor
      ELSE $usual_response_ms END AS response_ms,
    st.delay_ms,
    hr.min_delay_ms AS rule_delay_ms, 1000 / nullif(hr.max_rate, 0) AS rate_turn_ms,
    coalesce(rd.due, true) AS robots_due,
    coalesce(hs.pages_fetched, 0) + coalesce(o.urls, 0) AS pages,
    hs.body_bytes / nullif(hs.pages_fetched, 0) AS page_bytes,
    coalesce(hs.body_bytes, 0) AS body_bytes, coalesce(hs.novel_bytes, 0) AS novel_bytes,
    -- Of at least 20 pages the share with content of their own, against a half (chosen)
    CASE WHEN $yield AND hs.recent_pages >= 20 THEN least(1, hs.recent_new / hs.recent_pages / 0.5) ELSE 1 END AS worth
  FROM asked_hoststate st
  FULL JOIN asked_hoststats hs USING (host_key)
  FULL JOIN host_rule hr USING (host_key)
  FULL JOIN open_urls o USING (host_key)
  LEFT JOIN robots_due rd USING (host_key)
), timed AS (
  SELECT
    *,
    greatest(
      coalesce(delay_ms, least($latency_factor * response_ms, $max_latency_ms)),
      coalesce(rule_delay_ms, 0), coalesce(rate_turn_ms - response_ms, 0), $min_delay_ms, 1
    ) AS pause_ms
  FROM fact
), turned AS (
  -- From one request to the next; and to the first one for a page.
  SELECT
    *,
    pause_ms + response_ms AS turn_ms,
    coalesce(rest_ms, 0) + CASE WHEN robots_due THEN pause_ms + response_ms ELSE 0 END AS lead_ms
  FROM timed
)
SELECT
  host_key,
  CASE
    WHEN blocked THEN 'host_blocked'
    WHEN rest_ms > $rest_ms AND (waits OR $window_ms > 0) THEN 'host_resting'
    WHEN budget_left <= 0 THEN 'budget'
  END AS reason,
  CASE
    WHEN pause_ms > $max_crawl_delay_ms THEN 1
    WHEN $window_ms > 0
      THEN greatest(1, least(most, floor(($window_ms - lead_ms - response_ms - 1) / turn_ms) + 1))
    ELSE most
  END::BIGINT AS cap,
  budget_left, lead_ms, turn_ms, pause_ms, page_bytes
FROM (
  SELECT
    *,
    -- A twentieth is left to a host that gives nothing, or 10 URLs: so it shows when that changes
    greatest(least($max_per_host, 10), ceil($max_per_host * greatest(worth, 0.05))) AS most,
    least(
      quota_left($host_pages, pages, 1),
      quota_left($host_bytes, body_bytes, page_bytes),
      quota_left($host_novel, novel_bytes, novel_bytes / nullif(pages, 0))
    )::BIGINT AS budget_left
  FROM turned
)

-- step: odd
-- What was out of all bounds, of the hosts and the due URLs that were looked at. Table: due. $now.
SELECT
  (SELECT count(*) FROM hoststate WHERE last_response_time > $now)::BIGINT AS clock_ahead_total,
  (SELECT count(*) FROM due WHERE bounded)::BIGINT AS scores_bounded_total

-- step: quota_left
-- How many pages a budget has left, when one takes so much; null for no end.
CREATE OR REPLACE MACRO quota_left(most, used, each) AS CASE
  WHEN most < 0 THEN NULL
  WHEN used >= most THEN 0
  ELSE greatest(1, floor((most - used) / greatest(coalesce(each, 1), 1)))
END

-- step: turn_of
-- When a URL's turn comes, that is the nth of its kind (new, or known): the kinds are served by their shares.
CREATE OR REPLACE MACRO turn_of(nth, refetch, refetch_share) AS
  nth / greatest(CASE WHEN refetch THEN refetch_share ELSE 1 - refetch_share END, 1e-9)

-- step: wider_budget
-- What domains and seeds have left of their budgets. Tables: locked; views: fetchlist, hoststats, seedstats.
-- $domain_pages, $domain_bytes, $domain_novel, $seed_pages, $seed_bytes, $seed_novel: -1 for no end.
WITH open_url AS (
  SELECT url_host_registered_domain, seed FROM fetchlist WHERE kind <> 'sitemap'
), used AS (
  SELECT 'domain' AS level, url_host_registered_domain AS name, pages_fetched AS pages, body_bytes, novel_bytes
  FROM hoststats
  UNION ALL
  SELECT 'seed', seed, pages_fetched, body_bytes, novel_bytes FROM seedstats
  UNION ALL
  SELECT 'domain', url_host_registered_domain, 1, 0, 0 FROM open_url
  UNION ALL
  SELECT 'seed', seed, 1, 0, 0 FROM open_url WHERE seed IS NOT NULL
), total AS (
  SELECT level, name, sum(pages) AS pages, sum(body_bytes) AS body_bytes, coalesce(sum(novel_bytes), 0) AS novel_bytes
  FROM used GROUP BY ALL
)
SELECT
  level, hash(name) AS key,
  least(
    quota_left(CASE level WHEN 'domain' THEN $domain_pages ELSE $seed_pages END, pages, 1),
    quota_left(CASE level WHEN 'domain' THEN $domain_bytes ELSE $seed_bytes END, body_bytes, body_bytes / nullif(pages, 0)),
    quota_left(CASE level WHEN 'domain' THEN $domain_novel ELSE $seed_novel END, novel_bytes, novel_bytes / nullif(pages, 0))
  )::BIGINT AS budget_left
FROM total

-- step: share
-- Seeds of a named group (`group=` on the seed line) that has a weight. Table: weight (name, weight).
SELECT n.seed, n.seed_group AS name
FROM (
  SELECT url AS seed, arg_max(seed_group, injected_time) AS seed_group
  FROM seeds WHERE outcome IN ('added', 'updated') GROUP BY url
) n SEMI JOIN weight w ON w.name = n.seed_group

-- step: due
-- URLs whose time has come and that no open segment holds, with what their host allows. Tables: locked, host, share,
-- weight. $due; $force: those whose time has not come, too; $order; $by_lateness: known pages come by the time since the
-- last visit, at $now, in parts of their interval, whatever the order; $new_cap: URLs of a host of which nothing is known;
-- $new_budget: pages it may have.
SELECT
  c.host_key, c.url_key, c.status <> 'unfetched' AS refetch, c.sitemap_depth IS NOT NULL AS sitemap,
  CASE WHEN $by_lateness AND refetch
    THEN 1 + (epoch($now::TIMESTAMPTZ) - epoch(c.next_fetch_time)) / greatest(c.fetch_interval_s, 1)
    ELSE c.priority END::DOUBLE AS priority,
  CASE
    WHEN $by_lateness AND refetch THEN 0
    WHEN $order = 'breadth' THEN c.depth
    WHEN $order = 'depth' THEN -c.depth
    ELSE 0
  END::INTEGER AS step,
  coalesce(s.name, t.name, '*') AS share,
  domain_of(c.url_host_registered_domain) AS domain, seed_of(c.seed) AS seed,
  NOT isfinite(c.score) AS bounded,
  h.reason,
  coalesce(h.cap, $new_cap)::BIGINT AS cap,
  CASE WHEN h.host_key IS NULL THEN nullif($new_budget, -1) ELSE h.budget_left END::BIGINT AS budget_left
FROM wanted c
ANTI JOIN locked l USING (host_key, url_key)
LEFT JOIN host h USING (host_key)
LEFT JOIN share s ON s.seed = shared(c.seed)
LEFT JOIN weight t ON t.name = shared(c.tag)
WHERE (c.next_fetch_time <= $due::TIMESTAMPTZ OR $force) AND c.status <> 'orphan'

-- step: poor_part
-- Parts of large hosts, by first folder, whose last pages had little content of their own: the share, against a half, as
-- for hosts. View: pathstats. $yield.
SELECT host_key, path, recent_new / recent_pages / 0.5 AS worth
FROM pathstats
WHERE $yield AND recent_pages >= 20 AND recent_new < 0.5 * recent_pages

-- step: spared
-- Of such a part no more new URLs than its worth of what its host gets, but a twentieth or 10 URLs; the others leave
-- their places to the rest of the host. Tables: due, poor_part; view: wanted.
UPDATE due SET reason = 'low_yield' FROM (
  SELECT d.host_key, d.url_key
  FROM (SELECT * FROM due WHERE reason IS NULL AND NOT refetch AND NOT sitemap) d
  JOIN (
    SELECT host_key, url_key, first_folder(url) AS path
    FROM wanted SEMI JOIN poor_part USING (host_key)
  ) u USING (host_key, url_key)
  JOIN poor_part p USING (host_key, path)
  QUALIFY row_number() OVER (PARTITION BY d.host_key, p.path ORDER BY d.step, d.priority DESC, d.url_key)
    > greatest(least(d.cap, 10), ceil(d.cap * greatest(p.worth, 0.05)))
) s
WHERE due.host_key = s.host_key AND due.url_key = s.url_key

-- step: candidate
-- Due URLs of hosts that may be asked, as many pages of each host as its budget has left. Tables: due. $refetch_share.
WITH in_kind AS (
  SELECT
    *, row_number() OVER (PARTITION BY host_key, refetch ORDER BY step, priority DESC, url_key) AS kind_nth
  FROM due WHERE reason IS NULL AND budget_left IS NOT NULL AND NOT sitemap
)
SELECT * EXCLUDE (reason, budget_left, bounded) FROM due WHERE reason IS NULL AND (budget_left IS NULL OR sitemap)
UNION ALL
SELECT * EXCLUDE (reason, budget_left, bounded, kind_nth) FROM in_kind
QUALIFY row_number() OVER (PARTITION BY host_key ORDER BY turn_of(kind_nth, refetch, $refetch_share), refetch)
  <= budget_left

-- step: in_domain_budget
-- Candidates of which each domain has no more than its budget has left. Tables: candidate, wider_budget. $most: of a
-- domain of which nothing is known, -1 for no end; $refetch_share.
WITH in_kind AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY domain, sitemap, refetch ORDER BY step, priority DESC, url_key, host_key
    ) AS kind_nth
  FROM candidate
)
SELECT c.* EXCLUDE (kind_nth)
FROM in_kind c LEFT JOIN (SELECT key AS domain, budget_left FROM wider_budget WHERE level = 'domain') b USING (domain)
QUALIFY sitemap OR coalesce(
  row_number() OVER (PARTITION BY domain, sitemap ORDER BY turn_of(kind_nth, refetch, $refetch_share), refetch)
    <= coalesce(b.budget_left, nullif($most, -1)), true)

-- step: in_seed_budget
-- The same for what was reached from a seed.
WITH in_kind AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY seed, sitemap, refetch ORDER BY step, priority DESC, url_key, host_key
    ) AS kind_nth
  FROM candidate
)
SELECT c.* EXCLUDE (kind_nth)
FROM in_kind c LEFT JOIN (SELECT key AS seed, budget_left FROM wider_budget WHERE level = 'seed') b USING (seed)
QUALIFY sitemap OR seed IS NULL OR coalesce(
  row_number() OVER (PARTITION BY seed, sitemap ORDER BY turn_of(kind_nth, refetch, $refetch_share), refetch)
    <= coalesce(b.budget_left, nullif($most, -1)), true)

-- step: ranked
-- As many URLs of each host as a fetchlist may have, in the host's own order, with new and known ones in turn by
-- their shares. A URL stands in the whole list by the best priority among itself and those that wait behind it, so
-- that whatever is cut off, of each host it is the end of its order. Tables: candidate, picked. $refetch_share.
WITH in_kind AS (
  SELECT
    c.*,
    row_number() OVER (PARTITION BY host_key, refetch ORDER BY step, priority DESC, url_key) AS nth
  FROM candidate c ANTI JOIN picked p USING (host_key, url_key)
  QUALIFY nth <= cap
), in_host AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY host_key
      ORDER BY turn_of(nth, refetch, $refetch_share), refetch
    ) AS host_nth
  FROM in_kind
  QUALIFY host_nth <= cap
)
SELECT
  * EXCLUDE (step, priority, cap),
  max(priority) OVER (
    PARTITION BY host_key, refetch ORDER BY nth ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
  ) AS standing
FROM in_host

-- step: in_domain
-- Of each registered domain at most $most, the hosts in turn, and new and known URLs. Tables: ranked. $refetch_share.
WITH in_kind AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY domain, refetch ORDER BY host_nth, standing DESC, url_key, host_key) AS kind_nth
  FROM ranked
)
SELECT * EXCLUDE (kind_nth) FROM in_kind
QUALIFY row_number() OVER (PARTITION BY domain ORDER BY turn_of(kind_nth, refetch, $refetch_share), refetch) <= $most

-- step: in_seed
-- Of what was reached from one seed at most $most, new and known URLs in turn; what no seed is known of counts as one.
-- Tables: ranked. $refetch_share.
WITH in_kind AS (
  SELECT
    *, row_number() OVER (PARTITION BY seed, refetch ORDER BY standing DESC, nth, url_key, host_key) AS kind_nth
  FROM ranked
)
SELECT * EXCLUDE (kind_nth) FROM in_kind
QUALIFY row_number() OVER (PARTITION BY seed ORDER BY turn_of(kind_nth, refetch, $refetch_share), refetch) <= $most

-- step: pick
-- The best of what is left. Each group and kind has a queue of its own; URL n of a queue with weight w comes at time
-- n / w (weighted fair queueing), so that every beginning of the list has the shares that were asked for, and what one
-- queue does not use goes to the others. Tables: ranked, weight. $part; $top_n; $refetch_share; $other_weight.
WITH in_kind AS (
  SELECT
    host_key, url_key, share, refetch, standing, nth,
    row_number() OVER (PARTITION BY share, refetch ORDER BY standing DESC, nth, url_key, host_key) AS kind_nth
  FROM ranked
  QUALIFY kind_nth <= $top_n
), in_share AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY share
      ORDER BY turn_of(kind_nth, refetch, $refetch_share), refetch
    ) AS share_nth
  FROM in_kind
  QUALIFY share_nth <= $top_n
), ordered AS (
  SELECT
    i.*,
    row_number() OVER (ORDER BY i.share_nth / coalesce(w.weight, $other_weight), i.share) AS rank
  FROM in_share i LEFT JOIN weight w ON w.name = i.share
)
SELECT
  $part::INTEGER AS part, rank::INTEGER AS rank, host_key, url_key, share, refetch, standing, nth::BIGINT AS nth
FROM ordered
WHERE rank <= $top_n

-- step: cuts
-- The last URL taken of each queue, where the list was full. Tables: picked, ranked. $part; $top_n.
SELECT share AS "group", refetch, arg_max(standing, rank) AS standing, arg_max(nth, rank) AS nth
FROM picked
WHERE part = $part AND (SELECT count(*) FROM picked WHERE part = $part) >= $top_n
GROUP BY ALL ORDER BY ALL

-- step: chosen
-- The picked URLs with all that a fetch needs. Validators go along only where the segment that holds the payload is
-- there. Tables: picked, page, held. $due.
SELECT
  p.part, p.rank, c.host_key, c.url_key, c.url, c.url_host_name, c.url_host_registered_domain,
  CASE WHEN c.sitemap_depth IS NULL THEN 'page' ELSE 'sitemap' END AS kind,
  CASE
    WHEN c.next_fetch_time > $due::TIMESTAMPTZ THEN 'forced'
    WHEN c.fetch_time IS NULL AND c.last_success_time IS NULL THEN 'new'
    WHEN c.retries > 0 OR c.status = 'unfetched' THEN 'retry'
    ELSE 'refetch'
  END AS selected_as,
  c.priority AS score, c.depth, c.seed,
  CASE WHEN h.segment IS NOT NULL THEN c.etag END AS etag,
  CASE WHEN h.segment IS NOT NULL THEN c.last_modified END AS last_modified,
  CASE WHEN h.segment IS NOT NULL THEN c.content_digest END AS content_digest,
  h.segment AS content_segment
FROM page c
JOIN picked p USING (host_key, url_key)
LEFT JOIN held h ON h.segment = c.last_success_segment

-- step: page
-- All that the scope and a fetch ask of the URLs in the table `asked`. The wide columns of the head are read here alone.
-- View: wanted.
SELECT
  c.host_key, c.url_key, c.url, c.url_host_name, c.url_host_registered_domain, c.status, c.priority, c.depth, c.seed,
  c.hop_type, c.discovered_from, c.sitemap_depth, c.next_fetch_time, c.fetch_time, c.last_success_time,
  c.last_success_segment, c.retries, c.etag, c.last_modified, c.content_digest
FROM wanted c SEMI JOIN asked USING (host_key, url_key)

-- step: known
-- What the scope looks at, of the rows in the table `asked_page`.
SELECT a.host_key, a.url_key, a.url, a.depth, a.hop_type, a.discovered_from, a.seed, f.scope AS seed_scope
FROM asked_page a
LEFT JOIN (
  SELECT url AS seed, arg_max(scope, injected_time) AS scope
  FROM seeds WHERE outcome IN ('added', 'updated') GROUP BY url
) f USING (seed)

-- step: forecast
-- What the fetch of one list will take. A host is asked by turns; what its pages weigh is what they weighed so far, for
-- a host not seen yet the mean of all. Tables: chosen, host; view: hoststats. $part; $new_lead_ms, $new_turn_ms, $new_pause_ms: of a host
-- of which nothing is known; $usual_page_bytes: where no page was ever fetched.
WITH per_host AS (
  SELECT
    c.host_key, any_value(c.url_host_name) AS host, count(*) AS urls,
    any_value(coalesce(h.lead_ms, $new_lead_ms)) AS lead_ms,
    any_value(coalesce(h.turn_ms, $new_turn_ms)) AS turn_ms,
    any_value(coalesce(h.pause_ms, $new_pause_ms)) AS pause_ms,
    any_value(h.page_bytes) AS page_bytes
  FROM chosen c LEFT JOIN host h USING (host_key)
  WHERE c.part = $part
  GROUP BY c.host_key
), usual AS (
  SELECT coalesce(sum(body_bytes) / nullif(sum(pages_fetched), 0), $usual_page_bytes) AS page_bytes FROM hoststats
)
SELECT
  p.host, p.urls::BIGINT AS urls,
  (p.lead_ms + p.urls * p.turn_ms - p.pause_ms)::DOUBLE AS duration_ms,
  (p.urls + (p.lead_ms > 0)::INTEGER)::BIGINT AS requests,
  ((p.urls + (p.lead_ms > 0)::INTEGER) * (p.turn_ms - p.pause_ms))::DOUBLE AS busy_ms,
  (p.urls * coalesce(p.page_bytes, u.page_bytes))::DOUBLE AS bytes
FROM per_host p, usual u
ORDER BY duration_ms DESC, host
