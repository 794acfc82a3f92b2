import type {ScorePart} from './part.ts';

/** Pages that link to it, as a logarithm: the tenth counts for more than the thousandth. */
export const inlinks: ScorePart = {
  name: 'inlinks',
  doc: 'Logarithm of 1 more than the pages that link to it.',
  sql: 'ln(1 + greatest(c.inlinks, 0))',
  // Rows have what compaction gave them; with this table bound the view crawldb adds what came since
  join: {sql: '', tables: ['inlinks']},
};
