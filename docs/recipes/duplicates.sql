-- Pages of equal content, by the page that is kept.
SELECT duplicate_of AS kept, count(*) AS copies, list(url ORDER BY url) AS urls
FROM crawldb
WHERE status = 'duplicate'
GROUP BY ALL
ORDER BY copies DESC, kept
LIMIT 50;
