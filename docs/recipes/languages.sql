-- Pages and text by language and encoding.
SELECT content_languages, content_charset, charset_source, count(*) AS pages, sum(text_length)::BIGINT AS characters
FROM parse
WHERE status IN ('success', 'partial')
GROUP BY ALL
ORDER BY pages DESC, 1, 2, 3;
