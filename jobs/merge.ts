import {resolve} from 'node:path';
import {newSegmentIds} from '../lib/crawldb/segment-id.ts';
import {CrawlError} from '../lib/errors.ts';
import {openCrawl} from '../lib/store/crawl.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import {originsOf, segmentsByOrigin} from '../lib/store/origins.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {databaseParams, filesOf, inlinksVersion, nextRevision} from './crawldb/writer.ts';
import {defineJob} from './job.ts';
import {type MergeParams, type MergeSource, mergeAll, mergedTables} from './merge/task.ts';

/**
 * Takes other crawls into this one (Nutch: CrawlDbMerger, LinkDbMerger, SegmentMerger): rows of a URL become one, links
 * are those of the newest fetch of their page, segments come whole. The others are read as of their newest manifest and
 * stay as they are.
 */
export const merge = defineJob({
  name: 'merge',
  summary: 'Take other crawls into this one.',
  options: {
    from: {kind: 'list', default: [], doc: 'Folders of the other crawls.'},
  },
  locks: () => ['crawldb', 'linkdb', 'fetching'],

  async plan({from}, {snapshot, config, store, now, log}) {
    const dirs = [...new Set(from.map((dir) => resolve(dir)))];
    if (dirs.length === 0) throw new CrawlError('USAGE', 'name the crawls to take in');
    if (dirs.includes(store.dir)) throw new CrawlError('USAGE', `${store.dir} is the crawl itself`);
    const sources: MergeSource[] = [];
    const segments: Record<string, Omit<SegmentInfo, 'version'>> = {};
    let shared = false;
    let policy = snapshot.manifest.policies.url;
    for (const dir of dirs) {
      const other = await (await openCrawl(dir)).head();
      policy = onePolicy(policy, other);
      const {ids, renames, same, left} = chooseSegments(snapshot, segments, other, now());
      if (left.length > 0) log('info', 'segments_left', {crawl: dir, segments: left});
      shared ||= same > 0;
      const {slots} = snapshot.manifest;
      const version = (id: string) => (slots[`segments/${renames[id] ?? id}/fetch`]?.version ?? 0) + 1;
      const versions = Object.fromEntries(ids.map((id) => [id, version(id)]));
      sources.push({dir, manifest: other.manifest.number, segments: ids, renames, versions});
      for (const id of ids) {
        const {version: _version, ...info} = other.segment(id);
        segments[renames[id] ?? id] = {...info, merged_from: originsOf(other, id)};
      }
    }
    const params: MergeParams = {
      sources,
      shared,
      dedup: config.dedup,
      revision: nextRevision(snapshot),
      inlinksRevision: inlinksVersion(snapshot) + 1,
      database: databaseParams(config),
    };
    const inputs = (await Promise.all(mergedTables.map((slot) => snapshot.files(slot)))).flat();
    return {
      base: snapshot.manifest.number,
      now: now(),
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
      facts: {slots: mergedTables, segments, policy, seeds: await snapshot.files('seeds')},
    };
  },

  run: (task, ctx) => mergeAll(task, ctx),

  next(plan, _stage, results) {
    const [result] = results;
    const facts = plan.facts as unknown as MergeFacts; // made by plan
    const seeds = filesOf(result, 'seeds').filter((file) => file.rows > 0);
    const writes: Record<string, readonly FileRef[]> = {
      ...(result?.facts?.slots as Record<string, readonly FileRef[]>),
      inlinks: filesOf(result, 'inlinks'), // of URLs that are no rows; the others have theirs
      seeds: [...facts.seeds, ...seeds],
    };
    for (const slot of [...mergedTables, 'crawldbstats'] as const)
      if (slot !== 'seeds') writes[slot] = filesOf(result, slot);
    writes.linkdb = [...filesOf(result, 'linkdb'), ...filesOf(result, 'linksources')];
    const {policy, segments} = facts;
    return {
      edit: {
        reads: [...facts.slots, 'inlinks', 'open'],
        writes,
        segments,
        opens: Object.values(segments).some(({applied}) => applied === undefined),
        ...(policy !== undefined && {policies: {url: policy}}),
        summary: result?.facts?.summary as Record<string, number>,
      },
    };
  },
});

interface MergeFacts {
  readonly slots: readonly string[];
  readonly segments: Readonly<Record<string, Omit<SegmentInfo, 'version'>>>;
  readonly policy: string | undefined;
  readonly seeds: readonly FileRef[];
}

/** The URL policy of both crawls. Throws URL_POLICY_CHANGED where they have different ones. */
function onePolicy(policy: string | undefined, other: Snapshot): string | undefined {
  const theirs = other.manifest.policies.url;
  if (policy !== undefined && theirs !== undefined && policy !== theirs)
    throw new CrawlError(
      'URL_POLICY_CHANGED',
      `the URLs of ${other.store.dir} have another form than those of this crawl`,
      {
        facts: {held: policy, other: theirs},
        hint: 'Give both crawls the same settings of url, and run crawl rekey in each.',
      },
    );
  return policy ?? theirs;
}

interface ChosenSegments {
  readonly ids: readonly string[];
  readonly renames: Readonly<Record<string, string>>;
  /** How many are here already. */
  readonly same: number;
  /** Never begun: nothing of theirs would be lost. */
  readonly left: readonly string[];
}

/**
 * Segments that come along. One whose captures are here already, as in a copy of the crawl or after a former merge,
 * stays as it is here; one whose name another has gets a new one. A fetch that is begun must be ended first, since its
 * captures are in no manifest yet.
 *
 * @param coming what is taken from the crawls before this one
 */
function chooseSegments(
  here: Snapshot,
  coming: Readonly<Record<string, Pick<SegmentInfo, 'merged_from'>>>,
  other: Snapshot,
  now: number,
): ChosenSegments {
  const ids: string[] = [];
  const left: string[] = [];
  const renames: Record<string, string> = {};
  const held = new Map(segmentsByOrigin(here));
  for (const [id, {merged_from = []}] of Object.entries(coming))
    for (const origin of [merged_from].flat()) held.set(origin, id);
  const taken = new Set([...here.segments, ...Object.keys(coming)]);
  let same = 0;
  for (const id of other.segments) {
    const {state} = other.segment(id);
    if (state === 'fetching')
      throw new CrawlError('SEGMENT_STATE', `segment ${id} of ${other.store.dir} is not fetched to its end`, {
        facts: {segment: id, crawl: other.store.dir},
        hint: 'There, run: crawl fetch, or crawl fetch --close SEGMENT',
      });
    if (state === 'generated') {
      left.push(id);
      continue;
    }
    const holders = originsOf(other, id).map((origin) => held.get(origin));
    if (holders.some((holder) => holder !== undefined)) same++;
    const [holder] = holders.includes(id) ? [id] : holders.toSorted().reverse();
    if (holder !== undefined && !holders.includes(undefined)) {
      if (holder !== id) renames[id] = holder;
      continue;
    }
    if (taken.has(id))
      renames[id] = newSegmentIds([...taken, ...other.segments, ...Object.values(renames)], now, 1)[0]!;
    ids.push(id);
  }
  return {ids, renames, same, left};
}
