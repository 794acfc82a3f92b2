-- Duplicates: pages whose content-decoded bodies are equal (exact), whose normalized texts are (text), or whose
-- fingerprints nearly are (near). Sitemaps are none. Views: current_row (the crawldb as it will be), page (pages of
-- every_page that are looked at).
-- Variables: place (where equals are looked for: none, which is the whole crawl, domain, or host), exact, text and near
-- (off, mark or status; exact is off or status).
--
-- One page of a group stays, by a written order: the one that most of the group name as canonical, then the higher
-- score, then https, then the shorter URL, then the one seen first, then the URL. If it goes, the next takes its place.

-- step: page
-- Pages that can repeat others, with what decides; standing and repeated are by what and which page they repeat so far, if any.
CREATE OR REPLACE VIEW every_page AS
SELECT
  host_key, url_key, url, signature, text_signature, simhash, canonical_url, score, discovered_time,
  CASE getvariable('place')
    WHEN 'host' THEN url_host_name WHEN 'domain' THEN url_host_registered_domain ELSE ''
  END AS place,
  CASE WHEN status = 'duplicate' THEN coalesce(duplicate_kind, 'exact') END AS standing,
  coalesce(duplicate_of, similar_to) AS repeated
FROM current_row
WHERE status IN ('fetched', 'notmodified', 'duplicate') AND sitemap_depth IS NULL;

CREATE OR REPLACE TABLE repetition (host_key UBIGINT, url_key UBIGINT, kind VARCHAR, winner VARCHAR);

-- Of each fingerprint within a place all pages but the best, with the URL of that one. `members` names a view of pages
-- with their fingerprint.
CREATE OR REPLACE MACRO behind_best(members) AS TABLE
WITH member AS (
  SELECT * FROM query_table(members)
), vote AS (
  SELECT fingerprint, place, canonical_url AS url, count(*) AS votes
  FROM member WHERE canonical_url IS NOT NULL GROUP BY ALL
)
SELECT m.host_key, m.url_key, first_value(m.url) OVER best AS winner
FROM member m LEFT JOIN vote v USING (fingerprint, place, url)
WINDOW best AS (
  PARTITION BY m.fingerprint, m.place
  ORDER BY coalesce(v.votes, 0) DESC, m.score DESC, starts_with(m.url, 'https:') DESC, length(m.url),
    m.discovered_time, m.url
)
QUALIFY row_number() OVER best > 1;

-- step: affected
-- Where only some rows have changed. Views: touched (these rows as current_row has them) and former_row (the same as they
-- were, and rows that are gone from the crawldb). Fingerprints whose group of equal pages may have changed; texts of all
-- pages whose standing among exact equals is looked at; URLs that are no pages any more, whatever repeated them.
CREATE OR REPLACE TABLE fingerprint AS
SELECT signature, text_signature FROM touched
UNION ALL
SELECT signature, text_signature FROM former_row;

CREATE OR REPLACE TABLE affected AS SELECT DISTINCT signature FROM fingerprint WHERE signature IS NOT NULL;

CREATE OR REPLACE TABLE lost_page AS
SELECT url FROM former_row
UNION
SELECT url FROM touched
EXCEPT
SELECT url FROM touched WHERE status IN ('fetched', 'notmodified', 'duplicate');

-- The pages that may be touched by that; no others are read from here on.
CREATE OR REPLACE TABLE page AS SELECT * FROM every_page SEMI JOIN affected USING (signature);

CREATE OR REPLACE TABLE affected_text AS
SELECT DISTINCT text_signature FROM (
  SELECT text_signature FROM fingerprint
  UNION ALL
  SELECT text_signature FROM page
) WHERE text_signature IS NOT NULL AND getvariable('text') <> 'off';

INSERT INTO page
SELECT e.* FROM every_page e SEMI JOIN affected_text USING (text_signature) ANTI JOIN page p USING (host_key, url_key);
INSERT INTO page
SELECT e.* FROM every_page e SEMI JOIN lost_page l ON l.url = e.repeated ANTI JOIN page p USING (host_key, url_key);

-- step: alone
-- Whether none of these pages repeats another, and none did: then nothing changes.
SELECT
  count(signature) = count(DISTINCT signature) AND count(text_signature) = count(DISTINCT text_signature)
  AND count(*) FILTER (standing IS NOT NULL OR repeated IS NOT NULL) = 0
  AND NOT EXISTS (
    FROM (
      SELECT duplicate_of, duplicate_kind, similar_to FROM touched
      UNION ALL
      SELECT duplicate_of, duplicate_kind, similar_to FROM former_row
    )
    WHERE coalesce(duplicate_of, duplicate_kind, similar_to) IS NOT NULL
  ) AS alone
FROM page;

-- step: exact
-- Tables: affected (the signatures to look at).
CREATE OR REPLACE VIEW exact_member AS
SELECT *, signature AS fingerprint FROM page SEMI JOIN affected USING (signature)
WHERE getvariable('exact') <> 'off';
INSERT INTO repetition SELECT host_key, url_key, 'exact', winner FROM behind_best('exact_member');

-- step: text
-- The same among pages that repeat none byte for byte. Tables: affected, affected_text (the text signatures to look at:
-- also those of all pages whose standing among exact equals was looked at).
CREATE OR REPLACE VIEW text_member AS
SELECT p.*, p.text_signature AS fingerprint
FROM page p
SEMI JOIN affected_text USING (text_signature)
ANTI JOIN repetition v ON v.host_key = p.host_key AND v.url_key = p.url_key
LEFT JOIN affected a ON a.signature = p.signature
WHERE getvariable('text') <> 'off' AND (a.signature IS NOT NULL OR p.standing IS DISTINCT FROM 'exact');
INSERT INTO repetition SELECT host_key, url_key, 'text', winner FROM behind_best('text_member');

-- step: examined
-- Of the pages that may be touched by that: those whose standing is looked at, and rows that are none any more.
CREATE OR REPLACE TABLE examined AS
SELECT host_key, url_key FROM repetition
UNION
SELECT host_key, url_key FROM page p SEMI JOIN affected USING (signature)
UNION
SELECT p.host_key, p.url_key FROM page p SEMI JOIN affected_text USING (text_signature)
LEFT JOIN affected a USING (signature) WHERE a.signature IS NOT NULL OR p.standing IS DISTINCT FROM 'exact'
UNION
SELECT p.host_key, p.url_key FROM page p SEMI JOIN lost_page l ON l.url = p.repeated
UNION
SELECT host_key, url_key FROM touched
WHERE duplicate_of IS NOT NULL OR duplicate_kind IS NOT NULL OR similar_to IS NOT NULL;

-- step: keep_near
-- Near duplicates are looked for by dedup alone: until then a page stays what it was, as long as its text does and the
-- page that it repeats is one.
INSERT INTO repetition
SELECT c.host_key, c.url_key, 'near', coalesce(o.duplicate_of, o.similar_to, c.duplicate_of, c.similar_to) AS winner
FROM examined_row c
ANTI JOIN repetition v USING (host_key, url_key)
LEFT JOIN former_row o USING (host_key, url_key)
WHERE coalesce(o.duplicate_kind, c.duplicate_kind) = 'near'
  AND c.status IN ('fetched', 'notmodified', 'duplicate')
  AND (o.host_key IS NULL OR o.simhash IS NOT DISTINCT FROM c.simhash)
  AND winner NOT IN (SELECT url FROM lost_page);

-- step: apply
-- Rows whose standing changes. Tables: examined_row (rows of the pages that were looked at, and of those that repeat none
-- any more).
CREATE OR REPLACE TABLE dedup_row AS
WITH standing AS (
  SELECT
    c.*, v.winner, v.kind,
    CASE v.kind WHEN 'exact' THEN true WHEN 'text' THEN getvariable('text') = 'status'
      WHEN 'near' THEN getvariable('near') = 'status' ELSE false END AS repeats
  FROM examined_row c LEFT JOIN repetition v USING (host_key, url_key)
), decided AS (
  SELECT * EXCLUDE (winner, kind, repeats) REPLACE (
    CASE WHEN repeats THEN 'duplicate' WHEN status = 'duplicate' THEN 'fetched' ELSE status END AS status,
    CASE WHEN repeats THEN 'duplicate' WHEN status = 'duplicate' THEN NULL ELSE reason END AS reason,
    CASE WHEN repeats THEN winner END AS duplicate_of,
    kind AS duplicate_kind,
    CASE WHEN winner IS NOT NULL AND NOT repeats THEN winner END AS similar_to
  )
  FROM standing
)
SELECT d.* FROM decided d JOIN examined_row c USING (host_key, url_key)
WHERE (d.status, d.duplicate_of, d.duplicate_kind, d.similar_to)
  IS DISTINCT FROM (c.status, c.duplicate_of, c.duplicate_kind, c.similar_to);

-- step: every
-- For the whole crawl: fingerprints that several pages have, and all that is or was marked.
CREATE OR REPLACE VIEW page AS SELECT * FROM every_page;
CREATE OR REPLACE TABLE affected AS
SELECT signature FROM page WHERE signature IS NOT NULL GROUP BY signature HAVING count(*) > 1;
CREATE OR REPLACE TABLE affected_text AS
SELECT text_signature FROM page WHERE text_signature IS NOT NULL GROUP BY text_signature HAVING count(*) > 1;

-- step: every_examined
CREATE OR REPLACE TABLE examined AS
SELECT host_key, url_key FROM repetition
UNION
SELECT host_key, url_key FROM current_row
WHERE status = 'duplicate' OR duplicate_of IS NOT NULL OR duplicate_kind IS NOT NULL OR similar_to IS NOT NULL;

-- step: near_page
-- Pages with a fingerprint that repeat none so far, one for all that share one within a place; ranked by the order
-- above, best first. The rank stands for the page while neighbours are looked for.
CREATE OR REPLACE TABLE near_page AS
WITH alone AS (
  SELECT p.* FROM page p ANTI JOIN repetition v USING (host_key, url_key) WHERE p.simhash IS NOT NULL
), ordered AS (
  SELECT
    host_key, url_key, url, simhash, place,
    row_number() OVER (
      ORDER BY coalesce(canonical_url = url, false) DESC, score DESC, starts_with(url, 'https:') DESC, length(url),
        discovered_time, url
    ) - 1 AS rank
  FROM alone
)
SELECT * FROM ordered ORDER BY rank;
CREATE OR REPLACE TABLE near_print AS
SELECT simhash, place, min(rank)::INTEGER AS rank FROM near_page GROUP BY ALL;

-- step: near_pairs
-- Pairs of fingerprints that differ in at most $bits bits and agree in all bits of $mask.
INSERT INTO near_pair
SELECT greatest(a.rank, b.rank)::INTEGER AS worse, least(a.rank, b.rank)::INTEGER AS better
FROM near_print a JOIN near_print b
  ON a.place = b.place AND (a.simhash & $mask) = (b.simhash & $mask) AND a.rank > b.rank
WHERE bit_count(xor(a.simhash, b.simhash)) <= $bits;

-- step: near
-- Table leader (rank, leader): fingerprints that are like a better one. A page repeats the best page of its fingerprint,
-- or else the one that this leads to.
INSERT INTO repetition
SELECT p.host_key, p.url_key, 'near', w.url
FROM near_page p
JOIN near_print f USING (simhash, place)
LEFT JOIN leader l ON l.rank = f.rank
JOIN near_page w ON w.rank = coalesce(l.leader, f.rank)
WHERE p.rank <> w.rank;

-- step: totals
SELECT
  (SELECT count(*) FROM dedup_row)::BIGINT AS rows,
  count(*) FILTER (acts)::BIGINT AS duplicates, count(*) FILTER (NOT acts)::BIGINT AS alike
FROM (
  SELECT CASE kind WHEN 'exact' THEN true WHEN 'text' THEN getvariable('text') = 'status'
    ELSE getvariable('near') = 'status' END AS acts
  FROM repetition
);

-- step: savings
-- Duplicates by host: how many, and the pages that stay.
SELECT
  url_host_name AS host,
  count(*) FILTER (status = 'duplicate')::BIGINT AS duplicates,
  count(*) FILTER (similar_to IS NOT NULL)::BIGINT AS alike,
  count(*) FILTER (status IN ('fetched', 'notmodified'))::BIGINT AS pages
FROM current_row
WHERE status IN ('fetched', 'notmodified', 'duplicate')
GROUP BY url_host_name HAVING duplicates + alike > 0 ORDER BY duplicates DESC, alike DESC, host LIMIT 100;
