-- What each segment cost and brought: requests, bytes, time, new URLs.
SELECT
  segment,
  max(duration_ms) FILTER (job = 'fetch') AS fetch_ms,
  max(cpu_ms) FILTER (job = 'parse') AS parse_cpu_ms,
  sum((counters ->> 'requests_total')::BIGINT) AS requests,
  sum((counters ->> 'body_bytes_total')::BIGINT) AS bytes,
  sum((counters ->> 'rows_added_total')::BIGINT) AS new_urls
FROM runs
WHERE segment IS NOT NULL
GROUP BY ALL
ORDER BY segment;
