-- What a run adds up to. Views as in fold.sql.

-- step: totals
-- Table before_delta: the changed rows that were there before.
SELECT
  (SELECT count(*) FROM changed)::BIGINT AS changed,
  (SELECT count(*) FROM changed ANTI JOIN before_delta USING (host_key, url_key))::BIGINT AS added;
