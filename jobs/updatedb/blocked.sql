-- Links to hosts that are blocked by hand. Views as in fold.sql.

-- step: hosts_of_candidates
-- Hosts of new URLs, to be held against the rules by hand.
SELECT host_key, any_value(url_host_name) AS url_host_name
FROM fresh WHERE discovery IS NOT NULL
GROUP BY host_key ORDER BY host_key;

-- step: blocked
UPDATE fresh SET reason = 'host_blocked' FROM blocked_host b
WHERE fresh.host_key = b.host_key AND fresh.discovery IS NOT NULL;
