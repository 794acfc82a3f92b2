import type {ScorePart} from './part.ts';

/**
 * What the pages that link to it hand on (after Abiteboul, Preda and Cobena 2003): each shares its stored score out
 * over its links. Computed from the links as they are, never added to what was: applying a segment again counts nothing
 * twice, and a link that goes takes its share along. Nutch's scoring-opic adds at each update and never takes away.
 *
 * Shares are summed as whole billionths, so that the sum is the same in any order.
 */
export const opic: ScorePart = {
  name: 'opic',
  doc: 'The scores of the pages that link to it, each shared out over its links.',
  sql: 'coalesce(cash.score, 0)',
  join: {
    sql: `LEFT JOIN (
  SELECT l.target_host_key AS host_key, l.target_url_key AS url_key,
    sum(round(1e9 * s.score / s.links)::BIGINT)::DOUBLE / 1e9 AS score
  FROM linkdb l JOIN (
    SELECT k.host_key, k.url_key, least(greatest(k.score, 0), 1e6) AS score, count(*) AS links
    FROM linkdb o JOIN crawldb k ON k.host_key = o.source_host_key AND k.url_key = o.source_url_key
    WHERE isfinite(k.score)
    GROUP BY ALL
  ) s ON s.host_key = l.source_host_key AND s.url_key = l.source_url_key
  GROUP BY ALL
) cash ON cash.host_key = c.host_key AND cash.url_key = c.url_key`,
    tables: ['linkdb', 'crawldb'],
  },
};
