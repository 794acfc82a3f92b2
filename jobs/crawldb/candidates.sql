-- The head of the crawldb: what is due and stands high enough, read without a scan of all rows. Views: crawldb_base,
-- crawldb_delta. Views head_base, head_delta: their rows that are due and above the bound; above_base, above_delta: the
-- same with the rows that come before them where hosts are asked in order of depth; missing_base, missing_delta: due rows of
-- the frontier that are not above the bound.

-- step: hosts
-- Hosts of the head, with the depth of the deepest URL never fetched that reaches the bound. $score: of the bound. One
-- that failed lies in the other list, and counts all the same.
CREATE OR REPLACE TABLE head_host AS
SELECT host_key, max(depth) AS most
FROM (
  SELECT host_key, depth FROM head_base WHERE status = 'unfetched' AND score >= $score
  UNION ALL
  SELECT host_key, depth FROM head_delta WHERE status = 'unfetched' AND score >= $score
)
GROUP BY host_key

-- step: below
-- Whether a URL of less score might stand before a missing one that has the score of the bound. $score.
WITH tie AS (
  SELECT max(depth) AS deepest FROM (
    SELECT depth FROM missing_base WHERE score = $score
    UNION ALL
    SELECT depth FROM missing_delta WHERE score = $score
  )
), lower AS (
  SELECT min(depth) AS nearest FROM (
    SELECT depth FROM missing_base WHERE score < $score
    UNION ALL
    SELECT depth FROM missing_delta WHERE score < $score
    UNION ALL
    SELECT depth FROM head_base WHERE status = 'unfetched' AND score < $score
    UNION ALL
    SELECT depth FROM head_delta WHERE status = 'unfetched' AND score < $score
  )
)
SELECT coalesce(nearest <= deepest, false) AS behind FROM tie, lower

-- step: newer
-- URLs of the head that deltas hold, with the revision that counts: of rows of the base, any; of several in deltas,
-- the greatest. Reads keys of all deltas, and nothing else of the base.
CREATE OR REPLACE TABLE head_newer AS
WITH head AS (
  SELECT host_key, url_key FROM above_base
  UNION ALL
  SELECT host_key, url_key FROM above_delta
)
SELECT host_key, url_key, max(revision) AS revision
FROM crawldb_delta SEMI JOIN head USING (host_key, url_key)
GROUP BY ALL

-- step: due
CREATE OR REPLACE VIEW due_row AS
SELECT * FROM above_base ANTI JOIN head_newer USING (host_key, url_key)
UNION ALL
SELECT * FROM above_delta SEMI JOIN head_newer USING (host_key, url_key, revision)
