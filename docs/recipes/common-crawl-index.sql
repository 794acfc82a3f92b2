-- A query as it is written for Common Crawl's index: HTML pages by registered domain.
SELECT url_host_registered_domain, count(*) AS pages, approx_count_distinct(content_digest) AS contents
FROM ccindex
WHERE fetch_status = 200 AND content_mime_detected LIKE '%html%'
GROUP BY ALL
ORDER BY pages DESC, 1;
