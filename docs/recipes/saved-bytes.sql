-- Hosts that send again what the crawl has already: bytes received, and those of them that were not stored again.
-- (Payloads of errors that are not kept at all, where fetch.store_errors is off, count as well.)
SELECT url_host_name, pages_fetched, body_bytes, body_bytes - novel_bytes AS saved_bytes
FROM hoststats
WHERE novel_bytes < body_bytes
ORDER BY saved_bytes DESC, url_host_name
LIMIT 20;
