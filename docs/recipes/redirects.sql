-- Redirects, with what became of their targets.
SELECT c.url, c.fetch_status, c.fetch_redirect AS target, t.status AS target_status, t.reason AS target_reason
FROM crawldb c
LEFT JOIN crawldb t ON t.url = c.fetch_redirect
WHERE c.status IN ('redir_temp', 'redir_perm')
ORDER BY c.url;
