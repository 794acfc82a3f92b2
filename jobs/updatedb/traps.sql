-- Families of URLs, and the links that they refuse. Views as in fold.sql.

-- step: family_visits
-- Pages that these segments asked for, and none before: what they show of their families. Failures of the host say
-- nothing about a page.
CREATE TABLE family_visit AS
WITH page AS (
  SELECT c.host_key, c.url_key, c.url, c.fetch_time, c.url_host_name, c.url_host_registered_domain, p.simhash
  FROM captures c
  JOIN segs s USING (segment)
  LEFT JOIN parse p USING (segment, capture_id)
  WHERE s.mode = 'apply' AND c.kind = 'page' AND c.status IN ('success', 'gone')
  QUALIFY row_number() OVER (PARTITION BY c.host_key, c.url_key ORDER BY c.fetch_time, c.segment) = 1
)
SELECT p.*, r.discovered_from
FROM page p
JOIN (SELECT host_key, url_key, discovered_from FROM changed) r USING (host_key, url_key)
ANTI JOIN (SELECT host_key, url_key FROM old_row WHERE fetch_time IS NOT NULL) o USING (host_key, url_key);

-- step: families_met
-- Families of the places that were met.
SELECT f.* FROM families f
WHERE f.place IN (SELECT url_host_name FROM family_visit)
  OR f.place IN (SELECT '*.' || url_host_registered_domain FROM family_visit)
ORDER BY f.place, f.pattern;

-- step: next_families
CREATE TABLE next_family AS
SELECT * FROM families f
WHERE NOT (f.place IN (SELECT url_host_name FROM family_visit)
  OR f.place IN (SELECT '*.' || url_host_registered_domain FROM family_visit))
UNION ALL
SELECT * FROM family_changed;

-- step: trap_candidates
-- New URLs at places where some family is closed.
SELECT host_key, url_key, url FROM fresh
WHERE reason IS NULL AND discovery IS NOT NULL
  AND (url_host_name IN (SELECT place FROM closed_place)
    OR '*.' || url_host_registered_domain IN (SELECT place FROM closed_place))
ORDER BY url, url_key;

-- step: trapped
-- Those of closed families are not added, and counted with their family.
UPDATE fresh SET reason = 'trap' FROM trapped t
WHERE fresh.host_key = t.host_key AND fresh.url_key = t.url_key;

UPDATE next_family SET refused = next_family.refused + t.n
FROM (SELECT place, pattern, count(*) AS n FROM trapped GROUP BY ALL) t
WHERE next_family.place = t.place AND next_family.pattern = t.pattern;
