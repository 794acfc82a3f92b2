import type {Config} from '../lib/config/settings.ts';
import {foundOnly} from '../lib/counters.ts';
import {bucketsOf, filesOfHosts, type Hosts, sumRows} from '../lib/crawldb/layout.ts';
import {neverDue} from '../lib/crawldb/row.ts';
import {newSegmentIds} from '../lib/crawldb/segment-id.ts';
import type {Reason} from '../lib/schema/reason.ts';
import {makeScope, type Scope} from '../lib/scope/scope.ts';
import {weightsOf} from '../lib/score/score.ts';
import type {CutOff, Forecast} from '../lib/selection/selection.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import {withQuarantine} from '../lib/traps/quarantine.ts';
import {type PolicyTexts, readPolicyTexts} from './config/policy-texts.ts';
import {type Candidates, readCandidates, readsWhole} from './crawldb/candidates.ts';
import {
  type DatabaseParams,
  databaseParams,
  openPlanDatabase,
  openTaskDatabase,
  rowsTable,
} from './crawldb/writer.ts';
import {defineJob, type JobEffects, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readQuarantine} from './read/quarantine.ts';
import {openSegments} from './selection/open.ts';
import {hostPolicy, selectionOptions, selectionRules} from './selection/rules.ts';
import {newPages, refuseOutOfScope} from './selection/scope.ts';
import {
  countRows,
  cutsOf,
  followsScore,
  isSettled,
  type LeftOut,
  makeCandidates,
  makeDue,
  type NewHost,
  newPicks,
  pickList,
  prepareSelection,
  type SelectionInput,
  selectionSql,
  tablesOf,
} from './selection/steps.ts';
import {
  type FetchLimits,
  fetchLimits,
  forecastOf,
  type MadeSegment,
  writeFetchlist,
} from './selection/write.ts';

interface GenerateParams extends SelectionInput {
  readonly partitions: number;
  /** Ids for the fetchlists, in order of choice. */
  readonly segments: readonly string[];
  /** Segments whose payloads are there. */
  readonly held: readonly string[];
  readonly limits: FetchLimits;
  readonly scope: Pick<Config, 'scope' | 'url' | 'links'>;
  readonly texts: PolicyTexts;
  readonly database: DatabaseParams;
}

/**
 * The URLs worth fetching now, in a new segment (Nutch: Generator). Exact under any skew: the same crawldb gives the
 * same list. It writes no crawldb: a URL is locked because it stands in the fetchlist of an open segment.
 */
export const generate = defineJob({
  name: 'generate',
  summary: 'Select the URLs that are due into a new segment.',
  options: {
    ...selectionOptions,
    partitions: {
      kind: 'count',
      min: 1,
      max: 1000,
      doc: 'Fetch tasks of a segment; generate.partitions if absent.',
    },
    maxSegments: {kind: 'count', default: 1, min: 1, max: 1000, doc: 'Segments to make at once, disjoint.'},
    concurrent: {kind: 'flag', default: false, doc: 'Also while a fetch is running.'},
  },
  locks: (options) => (options.concurrent ? [] : ['fetching']),

  async plan(options, effects) {
    const {snapshot, config} = effects;
    const now = effects.now();
    const open = openSegments(snapshot, now, config.generate.lapse);
    const inputs: FileRef[] = [];
    const weights = weightsOf(config.score.weights);
    const rules = selectionRules(options, config, now);
    const read = tablesOf({rules, weights});
    for (const name of read) if (name !== 'fetchlist') inputs.push(...(await snapshot.files(name)));
    for (const id of open) inputs.push(...(await snapshot.files(`segments/${id}/fetchlist`)));
    const params: GenerateParams = {
      now,
      rules,
      hosts: hostPolicy(config),
      weights,
      partitions: options.partitions ?? config.generate.partitions,
      segments: newSegmentIds(snapshot.segments, now, options.maxSegments),
      held: snapshot.segments.filter((id) => snapshot.manifest.slots[`segments/${id}/content`] !== undefined),
      limits: fetchLimits(config),
      scope: {scope: config.scope, url: config.url, links: config.links},
      texts: await readPolicyTexts(config, effects.store.dir),
      database: databaseParams(config),
    };
    const left = await whyNothing(effects, inputs, params);
    if (left !== null) {
      effects.log('info', 'nothing_due', {...left, open_segments: open.length});
      return undefined;
    }
    return {
      base: snapshot.manifest.number,
      now,
      segment: params.segments[0]!,
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
      facts: {rules: params.rules, hosts: params.hosts, weights: params.weights},
    };
  },

  run: (task, ctx) => select(task, ctx),

  next(plan, _stage, results) {
    const result = results[0]!;
    const made = result.facts?.segments as readonly SelectedSegment[];
    const {rules, hosts: policy, weights} = plan.facts as Pick<SelectionInput, 'rules' | 'hosts' | 'weights'>; // made by plan
    const writes: Record<string, readonly FileRef[]> = {};
    const segments: Record<string, Partial<SegmentInfo>> = {};
    for (const {id, urls, hosts, partitions, cuts, forecast} of made) {
      writes[`segments/${id}/fetchlist`] = result.files.filter((file) => file.facts?.segment === id);
      segments[id] = {
        state: 'generated',
        urls,
        hosts,
        partitions,
        generated_time: new Date(plan.now).toISOString(),
        selection: {
          ...rules,
          hosts: policy,
          weights,
          base: plan.base,
          time: plan.now,
          segments: made.map((one) => one.id),
          cuts,
          forecast,
        },
      };
    }
    return {edit: {reads: ['open'], writes, segments, opens: made.length > 0}};
  },
});

interface SelectedSegment extends MadeSegment {
  readonly cuts: readonly CutOff[];
  readonly forecast: Forecast;
}

/** URLs that are looked at first to find whether there is one to select; then four times as many, and so on. */
const firstLook = 10_000;
const deeper = 4;

/** Time by which a URL must be due to be looked at. */
function lookAhead({force, due}: SelectionInput['rules']): number {
  return force ? neverDue.getTime() - 1 : due;
}

type LeftBehind = Readonly<Record<string, number>>;

/**
 * Null where something can be selected; else how many due URLs their hosts keep back. Reads no more than it must: the
 * head of one bucket, which nearly always has something, before that of all.
 */
async function whyNothing(
  effects: JobEffects,
  inputs: readonly FileRef[],
  params: GenerateParams,
): Promise<LeftBehind | null> {
  const whole = readsWhole(inputs);
  const [first] = bucketsOf(inputs.filter(({table}) => table === 'crawldb')).filter(({rows}) => rows > 0);
  if (!whole && first !== undefined && (await leftIn(effects, inputs, params, first)) === null) return null;
  return leftIn(effects, inputs, params, undefined);
}

/** The same for the rows of some hosts, or all; of some hosts the counts are only those of the first look. */
async function leftIn(
  effects: JobEffects,
  inputs: readonly FileRef[],
  params: GenerateParams,
  hosts: Hosts | undefined,
): Promise<LeftBehind | null> {
  const others = inputs.filter(({table}) => table !== 'crawldb');
  const all = inputs.filter(({table}) => table === 'crawldb');
  const crawldb = hosts === undefined ? all : filesOfHosts(all, hosts);
  const whole = readsWhole(crawldb);
  const db = await openPlanDatabase(effects, [...crawldb, ...others], tablesOf(params), {
    whole,
    ...(hosts && {hosts}),
  });
  try {
    const candidates = readCandidates(db, crawldb, {due: lookAhead(params.rules)});
    await candidates.deepen(firstLook);
    const asked =
      hosts &&
      `SELECT host_key, url_host_name FROM hoststats WHERE host_key BETWEEN ${hosts.first}::UBIGINT AND ${hosts.last}::UBIGINT`;
    const {due} = await prepareSelection(db, params, 'due_row', asked);
    const some = `SELECT 1 FROM (${selectionSql.due}) WHERE reason IS NULL AND coalesce(budget_left, 1) > 0 LIMIT 1`;
    for (let want = firstLook * deeper; ; want *= deeper) {
      if ((await db.all(some, due)).length > 0) return null;
      if (candidates.complete || hosts !== undefined) break;
      await candidates.deepen(want);
    }
    const left = await db.all<{reason: string; n: number}>(
      `SELECT coalesce(reason, 'budget') AS reason, count(*) AS n FROM (${selectionSql.due}) GROUP BY ALL ORDER BY ALL`,
      due,
    );
    return Object.fromEntries(left.map(({reason, n}) => [reason, n]));
  } finally {
    await db.close();
  }
}

async function select(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as GenerateParams; // made by plan
  const db = await openTaskDatabase(task, ctx, params.database, tablesOf(params));
  try {
    const {left, newHost} = await choose(db, task, params);
    const held = await rowsTable(db, 'held', {segment: {type: 'text'}});
    await held.insert(params.held.map((segment) => ({segment})));
    await db.run(`CREATE TABLE chosen AS ${selectionSql.chosen}`, {due: new Date(params.rules.due)});
    const {made, files} = await writeLists(db, ctx, params, newHost);
    return {files, ...(await report(db, made, left, params.now)), facts: {segments: made}};
  } finally {
    await db.close();
  }
}

/** Makes `due` and `picked`, from as much of the crawldb as it takes for the choice to be exact. */
async function choose(
  db: Database,
  task: Task,
  params: GenerateParams,
): Promise<{left: LeftOut; newHost: NewHost}> {
  const {scope, url, links} = params.scope;
  const wanted = withQuarantine(
    makeScope(scope, url, links, params.texts.scopeFiles),
    await readQuarantine(db, params.now),
  );
  const nearer = params.rules.order === 'breadth';
  const held = sumRows(task.inputs.filter(({table}) => table === 'fetchlist'));
  const candidates = readCandidates(db, task.inputs, {due: lookAhead(params.rules), held, nearer});
  const places = params.rules.topN * params.segments.length;
  const byScore = followsScore(params, params.segments.length);
  await candidates.deepen(byScore ? places : Number.POSITIVE_INFINITY);
  const {due, newHost} = await prepareSelection(db, params, 'due_row');
  await newPages(db);
  for (let want = places * deeper; ; ) {
    await makeDue(db, due);
    const left = await pickWithin(db, params, candidates, wanted);
    if (left !== null) return {left, newHost};
    for (const {bound} = candidates; candidates.bound === bound; want *= deeper)
      await candidates.deepen(want);
  }
}

/** Makes `picked`, all within the scope; null where URLs that were not read could change it. */
async function pickWithin(
  db: Database,
  params: GenerateParams,
  candidates: Candidates,
  scope: Scope,
): Promise<LeftOut | null> {
  for (;;) {
    const left = await pick(db, params);
    const exact =
      candidates.complete || (left.listFull > 0 && (await isSettled(db, params, candidates.bound)));
    if (!exact) return null;
    if ((await refuseOutOfScope(db, scope)) === 0) return left;
  }
}

/** Makes `picked`: the best of what is due and allowed. */
async function pick(db: Database, {segments, rules, hosts}: GenerateParams): Promise<LeftOut> {
  await makeCandidates(db, {rules, hosts});
  await newPicks(db);
  let left: LeftOut = {hostLimit: 0, domainLimit: 0, seedLimit: 0, listFull: 0};
  for (const part of segments.keys()) left = await pickList(db, rules, part);
  return left;
}

async function writeLists(
  db: Database,
  ctx: TaskContext,
  {segments, partitions, rules, limits}: GenerateParams,
  newHost: NewHost,
): Promise<{made: SelectedSegment[]; files: FileRef[]}> {
  const made: SelectedSegment[] = [];
  const files: FileRef[] = [];
  for (const [part, id] of segments.entries()) {
    const written = await writeFetchlist(db, ctx, part, id, partitions);
    if (written === null) continue;
    const cuts = await cutsOf(db, part, rules.topN);
    made.push({...written.made, cuts, forecast: await forecastOf(db, part, newHost, limits)});
    files.push(...written.files);
  }
  return {made, files};
}

/** What was selected, and what was due and left out, by reason. */
async function report(
  db: Database,
  made: readonly MadeSegment[],
  left: LeftOut,
  now: number,
): Promise<Pick<TaskResult, 'counters' | 'reasons'>> {
  const due = await db.all<{reason: Reason | null; n: number}>(
    'SELECT reason, count(*) AS n FROM due GROUP BY ALL ORDER BY ALL',
  );
  const [odd] = await db.all(selectionSql.odd, {now: new Date(now)});
  const [hosts] = await db.all<{n: number}>('SELECT count(DISTINCT host_key) AS n FROM picked');
  const reasons: Partial<Record<Reason, number>> = {};
  const charge = (reason: Reason, n: number) => {
    if (n > 0) reasons[reason] = (reasons[reason] ?? 0) + n;
  };
  for (const {reason, n} of due) if (reason !== null) charge(reason, n);
  const allowed = due.find(({reason}) => reason === null)?.n ?? 0;
  charge('budget', allowed - (await countRows(db, 'candidate')));
  charge('host_limit', left.hostLimit);
  charge('domain_limit', left.domainLimit);
  charge('seed_limit', left.seedLimit);
  charge('list_full', left.listFull);
  const total = due.reduce((sum, {n}) => sum + n, 0);
  const selected = made.reduce((sum, {urls}) => sum + urls, 0);
  return {
    counters: {
      urls_due_total: total,
      urls_selected_total: selected,
      hosts_selected_total: hosts?.n ?? 0,
      urls_left_total: total - selected,
      ...foundOnly(odd),
    },
    reasons,
  };
}
