/** Weights of the parts of a priority, by name of part. */
export type ScoreWeights = Readonly<Record<string, number>>;

export function prioritySql(_weights: ScoreWeights): string {
  return 'CASE WHEN isfinite(c.score) THEN c.score ELSE 0 END';
}
