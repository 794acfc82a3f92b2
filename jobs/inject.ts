import type {Config} from '../lib/config/settings.ts';
import type {Counters} from '../lib/counters.ts';
import {neverDue} from '../lib/crawldb/row.ts';
import {CrawlError} from '../lib/errors.ts';
import type {Reason} from '../lib/schema/reason.ts';
import {seeds} from '../lib/schema/seeds.ts';
import {makeScope, type Scope} from '../lib/scope/scope.ts';
import {parseSeedLine} from '../lib/seeds/line.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {identify} from '../lib/url/keys.ts';
import {normalizeUrl, type UrlPolicy, urlPolicy} from '../lib/url/normalize.ts';
import {type PolicyTexts, readPolicyTexts} from './config/policy-texts.ts';
import {heldPolicy} from './config/url-policy.ts';
import {
  compactBuckets,
  compactionEdit,
  countFiles,
  countsOf,
  countTables,
  crawldbNext,
  type DatabaseParams,
  databaseParams,
  filesOf,
  isCompaction,
  nextRevision,
  openTaskDatabase,
  rowsTable,
  writeDelta,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';
import {type SeedSource, seedLines, seedSources} from './seeds/lines.ts';

const sql = readSql(import.meta.url, './inject.sql', ['decide', 'delta', 'seeds']);

interface InjectParams {
  readonly sources: readonly SeedSource[];
  readonly mode: 'keep' | 'update' | 'overwrite';
  readonly texts: PolicyTexts;
  readonly config: Pick<Config, 'url' | 'scope' | 'links'>;
  readonly score: number;
  readonly intervalS: number;
  readonly now: number;
  readonly revision: number;
  readonly database: DatabaseParams;
}

/**
 * Seeds into the crawldb (Nutch: Injector). Every line that says something becomes a row of `seeds`, with what was
 * made of it; a known URL stays as it is unless asked otherwise, so that injecting again changes nothing.
 */
export const inject = defineJob({
  name: 'inject',
  summary: 'Add seed URLs to the crawldb.',
  options: {
    files: {
      kind: 'list',
      default: [],
      doc: 'Seed lists, plain or gzip: a URL a line, then tab and key=value pairs; `-` is standard input.',
    },
    urls: {kind: 'list', default: [], doc: 'Seed URLs.'},
    update: {kind: 'flag', default: false, doc: 'Put score, interval, tag and metadata onto known URLs.'},
    overwrite: {kind: 'flag', default: false, doc: 'Replace known URLs: their history is forgotten.'},
  },
  locks: () => ['crawldb'],

  async plan(options, effects) {
    const {snapshot, config} = effects;
    if (options.update && options.overwrite)
      throw new CrawlError('USAGE', '--update and --overwrite exclude each other');
    const sources = await seedSources(options.files, options.urls, effects.stdin);
    if (sources.length === 0)
      throw new CrawlError('USAGE', 'nothing to inject: name files or URLs, or - for standard input');
    const texts = await readPolicyTexts(config, effects.store.dir);
    const policy = heldPolicy(snapshot, urlPolicy(config.url, texts.urlRules));
    const crawldb = await snapshot.files('crawldb');
    const params: InjectParams = {
      sources,
      mode: options.overwrite ? 'overwrite' : options.update ? 'update' : 'keep',
      texts,
      config: {url: config.url, scope: config.scope, links: config.links},
      score: config.score.injected,
      intervalS: Math.max(1, Math.round(config.schedule.interval / 1000)),
      now: effects.now(),
      revision: nextRevision(snapshot),
      database: databaseParams(config),
    };
    return {
      base: snapshot.manifest.number,
      now: params.now,
      tasks: [
        {
          stage: 0,
          part: 0,
          inputs: [...crawldb, ...(await countFiles(snapshot))],
          params: {...params},
        },
      ],
      facts: {crawldb, policy, database: params.database},
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : injectLines(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const result = results[0];
    const delta = filesOf(result, 'crawldb');
    const common = {
      appends: {seeds: filesOf(result, 'seeds')},
      policies: {url: plan.facts?.policy as string},
    };
    if (delta.every((file) => file.rows === 0)) return {edit: {...common, reads: ['crawldb'], writes: {}}};
    const edit = {
      ...common,
      reads: ['crawldb', 'hoststats', 'seedstats'],
      writes: countsOf(result),
      summary: result?.facts?.summary as Record<string, number>,
    };
    const before = plan.facts?.crawldb as readonly FileRef[];
    return crawldbNext(plan, stage, before, delta, edit, plan.facts?.database as DatabaseParams);
  },
});

const lineColumns = {
  n: {type: 'count'},
  source: {type: 'text'},
  line: {type: 'int32'},
  text: {type: 'text'},
  url: {type: 'text'},
  host_key: {type: 'key'},
  url_key: {type: 'key'},
  url_host_name: {type: 'text'},
  url_host_registered_domain: {type: 'text'},
  tag: {type: 'text'},
  seed_group: {type: 'text'},
  score: {type: 'double'},
  interval_s: {type: 'int32'},
  fixed: {type: 'boolean'},
  scope: {type: 'text'},
  metadata: {type: 'text'},
  reason: {type: 'text'},
  detail: {type: 'text'},
} as const;

/** Rejected lines that the report names one by one. */
const maxTold = 100;
/** Characters of such a line: chosen, two screen lines. The table seeds keeps more. */
const maxToldText = 200;

async function injectLines(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as InjectParams; // made by plan
  const now = new Date(params.now);
  const db = await openTaskDatabase(task, ctx, params.database, ['crawldb', ...countTables]);
  try {
    const read = await loadLines(db, ctx, params);
    const {mode, score, intervalS} = params;
    await db.run(sql.decide, {mode});
    await db.run(sql.delta, {mode, score, interval_s: intervalS, now, never: neverDue});
    const seedRows = await ctx.store.create(seeds, 'crawldb/seeds');
    const lines = await db.copy(`${sql.seeds} ORDER BY run, source, line`, {run: ctx.run, now}, seedRows);
    const {files, summary} = await writeDelta(db, ctx, params.revision);
    const outcomes = await db.all<{outcome: string; reason: Reason | null; n: number}>(
      `SELECT outcome, reason, count(*) AS n FROM (${sql.seeds}) GROUP BY ALL ORDER BY ALL`,
      {run: ctx.run, now},
    );
    const rejected = await db.all(
      `SELECT source, line, if(length(text) > ${maxToldText}, left(text, ${maxToldText}) || '…', text) AS text,
         reason, detail
       FROM (${sql.seeds}) WHERE outcome = 'rejected' ORDER BY source, line LIMIT ${maxTold}`,
      {run: ctx.run, now},
    );
    for (const line of rejected) ctx.log('warn', 'seed_rejected', line);
    return {files: [lines, ...files], ...count(outcomes, read), facts: {summary, rejected}};
  } finally {
    await db.close();
  }
}

function count(
  outcomes: readonly {outcome: string; reason: Reason | null; n: number}[],
  read: number,
): Pick<TaskResult, 'counters' | 'reasons'> {
  const sum = (outcome: string) =>
    outcomes.reduce((total, row) => total + (row.outcome === outcome ? row.n : 0), 0);
  const counters: Counters = {
    seeds_read_total: read,
    seeds_added_total: sum('added'),
    seeds_updated_total: sum('updated'),
    seeds_known_total: sum('known'),
    seeds_rejected_total: sum('rejected'),
  };
  const reasons: Partial<Record<Reason, number>> = {};
  for (const {reason, n} of outcomes) if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + n;
  return {counters, reasons};
}

/** Puts the lines that say something into the table `line`; their number. Memory: one batch. */
async function loadLines(db: Database, ctx: TaskContext, params: InjectParams): Promise<number> {
  const {config, texts} = params;
  const policy = urlPolicy(config.url, texts.urlRules);
  const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
  const table = await rowsTable(db, 'line', lineColumns);
  let rows: Record<string, unknown>[] = [];
  let n = 0;
  for (const source of params.sources)
    for await (const {line, text} of seedLines(source)) {
      const row = readLine(text, policy, scope);
      if (row === null) continue;
      rows.push({n: n++, source: source.name, line, text: text.slice(0, maxText), ...row});
      if (rows.length < 5000) continue;
      ctx.signal.throwIfAborted();
      await table.insert(rows);
      ctx.progress({done: n, unit: 'lines'});
      rows = [];
    }
  await table.insert(rows);
  return n;
}
/** Longest text of a line that is kept; a binary file given by mistake has lines without end. */
const maxText = 8192;

/** The columns that a line gives; null where it says nothing. */
export function readLine(text: string, policy: UrlPolicy, scope: Scope): Record<string, unknown> | null {
  const parsed = parseSeedLine(text);
  if (parsed === null) return null;
  if ('malformed' in parsed) return {fixed: false, reason: 'seed_malformed', detail: parsed.malformed};
  const {seed} = parsed;
  const given = {
    tag: seed.tag,
    seed_group: seed.group,
    score: seed.score,
    interval_s: seed.interval_s,
    fixed: seed.fixed,
    scope: seed.scope,
    metadata: seed.metadata === null ? null : JSON.stringify(seed.metadata),
  };
  const normalized = normalizeUrl(seed.url, policy);
  if ('reason' in normalized) return {...given, reason: normalized.reason, detail: normalized.detail};
  const identity = identify(normalized.url);
  const verdict = scope.check({url: normalized.url, depth: 0, hopType: 'I', seed: normalized.url});
  if (verdict.accepted) return {...given, ...identity};
  return {...given, ...identity, reason: verdict.reason, detail: verdict.rule ?? null};
}
