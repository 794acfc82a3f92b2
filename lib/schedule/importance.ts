/** Least and greatest weight: a page that is worth nothing is still looked at, and none starves all others. */
const least = 0.01;
const greatest = 100;

/**
 * How much the freshness of a page counts: its score to the power of `exponent`, 0 for pages that all count the same.
 * Scores that are no number, or not above 0, count least.
 */
export function importanceOf(score: number, exponent: number): number {
  if (Number.isNaN(score) || score <= 0) return exponent === 0 ? 1 : least;
  return Math.min(Math.max(score ** exponent, least), greatest);
}
