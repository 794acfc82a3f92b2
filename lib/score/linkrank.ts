import type {ScorePart} from './part.ts';

/** PageRank as `crawl linkrank` has computed it; 1 is the mean. A page that it does not know has 0. */
export const linkrank: ScorePart = {
  name: 'linkrank',
  doc: 'PageRank by crawl linkrank; 1 is the mean.',
  sql: 'coalesce(rank_of.score, 0)',
  join: {
    sql: `LEFT JOIN (SELECT host_key, url_key, score FROM linkrank WHERE level = 'page') rank_of
  ON rank_of.host_key = c.host_key AND rank_of.url_key = c.url_key`,
    tables: ['linkrank'],
  },
};
