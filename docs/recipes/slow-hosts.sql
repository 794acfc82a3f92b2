-- Hosts that answer slowly or rest, with what sets their delay.
SELECT url_host_name, round(delay_ms) AS delay_ms, delay_term, failures, last_reason, next_allowed_time, requests
FROM hoststate
ORDER BY delay_ms DESC, url_host_name
LIMIT 20;
