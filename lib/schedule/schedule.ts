/**
 * When a URL is fetched again. A schedule takes what a visit found and gives interval and due time; nothing else
 * of a row is its business, so that no interval, however long, wipes status, signature or modification time
 * (Nutch's forceRefetch does).
 *
 * All times are milliseconds since the epoch, all intervals seconds.
 */
export interface Visit {
  /** When the page was fetched. */
  readonly fetchTime: number;
  /** Interval before this visit; 0 or less counts as none, and the first interval takes its place. */
  readonly intervalS: number;
  /** The interval was fixed by hand. */
  readonly fixed: boolean;
  /** What the comparison with the last content said; `unknown` where there was nothing to compare. */
  readonly change: 'modified' | 'unmodified' | 'unknown';
  /** Fetch time of the last visit that found a change, before this one; null if there was none. */
  readonly modifiedTime: number | null;
  /** Past visits, this one included: lib/schedule/visit-history.ts. */
  readonly history: Uint8Array | null;
  /** How much the freshness of the page counts, 1 for an ordinary one. */
  readonly weight: number;
  /** Bounds of this page, where they aren't those of the schedule. */
  readonly bounds?: Bounds;
}

export interface Next {
  readonly intervalS: number;
  /** Earliest time of the next fetch; always after the visit. */
  readonly nextFetchTime: number;
}

export interface Bounds {
  readonly firstS: number;
  readonly minS: number;
  readonly maxS: number;
}

export interface Schedule {
  readonly bounds: Bounds;
  /** After a success, a 304 or a redirect. */
  visited(visit: Visit): Next;
}

/** The interval inside its bounds, in whole seconds. */
export function clampInterval(seconds: number, bounds: Bounds): number {
  return Math.min(Math.max(Math.round(seconds), bounds.minS), bounds.maxS);
}

/** The interval that a row brings, or the first one. */
export function givenInterval(seconds: number, bounds: Bounds): number {
  return seconds > 0 ? seconds : bounds.firstS;
}

export function after(time: number, intervalS: number): Next {
  return {intervalS, nextFetchTime: time + intervalS * 1000};
}
