-- What differs between two parses of the same captures. Views: parse_all and outlinks_all, or parse and outlinks.
-- $pages_a, $links_a, $pages_b, $links_b: the rows of one parse each. Only segments that both have are compared.
-- Step compared stands before each of the others, which are one query with it.

-- step: compared
WITH page_a AS (
  SELECT *, hash(text) AS text_hash, hash(main_text) AS main_hash, hash(headings) AS headings_hash,
    hash(open_graph, json_ld) AS data_hash
  FROM $pages_a
), page_b AS (
  SELECT *, hash(text) AS text_hash, hash(main_text) AS main_hash, hash(headings) AS headings_hash,
    hash(open_graph, json_ld) AS data_hash
  FROM $pages_b
), page AS (
  SELECT
    segment, capture_id, coalesce(a.url, b.url) AS url,
    CASE
      WHEN b.url IS NULL THEN ['only_a']
      WHEN a.url IS NULL THEN ['only_b']
      ELSE list_filter([
        CASE WHEN (a.status, a.reason) IS DISTINCT FROM (b.status, b.reason) THEN 'status' END,
        CASE WHEN a.content_mime_detected IS DISTINCT FROM b.content_mime_detected THEN 'type' END,
        CASE WHEN a.content_charset IS DISTINCT FROM b.content_charset THEN 'charset' END,
        CASE WHEN a.content_languages IS DISTINCT FROM b.content_languages
          OR a.lang_declared IS DISTINCT FROM b.lang_declared THEN 'language' END,
        CASE WHEN a.title IS DISTINCT FROM b.title THEN 'title' END,
        CASE WHEN a.description IS DISTINCT FROM b.description THEN 'description' END,
        CASE WHEN a.headings_hash IS DISTINCT FROM b.headings_hash THEN 'headings' END,
        CASE WHEN a.text_hash IS DISTINCT FROM b.text_hash THEN 'text' END,
        CASE WHEN a.main_hash IS DISTINCT FROM b.main_hash THEN 'main_text' END,
        CASE WHEN a.published_time IS DISTINCT FROM b.published_time
          OR a.modified_time IS DISTINCT FROM b.modified_time THEN 'dates' END,
        CASE WHEN a.canonical_url IS DISTINCT FROM b.canonical_url THEN 'canonical' END,
        CASE WHEN a.robots_directives IS DISTINCT FROM b.robots_directives THEN 'robots' END,
        CASE WHEN a.data_hash IS DISTINCT FROM b.data_hash THEN 'structured_data' END,
        CASE WHEN a.simhash IS DISTINCT FROM b.simhash THEN 'simhash' END
      ], lambda x: x IS NOT NULL)
    END AS changes,
    a.url IS NOT NULL AND b.url IS NOT NULL AS in_both,
    a.status AS status_a, b.status AS status_b, a.title AS title_a, b.title AS title_b,
    a.content_charset AS charset_a, b.content_charset AS charset_b,
    a.text_length AS text_length_a, b.text_length AS text_length_b,
    bit_count(xor(a.simhash, b.simhash)) AS simhash_distance
  FROM page_a a FULL JOIN page_b b USING (segment, capture_id)
  WHERE segment IN (SELECT segment FROM $pages_a) AND segment IN (SELECT segment FROM $pages_b)
), link_a AS (
  SELECT segment, capture_id, coalesce(to_url, href) AS target, kind, bool_or(accepted) AS accepted,
    min(reason) AS reason, min(anchor) AS anchor
  FROM $links_a WHERE hop_type <> 'R' GROUP BY segment, capture_id, target, kind
), link_b AS (
  SELECT segment, capture_id, coalesce(to_url, href) AS target, kind, bool_or(accepted) AS accepted,
    min(reason) AS reason, min(anchor) AS anchor
  FROM $links_b WHERE hop_type <> 'R' GROUP BY segment, capture_id, target, kind
), link AS (
  SELECT
    segment, capture_id, p.url, target, kind,
    CASE
      WHEN a.accepted IS NULL THEN 'added'
      WHEN b.accepted IS NULL THEN 'removed'
      WHEN a.accepted AND NOT b.accepted THEN 'rejected'
      WHEN b.accepted AND NOT a.accepted THEN 'accepted'
      WHEN a.anchor IS DISTINCT FROM b.anchor THEN 'anchor'
    END AS change,
    a.accepted AS accepted_a, b.accepted AS accepted_b, a.reason AS reason_a, b.reason AS reason_b,
    a.anchor AS anchor_a, b.anchor AS anchor_b
  FROM link_a a FULL JOIN link_b b USING (segment, capture_id, target, kind)
  JOIN (SELECT segment, capture_id, url FROM page WHERE in_both) p USING (segment, capture_id)
), changed_link AS (
  SELECT * FROM link WHERE change IS NOT NULL
)

-- step: summary
-- One row for each kind of difference: how many pages, or links, of how many, and one of them.
, difference AS (
  SELECT unnest(changes) AS what, url FROM page
  UNION ALL
  SELECT CASE change WHEN 'anchor' THEN 'anchor' ELSE 'links_' || change END, url FROM changed_link
), total AS (
  SELECT
    (SELECT count(*) FROM page) AS pages,
    (SELECT count(*) FROM link) AS links,
    (
      SELECT count(*) FROM page p LEFT JOIN (SELECT DISTINCT segment, capture_id FROM changed_link) l
      USING (segment, capture_id) WHERE len(p.changes) > 0 OR l.segment IS NOT NULL
    ) AS changed_pages
)
SELECT * FROM (
  SELECT 'pages' AS what, changed_pages AS changed, pages AS "of", NULL AS example FROM total
  UNION ALL
  SELECT
    what, count(*),
    any_value(CASE WHEN what LIKE 'links_%' OR what = 'anchor' THEN links ELSE pages END),
    min(url)
  FROM difference, total GROUP BY what
)
ORDER BY list_position([
  'pages', 'only_a', 'only_b', 'status', 'type', 'charset', 'language', 'title', 'description', 'headings', 'text',
  'main_text', 'dates', 'canonical', 'robots', 'structured_data', 'simhash',
  'links_added', 'links_removed', 'links_accepted', 'links_rejected', 'anchor'
], what)

-- step: pages
-- One row for each page that differs.
SELECT
  p.segment, p.url, array_to_string(p.changes, ',') AS changes,
  p.status_a, p.status_b, p.title_a, p.title_b, p.charset_a, p.charset_b, p.text_length_a, p.text_length_b,
  p.simhash_distance,
  coalesce(l.added, 0) AS links_added, coalesce(l.removed, 0) AS links_removed, coalesce(l.decided, 0) AS links_decided
FROM page p LEFT JOIN (
  SELECT
    segment, capture_id,
    count(*) FILTER (change = 'added') AS added,
    count(*) FILTER (change = 'removed') AS removed,
    count(*) FILTER (change IN ('accepted', 'rejected')) AS decided
  FROM changed_link GROUP BY segment, capture_id
) l USING (segment, capture_id)
WHERE len(p.changes) > 0 OR l.segment IS NOT NULL
ORDER BY p.segment, p.url, capture_id

-- step: links
-- One row for each link that differs.
SELECT segment, url, change, target, kind, accepted_a, accepted_b, reason_a, reason_b, anchor_a, anchor_b
FROM changed_link
ORDER BY segment, url, target, kind, capture_id
