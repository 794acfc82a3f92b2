-- New URLs from accepted links and redirects. Views as in fold.sql.

-- step: doubtful
-- Links that other rules decided than those of today. Scope is decided anew; what a page itself says holds.
CREATE TABLE doubtful AS
SELECT
  row_number() OVER () - 1 AS n, l.segment, l.parse_id, l.accepted,
  l.to_host_key, l.to_url_key, l.to_url, l.to_host_name, l.to_registered_domain,
  l.from_host_key, l.from_url_key, l.from_url, l.fetch_time, l.depth, l.seed, l.hop_type, l.kind, l.rel, l.lastmod, l.sitemap_priority, l.sitemap_changefreq,
  coalesce(p.robots_nofollow, false) AS page_nofollow, f.scope AS seed_scope
FROM outlinks l
JOIN segs s USING (segment, parse_id)
LEFT JOIN parse p USING (segment, capture_id)
LEFT JOIN seed_fact f ON f.seed = l.seed
WHERE s.mode IN ('apply', 'reparse')
  AND l.rules_digest <> $digest
  AND l.to_url_key IS NOT NULL
  AND (l.accepted OR list_contains(string_split($scope_reasons, ','), l.reason));

-- step: links
-- Accepted links of the segments, as a view: each step reads the columns it needs, and nothing wide is held. Redirects
-- that fetch saw are among them, whether parsed or not. Table today (digest): the rules of today.
CREATE VIEW accepted_link AS
SELECT
  l.segment, l.parse_id, l.to_host_key, l.to_url_key, l.from_host_key, l.from_url_key, l.fetch_time, l.depth, l.hop_type,
  l.to_url, l.to_host_name, l.to_registered_domain, l.from_url, l.seed,
  l.kind = 'sitemap' AND l.rel IS NOT NULL AS names_sitemap, l.lastmod, l.sitemap_priority, l.sitemap_changefreq
FROM outlinks l
JOIN segs s USING (segment, parse_id)
JOIN today d ON d.digest = l.rules_digest
WHERE s.mode IN ('apply', 'reparse') AND l.accepted AND l.to_url_key IS NOT NULL
UNION ALL
SELECT
  l.segment, l.parse_id, l.to_host_key, l.to_url_key, l.from_host_key, l.from_url_key, l.fetch_time, l.depth, l.hop_type,
  l.to_url, l.to_host_name, l.to_registered_domain, l.from_url, l.seed,
  l.kind = 'sitemap' AND l.rel IS NOT NULL, l.lastmod, l.sitemap_priority, l.sitemap_changefreq
FROM doubtful l SEMI JOIN (FROM verdict WHERE reason IS NULL) v USING (n)
UNION ALL
SELECT
  segment, NULL, to_host_key, to_url_key, from_host_key, from_url_key, fetch_time, depth, 'R',
  to_url, to_host_name, to_registered_domain, from_url, seed, false, NULL, NULL, NULL
FROM redirect;

-- step: sources
-- Pages that link, numbered by two orders: lineage (fewest links from a seed, then the seed's URL) and discovery
-- (time, then the page's URL). The score handed on is the page's times $decay; a redirect hands on all of it.
CREATE TABLE found AS
SELECT
  from_host_key, from_url_key, from_host_key AS host_key, from_url_key AS url_key, fetch_time, depth, hop_type,
  min(from_url) AS from_url, min(seed) AS seed
FROM accepted_link
GROUP BY ALL;

CREATE TABLE source AS
WITH known AS (
  SELECT host_key, url_key, score, status, sitemap_depth FROM current_of('found')
)
SELECT
  f.* EXCLUDE (host_key, url_key),
  coalesce(CASE WHEN isfinite(k.score) THEN k.score WHEN k.score IS NOT NULL THEN 0 END, $score) * CASE WHEN f.hop_type = 'R' THEN 1 ELSE $decay END AS score,
  coalesce(k.status = 'duplicate', false) AND NOT $follow_duplicates AS repeated,
  coalesce(k.sitemap_depth, 0) + 1 AS sitemap_depth,
  dense_rank() OVER (ORDER BY f.depth, f.seed NULLS LAST) AS lineage,
  row_number() OVER (ORDER BY f.fetch_time, f.from_url, f.hop_type, f.depth) AS discovery
FROM found f LEFT JOIN known k ON k.host_key = f.from_host_key AND k.url_key = f.from_url_key;

-- step: targets
-- Each target once, by its key. URLs are hashed (for this run only) to find those that share a key pair; their
-- strings are kept for the new ones alone. Of the known ones too no text is kept that only few of them need.
CREATE TABLE target AS
SELECT
  l.to_host_key AS host_key, l.to_url_key AS url_key,
  min(s.lineage) FILTER (NOT s.repeated) AS lineage,
  min(s.discovery) FILTER (NOT s.repeated) AS discovery,
  max(s.score) FILTER (NOT s.repeated) AS score,
  min(s.sitemap_depth) FILTER (l.names_sitemap AND NOT s.repeated) AS sitemap_depth,
  min(hash(l.to_url)) AS least_hash, max(hash(l.to_url)) AS greatest_hash
FROM accepted_link l JOIN source s USING (from_host_key, from_url_key, fetch_time, depth, hop_type)
GROUP BY ALL;

CREATE TABLE known_target AS
SELECT
  host_key, url_key, hash(url) AS url_hash, score, depth, seed, fetch_time, discovered_time, sitemap_depth, status
FROM current_of('target');

-- Known URLs of which a sitemap, or a feed of their host, states a change since their last fetch; and when that was
-- seen. A time later than that is a mistake of its writer.
CREATE TABLE hint AS
SELECT k.host_key, k.url_key, min(l.fetch_time) AS seen_time
FROM accepted_link l JOIN known_target k ON k.host_key = l.to_host_key AND k.url_key = l.to_url_key
WHERE l.lastmod > k.fetch_time AND l.lastmod <= l.fetch_time
  AND (l.hop_type = 'S' OR l.from_host_key = l.to_host_key)
GROUP BY ALL;

-- New targets with their strings, and why they are refused whatever the budgets: the next steps tell. Two URLs of one
-- key pair: the first in order stays.
CREATE TABLE fresh AS
WITH wanted AS (
  SELECT * FROM target ANTI JOIN known_target USING (host_key, url_key)
), named AS (
  SELECT
    to_host_key AS host_key, to_url_key AS url_key, min(to_url) AS url,
    any_value(to_host_name) AS url_host_name,
    any_value(to_registered_domain) AS url_host_registered_domain,
    max(sitemap_priority) AS sitemap_priority,
    -- Nutch's lengths; never is the longest interval that there is
    min(CASE sitemap_changefreq
      WHEN 'always' THEN 0 WHEN 'hourly' THEN 3600 WHEN 'daily' THEN 86400 WHEN 'weekly' THEN 604800
      WHEN 'monthly' THEN 2592000 WHEN 'yearly' THEN 31536000 WHEN 'never' THEN 2147483647
    END) AS sitemap_interval_s
  FROM accepted_link SEMI JOIN (SELECT host_key AS to_host_key, url_key AS to_url_key FROM wanted)
  USING (to_host_key, to_url_key)
  GROUP BY 1, 2
)
SELECT w.lineage, w.discovery, w.score, w.sitemap_depth, n.*, NULL::VARCHAR AS reason
FROM wanted w JOIN named n USING (host_key, url_key);

-- step: admit
-- New URLs that are added, and why the others are not; what is refused already takes no place of a budget. $hints:
-- what sitemaps say of priority (0.5 is an ordinary page) and changefreq sets score and interval, within
-- $min_interval_s and $max_interval_s. $max_host, $max_domain, $max_seed: known URLs, -1 for no end. $max_depth: of links
-- of a host that gives content of its own; the others' is less ($yield). $max_sitemap_depth: index files in a row;
-- $max_sitemaps: known sitemaps of a host.
CREATE TABLE lineage AS
SELECT s.lineage, min(s.depth) AS depth, min(s.seed) AS seed, min(f.tag) AS tag
FROM source s LEFT JOIN seed_fact f USING (seed)
GROUP BY s.lineage;

CREATE TABLE judged AS
WITH known_host AS (
  SELECT host_key, url_host_registered_domain, sum(urls) AS urls
  FROM (
    SELECT host_key, url_host_registered_domain, urls FROM hoststats
    UNION ALL
    SELECT host_key, url_host_registered_domain, 1 FROM met
  )
  GROUP BY ALL
), known_domain AS (
  SELECT url_host_registered_domain, sum(urls) AS urls FROM known_host GROUP BY ALL
), known_seed AS (
  SELECT seed, sum(urls) AS urls
  FROM (
    SELECT seed, urls FROM seedstats
    UNION ALL
    SELECT seed, 1 FROM met
    WHERE hop_type <> 'I' AND seed IS NOT NULL
  )
  GROUP BY seed
), known_sitemap AS (
  SELECT host_key, count(*) AS sitemaps
  FROM (SELECT host_key FROM current_row WHERE sitemap_depth IS NOT NULL)
  SEMI JOIN (SELECT host_key FROM fresh WHERE sitemap_depth IS NOT NULL) USING (host_key)
  GROUP BY ALL
), in_host AS (
  SELECT
    f.*, l.depth, l.seed, l.tag,
    f.sitemap_depth IS NULL OR (
      f.sitemap_depth <= $max_sitemap_depth
      AND coalesce(k.sitemaps, 0) + row_number() OVER (
        PARTITION BY f.host_key, f.sitemap_depth IS NULL ORDER BY f.sitemap_depth, f.score DESC, f.url_key
      ) <= $max_sitemaps
    ) AS fits_sitemaps,
    $max_host < 0 OR coalesce(h.urls, 0)
      + row_number() OVER (PARTITION BY f.host_key ORDER BY f.score DESC, l.depth, f.url_key) <= $max_host AS fits_host
  FROM (SELECT * EXCLUDE (reason) FROM fresh WHERE reason IS NULL) f
  JOIN lineage l USING (lineage)
  LEFT JOIN (SELECT host_key, sum(urls) AS urls FROM known_host GROUP BY ALL) h USING (host_key)
  LEFT JOIN known_sitemap k USING (host_key)
), in_domain AS (
  SELECT
    i.*,
    i.fits_host AND ($max_domain < 0 OR coalesce(d.urls, 0)
      + sum(i.fits_host::INTEGER) OVER (
        PARTITION BY i.url_host_registered_domain ORDER BY i.score DESC, i.depth, i.url_key, i.host_key
        ROWS UNBOUNDED PRECEDING
      ) <= $max_domain) AS fits_domain
  FROM in_host i LEFT JOIN known_domain d USING (url_host_registered_domain)
), in_seed AS (
  SELECT
    i.* EXCLUDE (fits_domain),
    i.fits_domain AND ($max_seed < 0 OR i.seed IS NULL OR coalesce(k.urls, 0)
      + sum(i.fits_domain::INTEGER) OVER (
        PARTITION BY i.seed ORDER BY i.score DESC, i.depth, i.url_key, i.host_key
        ROWS UNBOUNDED PRECEDING
      ) <= $max_seed) AS fits
  FROM in_domain i LEFT JOIN known_seed k USING (seed)
), low_yield AS (
  -- Of 20 pages less than a fifth of its own (chosen): then as deep as that share of the fifth says, at least to 2
  SELECT host_key, greatest(2, floor($max_depth * recent_new / recent_pages / 0.2)) AS most_depth
  FROM hoststats
  WHERE $yield AND recent_pages >= 20 AND recent_new < 0.2 * recent_pages
)
SELECT
  d.*, s.fetch_time AS discovered_time, s.from_url AS discovered_from, s.hop_type,
  CASE
    WHEN NOT $additions THEN 'no_additions'
    WHEN NOT d.fits_sitemaps THEN 'sitemap_limit'
    WHEN NOT d.fits THEN 'over_budget'
    WHEN d.depth > y.most_depth THEN 'low_yield'
  END AS reason
FROM in_seed d JOIN source s USING (discovery) LEFT JOIN low_yield y USING (host_key);

-- step: add
INSERT INTO changed BY NAME
SELECT
  host_key, url_key, url, url_host_name, url_host_registered_domain,
  'unfetched' AS status, score * CASE WHEN $hints THEN 0.5 + coalesce(sitemap_priority, 0.5) ELSE 1 END AS score, depth, seed, tag, hop_type, discovered_time, discovered_from,
  discovered_time AS next_fetch_time, CASE
    WHEN $hints AND sitemap_interval_s IS NOT NULL
      THEN least(greatest(sitemap_interval_s, $min_interval_s), $max_interval_s)
    ELSE $interval_s
  END AS fetch_interval_s, false AS fixed_interval,
  0 AS retries, 0 AS visits, 0 AS changes, 0 AS inlinks, 0 AS revision, sitemap_depth
FROM judged WHERE reason IS NULL;

-- step: better
-- Known URLs that these segments reach by fewer links, or saw earlier; and of those never fetched the ones that they
-- value more; and those that an index file names as a sitemap. Seeds stay what they are. All three are least or greatest values, so that the order of segments does
-- not matter; and as the score shrinks with each link, a URL that is found again from further away is not touched.
CREATE TABLE better AS
SELECT * FROM (
  SELECT
    k.host_key, k.url_key,
    l.depth < k.depth OR (l.depth = k.depth AND l.seed < coalesce(k.seed, l.seed)) AS nearer,
    s.fetch_time <= k.discovered_time AS maybe_sooner,
    t.score > k.score AND k.fetch_time IS NULL AS dearer,
    t.sitemap_depth < coalesce(k.sitemap_depth, $max_sitemap_depth + 1) AS indexed, t.sitemap_depth,
    l.depth, l.seed, l.tag, t.score, s.fetch_time, s.from_url, s.hop_type
  FROM known_target k
  JOIN target t USING (host_key, url_key)
  JOIN lineage l USING (lineage)
  JOIN source s USING (discovery)
)
WHERE nearer OR maybe_sooner OR dearer OR indexed;

-- step: earlier
-- Their rows, as these segments make them. Reads further columns of no others.
CREATE TABLE earlier AS
WITH found_again AS (
  SELECT
    c.*, b AS link,
    b.fetch_time < c.discovered_time OR (b.fetch_time = c.discovered_time AND b.from_url < c.discovered_from) AS sooner
  FROM current_of('better') c JOIN better b USING (host_key, url_key)
  WHERE c.discovered_from IS NOT NULL
)
SELECT f.* EXCLUDE (link, sooner) REPLACE (
  CASE WHEN link.nearer THEN link.depth ELSE depth END AS depth,
  CASE WHEN link.nearer THEN link.seed ELSE seed END AS seed,
  CASE WHEN link.nearer THEN link.tag ELSE tag END AS tag,
  CASE WHEN sooner THEN link.fetch_time ELSE discovered_time END AS discovered_time,
  CASE WHEN sooner THEN link.from_url ELSE discovered_from END AS discovered_from,
  CASE WHEN sooner THEN link.hop_type ELSE hop_type END AS hop_type,
  CASE WHEN sooner AND fetch_time IS NULL THEN least(link.fetch_time, next_fetch_time)
    ELSE next_fetch_time END AS next_fetch_time,
  CASE WHEN link.dearer THEN link.score ELSE score END AS score,
  CASE WHEN link.indexed THEN link.sitemap_depth ELSE sitemap_depth END AS sitemap_depth
)
FROM found_again f
WHERE link.nearer OR sooner OR link.dearer OR link.indexed;

-- step: hinted
-- Pages that are due sooner because a sitemap says that they have changed. Those that failed, that are refused, or
-- whose interval was fixed by hand keep their time. $min_interval_s: between two fetches. A page whose hints were wrong
-- before is moved up by a part of the way only: as many parts as its hints were right, one more each.
CREATE TABLE hinted AS
WITH moved AS (
  SELECT
    h.host_key, h.url_key, h.seen_time,
    greatest(
      h.seen_time + to_milliseconds((
        (1 - (coalesce(c.hints_right, 0) + 1) / (coalesce(c.hints_followed, 0) + 1))
        * greatest(epoch_ms(c.fetch_time) + c.fetch_interval_s * 1000::BIGINT - epoch_ms(h.seen_time), 0)
      )::BIGINT),
      c.fetch_time + to_seconds($min_interval_s)
    ) AS due
  FROM current_of('hint') c JOIN hint h USING (host_key, url_key)
)
SELECT c.* REPLACE (
  m.due AS next_fetch_time,
  least(coalesce(c.hinted_time, m.seen_time), m.seen_time) AS hinted_time
)
FROM current_of('hint') c JOIN moved m USING (host_key, url_key)
WHERE c.status IN ('fetched', 'notmodified', 'duplicate', 'parse_failed')
  AND (c.reason IS NULL OR c.status IN ('duplicate', 'parse_failed'))
  AND c.retries = 0 AND NOT c.fixed_interval
  AND c.next_fetch_time > m.due;
