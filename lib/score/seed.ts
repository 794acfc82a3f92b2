import type {ScorePart} from './part.ts';

/** The score as it is stored: the seed's own, less `score.decay` with each link from it. */
export const seed: ScorePart = {
  name: 'seed',
  doc: 'The stored score: that of the seed, less with each link from it.',
  sql: 'c.score',
};
