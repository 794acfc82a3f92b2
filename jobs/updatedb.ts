import type {Config} from '../lib/config/settings.ts';
import {segmentTime} from '../lib/crawldb/segment-id.ts';
import {CrawlError} from '../lib/errors.ts';
import {boundsOf} from '../lib/schedule/from-config.ts';
import {scheduleRules} from '../lib/schedule/rules.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
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
} from './crawldb/writer.ts';
import {defineJob, type JobEffects} from './job.ts';
import {otherLinks} from './updatedb/lost.ts';
import {priceOf} from './updatedb/price.ts';
import type {SegmentMode, UpdateParams} from './updatedb/step.ts';
import {updateTask} from './updatedb/task.ts';

/**
 * Fetched segments into the crawldb (Nutch: CrawlDb update). Several at once, in any order, give the same crawldb.
 * What was applied is recorded: the same segment and parse again is nothing to do; another parse of a segment
 * replaces its links, signatures and states of parsing, and leaves the facts of the fetch alone: URLs that only the
 * former parse had found, and that were never asked for, become orphans.
 */
export const updatedb = defineJob({
  name: 'updatedb',
  summary: 'Merge fetched segments into the crawldb.',
  options: {
    segments: {kind: 'list', default: [], doc: 'Segments; all that are fetched and not applied if absent.'},
    unparsed: {
      kind: 'flag',
      default: false,
      doc: 'Also segments that were not parsed: no links, no signatures.',
    },
    noAdditions: {kind: 'flag', default: false, doc: 'Add no URLs; only known ones are updated.'},
  },
  locks: () => ['crawldb'],

  async plan(options, effects) {
    const {snapshot, config, store} = effects;
    const chosen = chooseSegments(options.segments, options.unparsed, effects);
    if (chosen.length === 0) {
      effects.log('info', 'nothing_to_apply', {segments: options.segments});
      return undefined;
    }
    scheduleRules(config.schedule.rules, boundsOf(config.schedule)); // told before anything is read
    const texts = await readPolicyTexts(config, store.dir);
    const policy = heldPolicy(snapshot, urlPolicy(config.url, texts.urlRules));
    const history = historyOf(snapshot, chosen);
    const crawldb = await snapshot.files('crawldb');
    const now = effects.now();
    const params: UpdateParams = {
      segments: [...chosen, ...history].map(({id, mode}) => ({
        segment: id,
        mode,
        parse_id: snapshot.segment(id).current ?? null,
      })),
      additions: !options.noAdditions,
      revision: nextRevision(snapshot),
      now,
      price: priceOf(snapshot.manifest.summary),
      texts,
      config: pick(config),
      database: databaseParams(config),
    };
    return {
      base: snapshot.manifest.number,
      now,
      ...(chosen.length === 1 && {segment: chosen[0]!.id}),
      tasks: [
        {
          stage: 0,
          part: 0,
          inputs: [...crawldb, ...(await inputsOf(snapshot, chosen, history))],
          params: {...params},
        },
      ],
      facts: {
        crawldb,
        inlinks: await inlinksSlot(snapshot),
        policy,
        database: params.database,
        // Of segments applied before: what they have to tell of refusals takes the place of that
        told: chosen
          .map(({id}) => `segments/${id}/refusals`)
          .filter((slot) => snapshot.manifest.slots[slot] !== undefined),
        applied: chosen.map(({id}) => [id, snapshot.segment(id).current ?? null]),
      },
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : updateTask(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const applied = plan.facts?.applied as readonly (readonly [string, string | null])[];
    const segments: Record<string, Partial<SegmentInfo>> = {};
    for (const [id, parse] of applied) segments[id] = {applied: parse};
    const told = plan.facts?.told as readonly string[];
    const edit = {
      reads: [
        'crawldb',
        'hoststats',
        'seedstats',
        'pathstats',
        'families',
        'familyrules',
        'hostrules',
        ...applied.flatMap(([id]) => [`segments/${id}`, `segments/${id}/fetch`]),
        ...told,
      ],
      writes: {
        ...countsOf(results[0]),
        families: filesOf(results[0], 'families'),
        pathstats: filesOf(results[0], 'pathstats'),
        ...Object.fromEntries(told.map((slot) => [slot, null])),
        ...Object.fromEntries(
          filesOf(results[0], 'refusals').map((file) => [`segments/${file.facts?.segment}/refusals`, [file]]),
        ),
      },
      segments,
      policies: {url: plan.facts?.policy as string},
      summary: results[0]?.facts?.summary as Record<string, number>,
    };
    const delta = filesOf(results[0], 'crawldb');
    if (delta.every((file) => file.rows === 0)) return {edit};
    const before = plan.facts?.crawldb as readonly FileRef[];
    return crawldbNext(plan, stage, before, delta, edit, plan.facts?.database as DatabaseParams);
  },
});

interface Chosen {
  readonly id: string;
  readonly mode: SegmentMode;
}

function pick(config: Config): UpdateParams['config'] {
  const {url, scope, links, schedule, score, dedup, budget, traps} = config;
  const {backoff, error_backoff} = config.politeness;
  return {url, scope, links, schedule, score, dedup, budget, traps, waits: {backoff, error_backoff}};
}

/** The segments to apply, oldest first. Named ones must be fit for it; without names, those that are not are passed over. */
function chooseSegments(names: readonly string[], unparsed: boolean, effects: JobEffects): Chosen[] {
  const {snapshot} = effects;
  const ids = names.length > 0 ? [...new Set(names)].sort() : snapshot.segments;
  const chosen: Chosen[] = [];
  for (const id of ids) {
    const {state, current, applied} = snapshot.segment(id);
    if (state !== 'fetched') {
      if (names.length === 0) continue;
      throw new CrawlError('SEGMENT_STATE', `segment ${id} is not fetched yet`, {
        facts: {segment: id, state},
        hint: `Run: crawl fetch ${id}`,
      });
    }
    if (applied !== undefined && applied === (current ?? null)) {
      if (names.length > 0) effects.log('info', 'already_applied', {segment: id, parse: applied});
      continue;
    }
    if (current === undefined && !unparsed)
      throw new CrawlError('SEGMENT_STATE', `segment ${id} is not parsed`, {
        facts: {segment: id, state},
        hint: `Run: crawl parse ${id}, or give --unparsed`,
      });
    chosen.push({id, mode: applied === undefined ? 'apply' : 'reparse'});
  }
  return chosen;
}

/**
 * Segments applied before, where some of them may hold outcomes newer than those that now come: made, or fetched,
 * later than the oldest of these began. In the usual order of rounds there are none, and nothing old is read.
 */
function historyOf(snapshot: Snapshot, chosen: readonly Chosen[]): {id: string; mode: 'history'}[] {
  const coming = chosen.filter(({mode}) => mode === 'apply').map(({id}) => id);
  const oldest = coming[0];
  if (oldest === undefined) return [];
  const began = segmentTime(oldest);
  const others = snapshot.segments.filter(
    (id) => snapshot.segment(id).applied !== undefined && !chosen.some((one) => one.id === id),
  );
  const late = others.some((id) => {
    const {fetched_time} = snapshot.segment(id);
    return id > oldest || (fetched_time !== undefined && Date.parse(fetched_time) > began);
  });
  return late ? [...others, ...reparsedOf(chosen)].map((id) => ({id, mode: 'history'})) : [];
}

function reparsedOf(chosen: readonly Chosen[]): string[] {
  return chosen.filter(({mode}) => mode === 'reparse').map(({id}) => id);
}

async function inputsOf(
  snapshot: Snapshot,
  chosen: readonly Chosen[],
  history: readonly {id: string}[],
): Promise<FileRef[]> {
  const links = chosen.map(({id}) => id);
  const captures = [...new Set([...links, ...history.map(({id}) => id)])].sort();
  return [
    ...(await snapshot.tableFiles('fetch', captures)),
    ...(await snapshot.tableFiles('parse', captures)),
    ...(await snapshot.tableFiles('outlinks', links)),
    ...(await snapshot.tableFiles('refusals', reparsedOf(chosen))),
    ...(await otherLinks(snapshot, reparsedOf(chosen), links)),
    ...(await snapshot.files('seeds')),
    ...(await snapshot.files('hoststate')),
    ...(await countFiles(snapshot)),
    ...(await snapshot.files('pathstats')),
    ...(await snapshot.files('families')),
    ...(await snapshot.files('familyrules')),
    ...(await snapshot.files('hostrules')),
  ];
}
