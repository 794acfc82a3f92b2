-- What the price of a visit follows from. Views as in fold.sql.

-- step: revisits
-- Visits in these segments to pages that were had before; a page may have several.
SELECT count(*)::BIGINT AS visits
FROM outcome o SEMI JOIN (SELECT host_key, url_key FROM old_row WHERE last_success_time IS NOT NULL) r
USING (host_key, url_key)
WHERE o.mode = 'apply' AND o.kind = 'page' AND o.status IN ('success', 'notmodified');

-- step: rates
-- Visited pages by estimated rate of change and score, in steps of 2^(1/4), for the price of a visit; and those without
-- an estimate, or with a fixed interval, by what they take.
SELECT
  CASE WHEN change_rate > 0 AND NOT fixed_interval THEN 2 ** (round(4 * log2(change_rate)) / 4) END AS change_rate,
  CASE WHEN score > 0 AND isfinite(score) THEN 2 ** (round(4 * log2(score)) / 4) ELSE 0 END AS score,
  count(*)::BIGINT AS pages,
  sum(1.0 / greatest(fetch_interval_s, 1)) AS visits_per_s
FROM current_row
WHERE last_success_time IS NOT NULL AND status IN ('fetched', 'notmodified', 'duplicate', 'parse_failed')
GROUP BY ALL
ORDER BY ALL;
