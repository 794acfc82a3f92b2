-- Counts of hosts anew, from all rows of the crawldb. Views: crawldb, hoststats.

-- step: hoststats
-- What was ever fetched, and how much of it was new, only rounds can tell: that stays. Of a host without a row the pages
-- are those that rows of the crawldb show.
CREATE TABLE new_hoststats AS
WITH counted AS (
  SELECT
    host_key, min(url_host_name) AS url_host_name, min(url_host_registered_domain) AS url_host_registered_domain,
    count(*) AS urls,
    count(*) FILTER (status = 'unfetched') AS unfetched,
    count(*) FILTER (status IN ('fetched', 'notmodified')) AS fetched,
    count(*) FILTER (status = 'duplicate') AS duplicates,
    count(*) FILTER (status = 'gone') AS gone,
    count(*) FILTER (status IN ('redir_temp', 'redir_perm')) AS redirects,
    count(*) FILTER (last_success_time IS NOT NULL AND sitemap_depth IS NULL) AS pages_fetched
  FROM crawldb GROUP BY host_key
)
SELECT
  host_key,
  coalesce(c.url_host_name, h.url_host_name) AS url_host_name,
  coalesce(c.url_host_registered_domain, h.url_host_registered_domain) AS url_host_registered_domain,
  coalesce(c.urls, 0)::BIGINT AS urls, coalesce(c.unfetched, 0)::BIGINT AS unfetched,
  coalesce(c.fetched, 0)::BIGINT AS fetched, coalesce(c.duplicates, 0)::BIGINT AS duplicates,
  coalesce(c.gone, 0)::BIGINT AS gone, coalesce(c.redirects, 0)::BIGINT AS redirects,
  coalesce(h.pages_fetched, c.pages_fetched, 0)::BIGINT AS pages_fetched,
  coalesce(h.body_bytes, 0)::BIGINT AS body_bytes, coalesce(h.over_budget, 0)::BIGINT AS over_budget,
  h.novel_bytes, h.recent_pages, h.recent_new
FROM hoststats h FULL JOIN counted c USING (host_key);

-- step: changes
SELECT
  count(*)::BIGINT AS hosts,
  count(*) FILTER (b.host_key IS NULL)::BIGINT AS added,
  count(*) FILTER (b.host_key IS NOT NULL AND a IS DISTINCT FROM b)::BIGINT AS changed
FROM new_hoststats a LEFT JOIN hoststats b USING (host_key);
