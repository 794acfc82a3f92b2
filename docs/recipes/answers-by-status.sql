-- What came of the requests: pages by outcome, HTTP status and reason.
-- A URL fetched in several rounds counts once a fetch.
SELECT status, fetch_status, reason, count(*) AS pages, sum(content_length)::BIGINT AS bytes
FROM captures
WHERE kind = 'page'
GROUP BY ALL
ORDER BY pages DESC, 1, 2, 3;
