import type {Config} from '../lib/config/settings.ts';
import {newSegmentIds} from '../lib/crawldb/segment-id.ts';
import {CrawlError} from '../lib/errors.ts';
import type {Reason} from '../lib/schema/reason.ts';
import {makeScope} from '../lib/scope/scope.ts';
import {parseSeedLine} from '../lib/seeds/line.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {identify} from '../lib/url/keys.ts';
import {normalizeUrl, urlPolicy} from '../lib/url/normalize.ts';
import {type PolicyTexts, readPolicyTexts} from './config/policy-texts.ts';
import {heldPolicy} from './config/url-policy.ts';
import {type DatabaseParams, databaseParams, openTaskDatabase, rowsTable} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';
import {type SeedSource, seedLines, seedSources} from './seeds/lines.ts';
import {openSegments} from './selection/open.ts';
import {hostPolicy, type selectionOptions, selectionRules} from './selection/rules.ts';
import {prepareSelection, type SelectionInput, selectionTables} from './selection/steps.ts';
import {
  type FetchLimits,
  fetchLimits,
  forecastOf,
  type MadeSegment,
  writeFetchlist,
} from './selection/write.ts';

const sql = readSql(import.meta.url, './freegen.sql', ['judged', 'chosen']);

interface FreegenParams extends SelectionInput {
  readonly sources: readonly SeedSource[];
  readonly filter: boolean;
  readonly partitions: number;
  readonly segment: string;
  readonly held: readonly string[];
  readonly limits: FetchLimits;
  readonly score: number;
  readonly scope: Pick<Config, 'scope' | 'url' | 'links'>;
  readonly texts: PolicyTexts;
  readonly database: DatabaseParams;
}

/** The rules of a selection that nobody asked for anything. */
const noOptions = {
  topN: undefined,
  maxPerHost: undefined,
  maxPerDomain: undefined,
  maxPerSeed: undefined,
  order: undefined,
  refetchShare: undefined,
  share: {},
  where: undefined,
  addDays: 0,
  force: true,
  window: undefined,
} satisfies Record<keyof typeof selectionOptions, unknown>;

/**
 * A segment straight from a list of URLs (Nutch: FreeGenerator): in their order, without caps, due or not, known or
 * not. What they lead to comes into the crawldb with updatedb. Memory: the lines of standard input or of a query.
 */
export const freegen = defineJob({
  name: 'freegen',
  summary: 'Make a segment straight from a list of URLs.',
  options: {
    files: {kind: 'list', default: [], doc: 'Lists, plain or gzip: a URL a line; `-` is standard input.'},
    urls: {kind: 'list', default: [], doc: 'URLs.'},
    filter: {kind: 'flag', default: true, doc: 'Take URLs that the scope refuses, too.'},
    partitions: {
      kind: 'count',
      min: 1,
      max: 1000,
      doc: 'Fetch tasks of the segment; generate.partitions if absent.',
    },
    concurrent: {kind: 'flag', default: false, doc: 'Also while a fetch is running.'},
  },
  locks: (options) => (options.concurrent ? [] : ['fetching']),

  async plan(options, effects) {
    const {snapshot, config, store} = effects;
    const now = effects.now();
    const sources = await seedSources(options.files, options.urls, effects.stdin);
    if (sources.length === 0)
      throw new CrawlError('USAGE', 'no URLs: name files or URLs, - for standard input, or --sql');
    const texts = await readPolicyTexts(config, store.dir);
    heldPolicy(snapshot, urlPolicy(config.url, texts.urlRules));
    const inputs: FileRef[] = [];
    for (const name of selectionTables)
      if (name !== 'fetchlist') inputs.push(...(await snapshot.files(name)));
    for (const id of openSegments(snapshot, now, config.generate.lapse))
      inputs.push(...(await snapshot.files(`segments/${id}/fetchlist`)));
    const [segment = ''] = newSegmentIds(snapshot.segments, now, 1);
    const params: FreegenParams = {
      now,
      sources,
      filter: options.filter,
      partitions: options.partitions ?? config.generate.partitions,
      segment,
      held: snapshot.segments.filter((id) => snapshot.manifest.slots[`segments/${id}/content`] !== undefined),
      rules: selectionRules(noOptions, config, now),
      hosts: hostPolicy(config),
      weights: {},
      limits: fetchLimits(config),
      score: config.score.injected,
      scope: {scope: config.scope, url: config.url, links: config.links},
      texts,
      database: databaseParams(config),
    };
    return {
      base: snapshot.manifest.number,
      now,
      segment,
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
    };
  },

  run: (task, ctx) => list(task, ctx),

  next(plan, _stage, [result]) {
    const [made] = (result?.facts?.segments ?? []) as readonly MadeSegment[];
    if (made === undefined) return {edit: {reads: [], writes: {}}};
    const {id, urls, hosts, partitions} = made;
    const generated_time = new Date(plan.now).toISOString();
    return {
      edit: {
        reads: ['open'],
        writes: {[`segments/${id}/fetchlist`]: result?.files ?? []},
        segments: {[id]: {state: 'generated', urls, hosts, partitions, generated_time}},
        opens: true,
      },
    };
  },
});

async function list(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as FreegenParams; // made by plan
  const db = await openTaskDatabase(task, ctx, params.database, selectionTables);
  try {
    const read = await loadLines(db, ctx, params);
    const {newHost} = await prepareSelection(
      db,
      params,
      '(SELECT * FROM crawldb WHERE false)',
      'SELECT host_key, url_host_name FROM line WHERE reason IS NULL',
    );
    await db.run(`CREATE TABLE judged AS ${sql.judged}`);
    const held = await rowsTable(db, 'held', {segment: {type: 'text'}});
    await held.insert(params.held.map((segment) => ({segment})));
    await db.run(`CREATE TABLE chosen AS ${sql.chosen}`, {score: params.score});
    const written = await writeFetchlist(db, ctx, 0, params.segment, params.partitions);
    const reasons = await db.all<{reason: Reason; n: number}>(`
      SELECT reason, count(*) AS n FROM (
        SELECT reason FROM line WHERE reason IS NOT NULL
        UNION ALL SELECT reason FROM judged WHERE reason IS NOT NULL
      ) GROUP BY ALL ORDER BY ALL`);
    const made =
      written === null ? [] : [{...written.made, forecast: await forecastOf(db, 0, newHost, params.limits)}];
    return {
      files: written?.files ?? [],
      counters: {
        urls_due_total: read,
        urls_selected_total: written?.made.urls ?? 0,
        hosts_selected_total: written?.made.hosts ?? 0,
        urls_left_total: read - (written?.made.urls ?? 0),
      },
      reasons: Object.fromEntries(reasons.map(({reason, n}) => [reason, n])),
      facts: {segments: made},
    };
  } finally {
    await db.close();
  }
}

const lineColumns = {
  n: {type: 'count'},
  url: {type: 'text'},
  host_key: {type: 'key'},
  url_key: {type: 'key'},
  url_host_name: {type: 'text'},
  url_host_registered_domain: {type: 'text'},
  score: {type: 'double'},
  reason: {type: 'text'},
} as const;
const batchLines = 5000;

/** Puts the lines that say something into the table `line`; their number. */
async function loadLines(db: Database, ctx: TaskContext, params: FreegenParams): Promise<number> {
  const {texts, filter} = params;
  const {url, scope, links} = params.scope;
  const policy = urlPolicy(url, texts.urlRules);
  const judge = makeScope(scope, url, links, texts.scopeFiles);
  const table = await rowsTable(db, 'line', lineColumns);
  let rows: Record<string, unknown>[] = [];
  let n = 0;
  const flush = async () => {
    ctx.signal.throwIfAborted();
    await table.insert(rows);
    rows = [];
  };
  for (const source of params.sources)
    for await (const {line, text} of seedLines(source)) {
      const parsed = parseSeedLine(text);
      if (parsed === null) continue;
      n++;
      const refuse = (reason: Reason, detail: string) => {
        ctx.log('warn', 'url_refused', {source: source.name, line, reason, detail});
        rows.push({n, reason});
      };
      if ('malformed' in parsed) refuse('seed_malformed', parsed.malformed);
      else {
        const normal = normalizeUrl(parsed.seed.url, policy);
        if ('reason' in normal) refuse(normal.reason, normal.detail);
        else {
          const verdict = judge.check({url: normal.url, depth: 0, hopType: 'I', seed: normal.url});
          if (filter && !verdict.accepted) rows.push({n, reason: verdict.reason});
          else rows.push({n, ...identify(normal.url), score: parsed.seed.score});
        }
      }
      if (rows.length >= batchLines) await flush();
    }
  await flush();
  return n;
}
