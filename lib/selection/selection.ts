/**
 * What one generate decided by: its options, thresholds and cut-offs. Kept with the segment in the manifest, in place
 * of a verdict for each of millions of URLs: `crawl explain` evaluates them again for one.
 */

/**
 * In which order the URLs of one host come: `breadth` by links from the seed, `best` by priority alone, `depth` the
 * deepest first. How many URLs a host gets follows from its priorities all the same.
 */
export const fetchOrders = ['breadth', 'best', 'depth'] as const;
export type FetchOrder = (typeof fetchOrders)[number];

/** What a person can ask of a selection, all values settled. Plain data. */
export interface SelectionRules {
  /** Most URLs of a fetchlist. */
  readonly topN: number;
  readonly maxPerHost: number;
  /** Of a registered domain; null for no end. */
  readonly maxPerDomain: number | null;
  /** Of what was reached from one seed; null for no end. */
  readonly maxPerSeed: number | null;
  readonly order: FetchOrder;
  /**
   * Pages fetched before come in order of their lateness, in parts of their interval, in place of priority and `order`; absent in
   * selections of old.
   */
  readonly byLateness?: boolean;
  /** Share of the list kept for URLs that were fetched before, 0 to 1. */
  readonly refetchShare: number;
  /** Weights of seed groups and tags by name; `*` is all others. */
  readonly shares: Readonly<Record<string, number>>;
  /** Length of the fetch in ms; 0 for none. */
  readonly windowMs: number;
  /** Condition that a URL must meet, as SQL. */
  readonly where: string | null;
  /** URLs whose time has not come are taken too. */
  readonly force: boolean;
  /** A URL whose time comes by then is due; milliseconds since the epoch. */
  readonly due: number;
}

/** The last URL taken of a group and kind, where the list was full: what stands behind it was left out. */
export interface CutOff {
  readonly group: string;
  readonly refetch: boolean;
  /** Greatest priority among the URL and those that wait behind it in its host. */
  readonly standing: number;
  /** Its place among the URLs of its host and kind. */
  readonly nth: number;
}

/** What the coming fetch will take, by what is known of its hosts. */
export interface Forecast {
  /** Pages, robots.txt files and no redirects. */
  readonly requests: number;
  /** Payload bytes, and bytes on disk with all tables. */
  readonly bytes: number;
  readonly disk_bytes: number;
  /** From the start of the fetch to its last answer. */
  readonly duration_ms: number;
  /** The hosts that take longest, at most ten. */
  readonly slowest: readonly {readonly host: string; readonly urls: number; readonly duration_ms: number}[];
}

/** What the configuration says of hosts, as far as a selection looks at it. */
export interface HostPolicy {
  readonly minDelayMs: number;
  readonly maxCrawlDelayMs: number;
  readonly latencyFactor: number;
  readonly maxLatencyMs: number;
  /** Hosts whose last pages had little content of their own get less. */
  readonly yield: boolean;
  readonly budgets: {readonly host: Budget; readonly domain: Budget; readonly seed: Budget};
}

/** What may be had in all, ever; -1 for no end. */
export interface Budget {
  /** Successful pages. */
  readonly pages: number;
  readonly bytes: number;
  /** Bytes of payloads that the crawl did not have. */
  readonly novel: number;
}

export function isLimited({pages, bytes, novel}: Budget): boolean {
  return pages >= 0 || bytes >= 0 || novel >= 0;
}

export interface Selection extends SelectionRules {
  readonly hosts: HostPolicy;
  /** Weights of the parts of the priority. */
  readonly weights: Readonly<Record<string, number>>;
  /** Manifest whose crawldb was looked at. */
  readonly base: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Segments made at once, in their order; each takes what the ones before left. */
  readonly segments: readonly string[];
  readonly cuts: readonly CutOff[];
  readonly forecast: Forecast | null;
}
