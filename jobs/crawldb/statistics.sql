-- Rows of the crawldb counted for `crawl readdb --stats`. Tables or views: crawldb, crawldbstats; of a commit delta and
-- before_delta, the changed rows as they are and as they were.

-- step: functions
-- Numbers to four digits: some thousand values at most for each power of ten.
CREATE OR REPLACE MACRO four_digits(x) AS
  CASE WHEN x = 0 OR NOT isfinite(x) THEN x ELSE round(x, 3 - floor(log10(abs(x)))::INTEGER) END;

-- Rows of the table or view of this name, counted by each column, in one pass. In each row that the sets give one column
-- at most is not null.
CREATE OR REPLACE MACRO row_statistics(rows) AS TABLE
SELECT
  CASE
    WHEN status IS NOT NULL THEN 'status' WHEN reason IS NOT NULL THEN 'reason'
    WHEN retries IS NOT NULL THEN 'retries' WHEN depth IS NOT NULL THEN 'depth' WHEN score IS NOT NULL THEN 'score'
    WHEN due IS NOT NULL THEN 'due' WHEN fetched IS NOT NULL THEN 'fetched' WHEN fetch_interval IS NOT NULL THEN 'interval'
  END AS statistic,
  coalesce(status, reason) AS word,
  coalesce(retries, depth, score, due, fetched, fetch_interval)::DOUBLE AS value,
  urls
FROM (
  SELECT status, reason, retries, depth, score, due, fetched, fetch_interval, count(*)::BIGINT AS urls
  FROM (
    SELECT
      status, reason, retries, depth, four_digits(score) AS score,
      epoch_ms(next_fetch_time) // 60000 * 60 AS due, epoch_ms(fetch_time) // 60000 * 60 AS fetched,
      four_digits(fetch_interval_s::DOUBLE) AS fetch_interval
    FROM query_table(rows)
  )
  GROUP BY GROUPING SETS ((status), (reason), (retries), (depth), (score), (due), (fetched), (fetch_interval))
)
WHERE statistic IS NOT NULL;

-- step: told
-- What is said of them; of times, of which there are many, the first before and the first after $minute, each for all
-- on its side, and the last, for none. Table: counts.
SELECT * FROM counts WHERE statistic NOT IN ('due', 'fetched')
UNION ALL
SELECT statistic, NULL, min(value), sum(urls)::BIGINT FROM counts
WHERE statistic IN ('due', 'fetched') GROUP BY statistic, value <= $minute
UNION ALL
SELECT statistic, NULL, max(value), 0 FROM counts WHERE statistic IN ('due', 'fetched') GROUP BY statistic

-- step: difference
-- View: statistics_before.
CREATE OR REPLACE TABLE new_crawldbstats AS
SELECT statistic, word, value, sum(urls)::BIGINT AS urls
FROM (
  SELECT * FROM statistics_before
  UNION ALL
  SELECT * FROM row_statistics('delta')
  UNION ALL
  SELECT * REPLACE (-urls AS urls) FROM row_statistics('before_delta')
)
GROUP BY ALL
HAVING sum(urls) <> 0;

-- step: whole
-- View: all_row.
CREATE OR REPLACE TABLE new_crawldbstats AS SELECT * FROM row_statistics('all_row');

-- step: unlike
-- A row where the table new_crawldbstats is not what crawldbstats says.
SELECT 1
FROM new_crawldbstats a FULL JOIN crawldbstats b
  ON a.statistic = b.statistic AND a.word IS NOT DISTINCT FROM b.word AND a.value IS NOT DISTINCT FROM b.value
WHERE a.urls IS DISTINCT FROM b.urls
LIMIT 1;
