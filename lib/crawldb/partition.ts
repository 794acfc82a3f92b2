/**
 * Which fetch task gets a registered domain. All hosts of a domain go to one task, so that limits per host and
 * per domain hold inside it. Largest domains first, each to the task that has least so far: within 4/3 of the best
 * balance (Graham 1969), and the same for the same input.
 */
export function balanceDomains(
  domains: readonly {readonly domain: string; readonly urls: number}[],
  partitions: number,
): ReadonlyMap<string, number> {
  const load = new Array<number>(Math.max(1, partitions)).fill(0);
  const ordered = domains.toSorted((a, b) => b.urls - a.urls || (a.domain < b.domain ? -1 : 1));
  const placed = new Map<string, number>();
  for (const {domain, urls} of ordered) {
    const least = load.reduce((best, sum, index) => (sum < load[best]! ? index : best), 0);
    load[least]! += urls;
    placed.set(domain, least);
  }
  return placed;
}
