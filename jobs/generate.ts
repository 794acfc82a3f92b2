import type {Config} from '../lib/config/settings.ts';
import {balanceDomains} from '../lib/crawldb/partition.ts';
import {newSegmentIds} from '../lib/crawldb/segment-id.ts';
import {CrawlError} from '../lib/errors.ts';
import {fetchlist} from '../lib/schema/fetchlist.ts';
import type {Reason} from '../lib/schema/reason.ts';
import {makeScope} from '../lib/scope/scope.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef, SegmentInfo} from '../lib/store/manifest-types.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {readCandidates} from './crawldb-candidates.ts';
import {
  type DatabaseParams,
  databaseParams,
  openPlanDatabase,
  openTaskDatabase,
  rowsTable,
} from './crawldb-writer.ts';
import {refuseOutOfScope} from './generate-scope.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {type PolicyTexts, readPolicyTexts} from './policy-texts.ts';
import {readSql} from './sql-file.ts';

const sql = readSql(import.meta.url, './generate.sql', [
  'locked',
  'host',
  'due',
  'candidate',
  'pick',
  'limited',
  'chosen',
  'known',
]);
const read = ['crawldb', 'seeds', 'fetchlist', 'hoststate', 'hoststats', 'hostrules'] as const;

const dayMs = 86_400_000;
/** Without a window, a host that rests longer than this after failures is left out: a fetch would only wait for it. */
const shortRestMs = 60_000;

interface GenerateParams {
  readonly now: number;
  readonly due: number;
  readonly topN: number;
  readonly maxPerHost: number;
  readonly partitions: number;
  /** Length of the fetch in ms; 0 for none. */
  readonly windowMs: number;
  readonly where: string;
  /** Ids for the fetchlists, in order of choice. */
  readonly segments: readonly string[];
  /** Segments whose payloads are there. */
  readonly held: readonly string[];
  readonly minDelayMs: number;
  readonly maxCrawlDelayMs: number;
  /** Pages ever of a host; -1 for no end. */
  readonly budget: number;
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
    topN: {kind: 'count', min: 1, doc: 'Most URLs in a fetchlist; generate.top_n if absent.'},
    maxPerHost: {kind: 'count', min: 1, doc: 'Most URLs of one host; generate.max_per_host if absent.'},
    partitions: {
      kind: 'count',
      min: 1,
      max: 1000,
      doc: 'Fetch tasks of a segment; generate.partitions if absent.',
    },
    maxSegments: {kind: 'count', default: 1, min: 1, max: 1000, doc: 'Segments to make at once, disjoint.'},
    addDays: {kind: 'number', default: 0, doc: 'Take what is due in so many days, too.'},
    where: {kind: 'text', doc: 'SQL condition over the columns of crawldb that a URL must meet.'},
    window: {
      kind: 'duration',
      doc: 'Length of the coming fetch: a host gets as many URLs as fit; fetch.window if absent.',
    },
    concurrent: {kind: 'flag', default: false, doc: 'Also while a fetch is running.'},
  },
  locks: (options) => (options.concurrent ? [] : ['fetching']),

  async plan(options, effects) {
    const {snapshot, config} = effects;
    const now = effects.now();
    const open = openSegments(snapshot, now, config.generate.lapse);
    const inputs = [
      ...(await snapshot.files('crawldb')),
      ...(await snapshot.files('seeds')),
      ...(await snapshot.files('hoststate')),
      ...(await snapshot.files('hoststats')),
      ...(await snapshot.files('hostrules')),
    ];
    for (const id of open) inputs.push(...(await snapshot.files(`segments/${id}/fetchlist`)));
    const params: GenerateParams = {
      now,
      due: now + options.addDays * dayMs,
      topN: options.topN ?? config.generate.top_n,
      maxPerHost: options.maxPerHost ?? config.generate.max_per_host,
      partitions: options.partitions ?? config.generate.partitions,
      windowMs: options.window ?? config.fetch.window ?? 0,
      where: condition(options.where),
      segments: newSegmentIds(snapshot.segments, now, options.maxSegments),
      held: snapshot.segments.filter((id) => snapshot.manifest.slots[`segments/${id}/content`] !== undefined),
      minDelayMs: config.politeness.min_delay,
      maxCrawlDelayMs: config.politeness.max_crawl_delay,
      budget: config.budget.max_pages_per_host ?? -1,
      scope: {scope: config.scope, url: config.url, links: config.links},
      texts: await readPolicyTexts(config, effects.store.dir),
      database: databaseParams(config),
    };
    const db = await openPlanDatabase(effects, inputs, read);
    try {
      const left = await whyNothing(db, inputs, params);
      if (left !== null) {
        effects.log('info', 'nothing_due', {...left, open_segments: open.length});
        return undefined;
      }
    } finally {
      await db.close();
    }
    return {
      base: snapshot.manifest.number,
      now,
      segment: params.segments[0]!,
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
    };
  },

  run: (task, ctx) => select(task, ctx),

  next(plan, _stage, results) {
    const result = results[0]!;
    const made = result.facts?.segments as readonly MadeSegment[];
    const writes: Record<string, readonly FileRef[]> = {};
    const segments: Record<string, Partial<SegmentInfo>> = {};
    for (const {id, urls, hosts, partitions} of made) {
      writes[`segments/${id}/fetchlist`] = result.files.filter((file) => file.facts?.segment === id);
      segments[id] = {
        state: 'generated',
        urls,
        hosts,
        partitions,
        generated_time: new Date(plan.now).toISOString(),
      };
    }
    return {edit: {reads: ['open'], writes, segments, opens: made.length > 0}};
  },
});

interface MadeSegment {
  readonly id: string;
  readonly urls: number;
  readonly hosts: number;
  readonly partitions: number;
}

/** Segments that lock their URLs: not applied, and not so old that they count no more. */
function openSegments(snapshot: Snapshot, now: number, lapseMs: number): string[] {
  return snapshot.segments.filter((id) => {
    const {applied, generated_time} = snapshot.segment(id);
    return applied === undefined && Date.parse(generated_time) + lapseMs > now;
  });
}

/** The condition of --where as it goes into the query: one expression, not a further statement. */
function condition(where: string | undefined): string {
  if (where === undefined || where.trim() === '') return 'true';
  if (where.includes(';'))
    throw new CrawlError('USAGE', '--where takes one SQL condition, without semicolon');
  return where;
}

/** Over `due_row` makes `wanted`, `locked` and `host`; returns the parameters of `due`. */
async function prepare(
  db: Database,
  params: GenerateParams,
): Promise<{due: Date; new_cap: number; budget: number}> {
  const {windowMs, maxPerHost, budget} = params;
  await db.run(`CREATE VIEW wanted AS SELECT * FROM due_row WHERE (${params.where}\n)`);
  await db.run(`CREATE TABLE locked AS ${sql.locked}`);
  await db.run(`CREATE TABLE host AS ${sql.host}`, {
    now: new Date(params.now),
    rest_ms: Math.max(windowMs, shortRestMs),
    min_delay_ms: params.minDelayMs,
    max_crawl_delay_ms: params.maxCrawlDelayMs,
    window_ms: windowMs,
    max_per_host: maxPerHost,
    budget,
  });
  const fits = Math.max(1, Math.floor(windowMs / Math.max(1, params.minDelayMs)));
  return {due: new Date(params.due), new_cap: windowMs > 0 ? Math.min(maxPerHost, fits) : maxPerHost, budget};
}

/** URLs that are looked at first to find whether there is one to select; then four times as many, and so on. */
const firstLook = 10_000;
const deeper = 4;

/** Null where something can be selected; else how many due URLs their hosts keep back. Reads no more than it must. */
async function whyNothing(
  db: Database,
  inputs: readonly FileRef[],
  params: GenerateParams,
): Promise<Record<string, number> | null> {
  const candidates = readCandidates(db, inputs, {due: params.due});
  await candidates.deepen(firstLook);
  const due = await prepare(db, params);
  const some = `SELECT 1 FROM (${sql.due}) WHERE reason IS NULL AND coalesce(budget_left, 1) > 0 LIMIT 1`;
  for (let want = firstLook * deeper; ; want *= deeper) {
    if ((await db.all(some, due)).length > 0) return null;
    if (candidates.complete) break;
    await candidates.deepen(want);
  }
  const left = await db.all<{reason: string; n: number}>(
    `SELECT coalesce(reason, 'budget') AS reason, count(*) AS n FROM (${sql.due}) GROUP BY ALL ORDER BY ALL`,
    due,
  );
  return Object.fromEntries(left.map(({reason, n}) => [reason, n]));
}

async function select(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as GenerateParams; // made by plan
  const db = await openTaskDatabase(task, ctx, params.database, read);
  try {
    const candidates = readCandidates(db, task.inputs, {due: params.due});
    const {scope, url, links} = params.scope;
    const wanted = makeScope(scope, url, links, params.texts.scopeFiles);
    const places = params.topN * params.segments.length;
    await candidates.deepen(places);
    const due = await prepare(db, params);
    for (let want = places * deeper; ; want *= deeper) {
      await db.run(`CREATE OR REPLACE TABLE due AS ${sql.due}`, due);
      do await pick(db, params);
      while ((await refuseOutOfScope(db, wanted, sql)) > 0);
      if (candidates.complete || (await picked(db)) === places) break;
      await candidates.deepen(want);
    }
    const held = await rowsTable(db, 'held', {segment: {type: 'text'}});
    await held.insert(params.held.map((segment) => ({segment})));
    await db.run(`CREATE TABLE chosen AS ${sql.chosen}`);
    const made: MadeSegment[] = [];
    const files: FileRef[] = [];
    for (const [part, id] of params.segments.entries()) {
      const written = await writeSegment(db, ctx, part, id, params.partitions);
      if (written === null) continue;
      made.push(written.made);
      files.push(...written.files);
    }
    return {files, ...(await report(db, made)), facts: {segments: made}};
  } finally {
    await db.close();
  }
}

/** Makes `picked`: the best of what is due and allowed. */
async function pick(db: Database, {segments, topN}: GenerateParams): Promise<void> {
  await db.run(`CREATE OR REPLACE TABLE candidate AS ${sql.candidate}`);
  await db.run(
    'CREATE OR REPLACE TABLE picked (part INTEGER, rank INTEGER, host_key UBIGINT, url_key UBIGINT)',
  );
  for (const part of segments.keys()) await db.run(`INSERT INTO picked ${sql.pick}`, {part, top_n: topN});
}

async function picked(db: Database): Promise<number> {
  const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM picked');
  return count?.n ?? 0;
}

/** Writes one fetchlist, a file for each partition. */
async function writeSegment(
  db: Database,
  ctx: TaskContext,
  part: number,
  id: string,
  partitions: number,
): Promise<{made: MadeSegment; files: FileRef[]} | null> {
  const domains = await db.all<{domain: string; urls: number; hosts: number}>(
    `SELECT url_host_registered_domain AS domain, count(*) AS urls, count(DISTINCT host_key) AS hosts
     FROM chosen WHERE part = $part GROUP BY ALL ORDER BY domain`,
    {part},
  );
  if (domains.length === 0) return null;
  const placed = balanceDomains(domains, Math.min(partitions, domains.length));
  const name = `partition_${part}`;
  const table = await rowsTable(db, name, {domain: {type: 'text'}, partition: {type: 'int32'}});
  await table.insert([...placed].map(([domain, partition]) => ({domain, partition})));
  const count = new Set(placed.values()).size;
  const files: FileRef[] = [];
  for (let partition = 0; partition < count; partition++)
    files.push(
      await db.copy(
        `SELECT $id AS segment, p.partition, c.* EXCLUDE (part)
         FROM chosen c JOIN ${name} p ON p.domain = c.url_host_registered_domain
         WHERE c.part = $part AND p.partition = $partition ORDER BY rank`,
        {id, part, partition},
        await ctx.store.create(fetchlist, `segments/${id}/fetchlist`),
        {facts: {segment: id, partition}},
      ),
    );
  const sum = (column: 'urls' | 'hosts') => domains.reduce((total, row) => total + row[column], 0);
  return {made: {id, urls: sum('urls'), hosts: sum('hosts'), partitions: count}, files};
}

/** What was selected, and what was due and left out, by reason. */
async function report(
  db: Database,
  made: readonly MadeSegment[],
): Promise<Pick<TaskResult, 'counters' | 'reasons'>> {
  const due = await db.all<{reason: Reason | null; n: number}>(
    'SELECT reason, count(*) AS n FROM due GROUP BY ALL ORDER BY ALL',
  );
  const [candidates] = await db.all<{n: number}>('SELECT count(*) AS n FROM candidate');
  const [hosts] = await db.all<{n: number}>('SELECT count(DISTINCT host_key) AS n FROM picked');
  const [limited] = await db.all<{n: number}>(sql.limited, {parts: made.length});
  const reasons: Partial<Record<Reason, number>> = {};
  const charge = (reason: Reason, n: number) => {
    if (n > 0) reasons[reason] = (reasons[reason] ?? 0) + n;
  };
  for (const {reason, n} of due) if (reason !== null) charge(reason, n);
  const allowed = due.find(({reason}) => reason === null)?.n ?? 0;
  charge('budget', allowed - (candidates?.n ?? 0));
  charge('host_limit', limited?.n ?? 0);
  const total = due.reduce((sum, {n}) => sum + n, 0);
  const selected = made.reduce((sum, {urls}) => sum + urls, 0);
  return {
    counters: {
      urls_due_total: total,
      urls_selected_total: selected,
      hosts_selected_total: hosts?.n ?? 0,
      urls_left_total: total - selected,
    },
    reasons,
  };
}
