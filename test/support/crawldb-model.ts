import type {Config} from '../../lib/config/settings.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {applyOutcomes, type Outcome, type TransitionPolicy} from '../../lib/crawldb/transition.ts';
import {scheduleOf} from '../../lib/schedule/from-config.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {Outlink} from '../../lib/schema/outlinks.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import type {HopType} from '../../lib/schema/status.ts';
import {identify} from '../../lib/url/keys.ts';

/** A segment as the model takes it: the rows that fetch and parse wrote. */
export interface ModelSegment {
  readonly captures: readonly Capture[];
  readonly parses: readonly ParseRow[];
  readonly outlinks: readonly Outlink[];
}

interface Sighting {
  readonly to: string;
  readonly from: string;
  readonly time: Date;
  readonly depth: number;
  readonly seed: string | null;
  readonly hop: HopType;
}

/**
 * The crawldb in memory, a map, with updatedb told in plain loops: what the job's sets must come to. The state
 * machine itself is shared; it has tests of its own.
 */
export class CrawldbModel {
  readonly rows = new Map<string, CrawlDatum>();
  readonly #config: Config;
  readonly #policy: TransitionPolicy;

  constructor(config: Config) {
    this.#config = config;
    this.#policy = {schedule: scheduleOf(config.schedule), config: config.schedule, waits: config.politeness};
  }

  inject(url: string, score: number, time: number): void {
    this.rows.set(
      url,
      this.#found(url, {to: url, from: '', time: new Date(time), depth: 0, seed: url, hop: 'I'}, score),
    );
  }

  #found(url: string, sighting: Sighting, score: number): CrawlDatum {
    const {depth, seed, hop: hopType, time} = sighting;
    const from = hopType === 'I' ? null : sighting.from;
    const intervalS = this.#policy.schedule.bounds.firstS;
    return newRow(identify(url), {score, depth, seed, tag: null, hopType, time, from, intervalS}, 0);
  }

  /** One updatedb over these segments. */
  update(segments: readonly ModelSegment[]): void {
    const before = new Map(this.rows);
    const captures = segments.flatMap((segment) => segment.captures);
    const touched = this.#fold(
      captures,
      segments.flatMap((segment) => segment.parses),
      before,
    );
    this.#markDuplicates(touched, before);
    const links = segments.flatMap((segment) => segment.outlinks).filter(({accepted}) => accepted);
    this.#follow([...redirects(captures), ...links.map(sightingOf)]);
  }

  #fold(
    captures: readonly Capture[],
    parses: readonly ParseRow[],
    before: ReadonlyMap<string, CrawlDatum>,
  ): Set<string> {
    const touched = new Set<string>();
    const byTime = captures.toSorted((a, b) => a.fetch_time.getTime() - b.fetch_time.getTime());
    for (const capture of byTime) {
      const parse = parses.find(({capture_id}) => capture_id === capture.capture_id) ?? null;
      const outcome: Outcome = {...capture, parse, host_allowed: null};
      const row = this.rows.get(capture.url) ?? this.#hopRow(capture, before);
      const after = applyOutcomes(row, [outcome], this.#policy);
      if (after === row) continue;
      touched.add(capture.url);
      this.rows.set(capture.url, after);
    }
    return touched;
  }

  #hopRow(capture: Capture, before: ReadonlyMap<string, CrawlDatum>): CrawlDatum {
    const score = before.get(capture.origin_url)?.score ?? this.#config.score.injected;
    const {url, origin_url: from, fetch_time: time, depth, seed} = capture;
    return this.#found(url, {to: url, from, time, depth, seed, hop: 'R'}, score);
  }

  #markDuplicates(touched: ReadonlySet<string>, before: ReadonlyMap<string, CrawlDatum>): void {
    const text = (row: CrawlDatum | undefined) =>
      row?.signature && Buffer.from(row.signature).toString('hex');
    const affected = new Set(
      [...touched].flatMap((url) => [text(before.get(url)), text(this.rows.get(url))]),
    );
    for (const signature of affected) {
      if (!signature) continue;
      const group = [...this.rows.values()].filter(
        (row) => text(row) === signature && ['fetched', 'notmodified', 'duplicate'].includes(row.status),
      );
      const votes = (row: CrawlDatum) => group.filter(({canonical_url}) => canonical_url === row.url).length;
      const [winner, ...losers] = group.toSorted(
        (a, b) =>
          votes(b) - votes(a) ||
          b.score - a.score ||
          Number(b.url.startsWith('https:')) - Number(a.url.startsWith('https:')) ||
          a.url.length - b.url.length ||
          a.discovered_time.getTime() - b.discovered_time.getTime() ||
          (a.url < b.url ? -1 : 1),
      );
      if (winner?.status === 'duplicate')
        this.rows.set(winner.url, {...winner, status: 'fetched', reason: null, duplicate_of: null});
      for (const row of losers)
        if (row.status !== 'duplicate' || row.duplicate_of !== winner!.url)
          this.rows.set(row.url, {
            ...row,
            status: 'duplicate',
            reason: 'duplicate',
            duplicate_of: winner!.url,
          });
    }
    for (const row of this.rows.values()) {
      const kind = row.status === 'duplicate' ? 'exact' : null;
      if (row.duplicate_kind !== kind) this.rows.set(row.url, {...row, duplicate_kind: kind});
    }
  }

  /** New URLs, and known ones that are reached sooner, nearer or from dearer pages. All read the state before it. */
  #follow(sightings: readonly Sighting[]): void {
    const before = new Map(this.rows);
    const targets = new Map<string, Sighting[]>();
    for (const sighting of sightings) {
      if (before.get(sighting.from)?.status === 'duplicate' && sighting.hop !== 'R') continue;
      targets.set(sighting.to, [...(targets.get(sighting.to) ?? []), sighting]);
    }
    for (const [url, found] of targets) {
      const nearest = found.toSorted((a, b) => a.depth - b.depth || compare(a.seed, b.seed))[0]!;
      const first = found.toSorted(
        (a, b) => a.time.getTime() - b.time.getTime() || compare(a.from, b.from) || compare(a.hop, b.hop),
      )[0]!;
      const score = Math.max(
        ...found.map(({from, hop}) => before.get(from)!.score * (hop === 'R' ? 1 : this.#config.score.decay)),
      );
      const known = before.get(url);
      const lineage = {depth: nearest.depth, seed: nearest.seed};
      if (known === undefined) this.rows.set(url, {...this.#found(url, first, score), ...lineage});
      else if (known.discovered_from !== null) this.rows.set(url, merged(known, nearest, first, score));
    }
  }
}

function merged(known: CrawlDatum, nearest: Sighting, first: Sighting, score: number): CrawlDatum {
  const nearer =
    nearest.depth < known.depth || (nearest.depth === known.depth && compare(nearest.seed, known.seed) < 0);
  const sooner =
    first.time.getTime() - known.discovered_time.getTime() || compare(first.from, known.discovered_from);
  return {
    ...known,
    ...(known.fetch_time === null && {score: Math.max(known.score, score)}),
    ...(nearer && {depth: nearest.depth, seed: nearest.seed}),
    ...(sooner < 0 && {discovered_time: first.time, discovered_from: first.from, hop_type: first.hop}),
    ...(sooner < 0 &&
      known.fetch_time === null && {
        next_fetch_time: new Date(Math.min(first.time.getTime(), known.next_fetch_time.getTime())),
      }),
  };
}

function redirects(captures: readonly Capture[]): Sighting[] {
  return captures.flatMap(({fetch_redirect: to, url: from, fetch_time: time, depth, seed}) =>
    to === null ? [] : [{to, from, time, depth, seed, hop: 'R' as const}],
  );
}

function sightingOf(link: Outlink): Sighting {
  return {
    to: link.to_url!,
    from: link.from_url,
    time: link.fetch_time,
    depth: link.depth,
    seed: link.seed,
    hop: link.hop_type,
  };
}

function compare(a: string | null, b: string | null): number {
  return a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1;
}
