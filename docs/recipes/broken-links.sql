-- Links that lead to pages that are gone, with the pages that hold them.
-- Refusals (robots.txt, scope) are not broken links, so only pages with an answer count.
SELECT c.url AS target, c.fetch_status, l.source_url, l.anchor
FROM crawldb c
JOIN linkdb l ON l.target_host_key = c.host_key AND l.target_url_key = c.url_key
WHERE c.status = 'gone' AND c.fetch_status IS NOT NULL
ORDER BY target, source_url;
