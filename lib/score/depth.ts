import type {ScorePart} from './part.ts';

/** Nearness to a seed: 1, 1/2, 1/3 … (Nutch: scoring-depth sorts shallow URLs first). */
export const depth: ScorePart = {
  name: 'depth',
  doc: '1 for a seed, a half for what it links to, a third a link further.',
  sql: '1 / (1 + greatest(c.depth, 0))',
};
