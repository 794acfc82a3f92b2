import {table} from './table.ts';

/** What is ranked: pages, hosts, or registered domains. */
export const rankLevels = ['page', 'host', 'domain'] as const;
export type RankLevel = (typeof rankLevels)[number];

export const linkrank = table({
  name: 'linkrank',
  version: 1,
  doc: 'One row for each page, host or domain of the link graph: its PageRank. Written by linkrank, anew each time.',
  key: ['level', 'host_key', 'url_key'],
  columns: {
    level: {type: 'text', values: rankLevels, doc: 'What the row ranks.'},
    host_key: {type: 'key', doc: 'Key of the host, or of the domain as a name.'},
    url_key: {type: 'key', nullable: true, doc: 'Key of the page; null for hosts and domains.'},
    name: {type: 'text', doc: 'URL, host name or registered domain.'},
    rank: {
      type: 'double',
      doc: 'Share of the time that a surfer at random is here; all of a level add up to 1.',
      source: 'Page et al., The PageRank Citation Ranking, 1999',
    },
    score: {type: 'double', doc: 'rank times the number of rows of the level, so that 1 is the mean.'},
    inlinks: {type: 'int32', doc: 'Pages, hosts or domains that link here.'},
    outlinks: {type: 'int32', doc: 'Pages, hosts or domains that it links to; 0 is a dead end.'},
  },
});
