-- URLs that links led to and updatedb did not add, by host and reason: budgets, traps, blocked hosts and others.
-- A URL that several segments refused counts once; one that was added since is left out.
SELECT url_host_name AS host, reason, count(DISTINCT url) AS urls, min(url) AS example, max(refused_time) AS last_refused
FROM refusals
ANTI JOIN (SELECT host_key, url_key, url FROM crawldb) known USING (host_key, url_key, url)
GROUP BY ALL
ORDER BY urls DESC, host, reason;
