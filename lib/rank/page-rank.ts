/**
 * PageRank of a graph by power iteration.
 *
 * rank(v) = (1 - d) / n + d × (Σ rank(u) / out(u) over the links u → v + share of the dead ends / n): a surfer
 * follows one of a page's links with probability d, each alike, and else, or where there is none, goes anywhere.
 * All ranks add up to 1. Sums are taken in one order, so the same graph gives the same bits.
 *
 * @see Page, Brin, Motwani, Winograd, The PageRank Citation Ranking, 1999; Langville, Meyer, Deeper Inside PageRank, 2004
 */
export interface RankRules {
  /** Probability that a link is followed; from 0 to below 1. */
  readonly damping: number;
  /** Ends when the ranks change by less than this in all. What is still missing then is at most d / (1 - d) times it. */
  readonly tolerance: number;
  readonly maxIterations: number;
}

export interface Graph {
  /** Number of nodes; they are numbered from 0. */
  readonly nodes: number;
  /** Links to node v are `sources[starts[v]]` to before `sources[starts[v + 1]]`. */
  readonly starts: Float64Array | Uint32Array;
  readonly sources: Uint32Array;
  /** Links from each node. */
  readonly outlinks: Uint32Array;
}

export interface Ranks {
  readonly ranks: Float64Array;
  readonly iterations: number;
  /** Sum of the changes of the last iteration. */
  readonly change: number;
  readonly converged: boolean;
}

/**
 * @param tick called after each iteration with its number and change; what it throws ends the work
 */
export function pageRank(
  {nodes, starts, sources, outlinks}: Graph,
  {damping, tolerance, maxIterations}: RankRules,
  tick: (iteration: number, change: number) => void = () => undefined,
): Ranks {
  let ranks = new Float64Array(nodes).fill(nodes === 0 ? 0 : 1 / nodes);
  let next = new Float64Array(nodes);
  const given = new Float64Array(nodes);
  let change = nodes === 0 ? 0 : Number.POSITIVE_INFINITY;
  let iterations = 0;
  while (change >= tolerance && iterations < maxIterations) {
    let deadEnds = 0;
    for (let node = 0; node < nodes; node++) {
      const links = outlinks[node]!;
      if (links === 0) deadEnds += ranks[node]!;
      else given[node] = ranks[node]! / links;
    }
    const base = (1 - damping + damping * deadEnds) / nodes;
    change = 0;
    let at = starts[0]!;
    for (let node = 0; node < nodes; node++) {
      const end = starts[node + 1]!;
      let sum = 0;
      for (; at < end; at++) sum += given[sources[at]!]!;
      const rank = base + damping * sum;
      change += Math.abs(rank - ranks[node]!);
      next[node] = rank;
    }
    [ranks, next] = [next, ranks];
    tick(++iterations, change);
  }
  return {ranks, iterations, change, converged: change < tolerance};
}
