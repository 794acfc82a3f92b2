-- The pages that most other pages link to.
-- inlinks is set by invertlinks; after a round without it the figures are those of the round before.
SELECT url, inlinks, status, score
FROM crawldb
ORDER BY inlinks DESC, url
LIMIT 20;
