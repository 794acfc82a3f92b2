/** Weights of the parts of a priority, by name of part. */
export type ScoreWeights = Readonly<Record<string, number>>;

export function prioritySql(_weights: ScoreWeights): string {
  return 'CASE WHEN isfinite(c.score) THEN c.score ELSE 0 END';
}

/** Whether the priority is the score of the row as it is stored, by which files of the crawldb are ordered. */
export function isStoredScore(weights: ScoreWeights): boolean {
  return Object.keys(weights).length === 0;
}
