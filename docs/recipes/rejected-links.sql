-- Links that were found and not taken, by reason and rule, with an example.
SELECT reason, rule, count(*) AS links, count(DISTINCT to_url) AS urls, min(to_url) AS example
FROM outlinks
WHERE NOT accepted
GROUP BY ALL
ORDER BY links DESC, reason, rule;
