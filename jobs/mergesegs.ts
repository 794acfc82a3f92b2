import {CrawlError} from '../lib/errors.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import {originsOf} from '../lib/store/origins.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {urlPolicy} from '../lib/url/normalize.ts';
import {readPolicyTexts} from './config/policy-texts.ts';
import {heldPolicy} from './config/url-policy.ts';
import {
  compactBuckets,
  compactionEdit,
  countFiles,
  countsOf,
  crawldbNext,
  type DatabaseParams,
  databaseParams,
  filesOf,
  inlinksSlot,
  isCompaction,
  nextRevision,
  openPlanDatabase,
} from './crawldb/writer.ts';
import {defineJob} from './job.ts';
import {
  type MergedSegment,
  type MergesegsParams,
  mergeSegments,
  type PartFiles,
  type SourceSegment,
} from './mergesegs/task.ts';
import {checkCondition, describedCaptures} from './read/capture-where.ts';

/**
 * Several segments into one (Nutch: SegmentMerger): of each URL the newest capture, and the newest with a payload; links
 * and parses with their captures. It takes the place, and the name, of the newest of them; the others go in the same
 * commit. Rows of the crawldb, and captures of other segments that share a payload, follow. What the crawldb has taken
 * from older captures stays in it; the linkdb keeps the segment names by which it was told.
 */
export const mergesegs = defineJob({
  name: 'mergesegs',
  summary: 'Merge segments into one: of each URL the newest capture.',
  options: {
    segments: {kind: 'list', default: [], doc: 'Segments; all if absent.'},
    all: {kind: 'flag', default: false, doc: 'Keep all captures, not only the newest of each URL.'},
    where: {
      kind: 'text',
      doc: 'SQL condition over captures and their current parse: only these are kept.',
    },
    filter: {
      kind: 'flag',
      default: false,
      doc: 'Leave out the captures that the scope of today refuses.',
    },
    normalize: {
      kind: 'flag',
      default: false,
      doc: 'Give URLs the form that the url settings of today give, as crawl rekey does in the crawldb.',
    },
    slice: {kind: 'count', doc: 'Make segments of so many captures each, in order of time.'},
  },
  locks: () => ['crawldb', 'fetching'],

  async plan({segments, all, where, filter, normalize, slice}, effects) {
    const {snapshot, store, config, now, log} = effects;
    if (slice === 0) throw new CrawlError('USAGE', '--slice 0: a slice has at least one capture');
    const ids = segments.length > 0 ? [...new Set(segments)].sort() : snapshot.segments;
    for (const id of ids) snapshot.segment(id); // throws where there is none
    if (
      ids.length === 0 ||
      (ids.length === 1 && where === undefined && slice === undefined && !filter && !normalize)
    ) {
      log('info', 'nothing_to_merge', {segments: ids});
      return undefined;
    }
    checkSegments(snapshot, ids);
    const crawldb = await snapshot.files('crawldb');
    const captures = [...(await snapshot.tableFiles('fetch')), ...(await snapshot.tableFiles('parse', ids))];
    if (where !== undefined) {
      const db = await openPlanDatabase(effects, captures, ['fetch', 'parse']);
      try {
        await checkCondition(db, `SELECT capture_id FROM (${describedCaptures}) WHERE (${where}\n)`, where);
      } finally {
        await db.close();
      }
    }
    const texts = filter || normalize ? await readPolicyTexts(config, store.dir) : undefined;
    if (texts !== undefined) heldPolicy(snapshot, urlPolicy(config.url, texts.urlRules));
    const sources: SourceSegment[] = [];
    for (const id of ids) sources.push(await sourceOf(snapshot, id));
    const params: MergesegsParams = {
      sources,
      others: await otherFiles(snapshot, ids),
      existing: snapshot.segments,
      versions: Object.fromEntries(
        ids.map((id) => [id, snapshot.manifest.slots[`segments/${id}/fetch`]?.version ?? 0]),
      ),
      parse: snapshot.segment(ids.at(-1)!).current ?? null,
      all,
      where: where ?? null,
      rules:
        texts === undefined
          ? null
          : {
              filter,
              normalize,
              config: {url: config.url, scope: config.scope, links: config.links},
              texts,
            },
      slice: slice ?? 0,
      now: now(),
      revision: nextRevision(snapshot),
      database: databaseParams(config),
    };
    const counts = await countFiles(snapshot);
    const seeds = filter ? await snapshot.files('seeds') : [];
    return {
      base: snapshot.manifest.number,
      now: params.now,
      segment: ids.at(-1)!,
      tasks: [
        {stage: 0, part: 0, inputs: [...crawldb, ...captures, ...counts, ...seeds], params: {...params}},
      ],
      facts: {
        crawldb,
        inlinks: await inlinksSlot(snapshot),
        beside: await besideFetch(snapshot, ids),
        database: params.database,
        infos: Object.fromEntries(ids.map((id) => [id, snapshot.segment(id)])),
        origins: Object.fromEntries(snapshot.segments.map((id) => [id, originsOf(snapshot, id)])),
        slots: Object.keys(snapshot.manifest.slots).filter((slot) =>
          ids.some((id) => slot.startsWith(`segments/${id}/`)),
        ),
      },
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : mergeSegments(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const {crawldb, database, infos, origins, slots, beside} = plan.facts as unknown as PlanFacts; // made by plan
    const [result] = results;
    const merged = result?.facts?.merged as readonly MergedSegment[];
    const written = result?.facts?.slots as Readonly<Record<string, readonly FileRef[]>>;
    const writes: Record<string, readonly FileRef[] | null> = {...written};
    const kept = new Set(merged.map(({id}) => id));
    for (const slot of slots)
      if (written[slot] === undefined && kept.has(slot.split('/')[1]!)) writes[slot] = null;
    const ids = Object.keys(infos);
    const redirected = Object.keys(written).filter((slot) => !kept.has(slot.split('/')[1]!));
    const followed = Object.fromEntries(
      redirected.flatMap((slot) => Object.entries(beside[slot.split('/')[1]!] ?? {})),
    );
    const segments: Record<string, Partial<Omit<SegmentInfo, 'version'>> | null> = {};
    for (const id of ids) if (!kept.has(id)) segments[id] = null;
    // Their lists are other ones from now on, but the captures are the same
    for (const id of redirected.map((slot) => slot.split('/')[1]!))
      segments[id] = {merged_from: origins[id] ?? []};
    for (const {id, urls, hosts} of merged) {
      const {version: _, selection, ...newest} = infos[ids.at(-1)!]!;
      const own = infos[id];
      segments[id] = {
        ...newest,
        ...(own?.selection !== undefined && {selection: own.selection}),
        ...(own === undefined && selection !== undefined && {selection}),
        ...(own !== undefined && {generated_time: own.generated_time}),
        merged_from: [...new Set(ids.flatMap((id) => origins[id] ?? []))],
        urls,
        hosts,
        partitions: 1,
      };
    }
    const delta = filesOf(result, 'crawldb');
    const changed = delta.some((file) => file.rows > 0);
    const edit = {
      reads: [
        'crawldb',
        'open',
        ...ids.map((id) => `segments/${id}`),
        ...slots,
        ...redirected,
        ...Object.keys(followed),
      ],
      writes: {...writes, ...followed, ...(changed && countsOf(result))},
      segments,
    };
    if (!changed) return {edit};
    return crawldbNext(plan, stage, crawldb, delta, edit, database);
  },
});

interface PlanFacts {
  readonly crawldb: readonly FileRef[];
  readonly database: DatabaseParams;
  /** Of the segments that are merged, oldest first. */
  readonly infos: Readonly<Record<string, SegmentInfo>>;
  /** Of all segments. */
  readonly origins: Readonly<Record<string, readonly string[]>>;
  readonly slots: readonly string[];
  /** By other segment and slot: what is told of its captures, as whole for its next fetch slot. */
  readonly beside: Readonly<Record<string, Readonly<Record<string, readonly FileRef[]>>>>;
}

/** Throws SEGMENT_STATE where something would be lost, or would be told in part. */
function checkSegments(snapshot: Snapshot, ids: readonly string[]): void {
  const refuse = (which: readonly string[], what: string, hint: string) => {
    if (which.length > 0)
      throw new CrawlError('SEGMENT_STATE', `${what}: ${which.join(' ')}`, {facts: {segments: which}, hint});
  };
  const info = (id: string) => snapshot.segment(id);
  refuse(
    snapshot.segments.filter((id) => info(id).state !== 'fetched'),
    'not fetched yet, and may refer to payloads of the others',
    'Run: crawl fetch; or release the URLs: crawl drop',
  );
  refuse(
    ids.filter((id) => info(id).applied !== (info(id).current ?? null)),
    'not applied yet',
    'Run: crawl updatedb',
  );
  const parsed = ids.filter((id) => info(id).current !== undefined);
  refuse(
    parsed.length === 0 ? [] : ids.filter((id) => !parsed.includes(id)),
    'not parsed, while others are',
    'Run: crawl parse, then crawl updatedb',
  );
  const told = ids.filter((id) => info(id).inverted !== undefined);
  refuse(
    told.length === 0 ? [] : ids.filter((id) => info(id).inverted !== info(id).current),
    'links are not in the linkdb yet',
    'Run: crawl invertlinks',
  );
}

/** A segment's files, by what becomes of them. */
async function sourceOf(snapshot: Snapshot, id: string): Promise<SourceSegment> {
  const parts: PartFiles[] = [];
  for (const slot of Object.keys(snapshot.manifest.slots).sort()) {
    const of = new RegExp(`^segments/${id}/(parse|outlinks|(?:extract|extractions)/[^/]+)/([^/]+)$`).exec(
      slot,
    );
    if (of !== null) parts.push({part: of[1]!, parse: of[2]!, files: await snapshot.files(slot)});
  }
  const files = (part: string) => snapshot.files(`segments/${id}/${part}`);
  return {
    id,
    current: snapshot.segment(id).current ?? null,
    fetchlist: await files('fetchlist'),
    fetch: await files('fetch'),
    content: await files('content'),
    refusals: await files('refusals'),
    parts,
  };
}

async function otherFiles(
  snapshot: Snapshot,
  ids: readonly string[],
): Promise<Readonly<Record<string, readonly FileRef[]>>> {
  const others = snapshot.segments.filter((id) => !ids.includes(id));
  const lists = others.map(async (id) => [id, await snapshot.files(`segments/${id}/fetch`)] as const);
  return Object.fromEntries(await Promise.all(lists));
}

/**
 * What stands beside the fetch slots of other segments, parses and extractions. Where captures are told where their
 * payload is now, that slot gets a new version; what was whole for the old one is whole for it, since no capture came.
 */
async function besideFetch(snapshot: Snapshot, ids: readonly string[]): Promise<PlanFacts['beside']> {
  const beside: Record<string, Record<string, readonly FileRef[]>> = {};
  const {slots} = snapshot.manifest;
  for (const slot of Object.keys(slots).sort()) {
    const [, id] = /^segments\/([^/]+)\/(?:parse|outlinks|extract|extractions)\//.exec(slot) ?? [];
    if (id === undefined || ids.includes(id)) continue;
    const version = slots[`segments/${id}/fetch`]?.version ?? 0;
    const files = (await snapshot.files(slot)).map((file) =>
      file.facts?.fetch_version === version
        ? {...file, facts: {...file.facts, fetch_version: version + 1}}
        : file,
    );
    beside[id] = {...beside[id], [slot]: files};
  }
  return beside;
}
