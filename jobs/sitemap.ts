import type {Config} from '../lib/config/settings.ts';
import type {Counters} from '../lib/counters.ts';
import {CrawlError} from '../lib/errors.ts';
import type {Reason} from '../lib/schema/reason.ts';
import {makeScope, type Scope} from '../lib/scope/scope.ts';
import {maxSitemaps, wellKnownSitemaps} from '../lib/sitemap/walk.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {hostOf} from '../lib/url/host.ts';
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

const sql = readSql(import.meta.url, './sitemap.sql', ['lineage', 'origins', 'decide', 'delta', 'outcomes']);

interface SitemapParams {
  readonly urls: readonly string[];
  /** Host names; empty for all. */
  readonly hosts: readonly string[];
  readonly fromRobots: boolean;
  readonly wellKnown: boolean;
  readonly texts: PolicyTexts;
  readonly config: Pick<Config, 'url' | 'scope' | 'links'>;
  readonly score: number;
  readonly intervalS: number;
  readonly now: number;
  readonly revision: number;
  readonly database: DatabaseParams;
}

/**
 * Sitemaps into the crawldb: those that a person names, or those of the robots.txt files that the crawl holds. From
 * then on they are fetched, parsed and seen again as pages are; what they list comes through parse and updatedb.
 * Known ones stay as they are, so that doing it again changes nothing.
 */
export const sitemap = defineJob({
  name: 'sitemap',
  summary: 'Add sitemaps: by hand, or those that robots.txt files name.',
  options: {
    urls: {kind: 'list', default: [], doc: 'URLs of sitemaps.'},
    hosts: {
      kind: 'list',
      default: [],
      doc: 'Hosts whose robots.txt is looked at; all without URLs and hosts.',
    },
    wellKnown: {
      kind: 'flag',
      default: false,
      doc: 'Where robots.txt names none, try /sitemap.xml and /sitemap_index.xml.',
    },
  },
  locks: () => ['crawldb'],

  async plan(options, effects) {
    const {snapshot, config} = effects;
    const texts = await readPolicyTexts(config, effects.store.dir);
    const policy = heldPolicy(snapshot, urlPolicy(config.url, texts.urlRules));
    const fromRobots = options.urls.length === 0 || options.hosts.length > 0;
    const robots = fromRobots ? await snapshot.files('robots') : [];
    if (options.urls.length === 0 && robots.length === 0) {
      if (options.hosts.length > 0)
        throw new CrawlError('USAGE', 'the crawl holds no robots.txt yet', {
          hint: 'Fetch a page of the host first, or give the URL of its sitemap.',
        });
      effects.log('info', 'no_robots_yet');
      return undefined;
    }
    const crawldb = await snapshot.files('crawldb');
    const params: SitemapParams = {
      urls: options.urls,
      hosts: options.hosts.map((host) => host.toLowerCase()),
      fromRobots,
      wellKnown: options.wellKnown,
      texts,
      config: {url: config.url, scope: config.scope, links: config.links},
      score: config.score.injected,
      intervalS: Math.max(1, Math.round(config.schedule.interval / 1000)),
      now: effects.now(),
      revision: nextRevision(snapshot),
      database: databaseParams(config),
    };
    const others = [...(await countFiles(snapshot)), ...(await snapshot.files('seeds'))];
    return {
      base: snapshot.manifest.number,
      now: params.now,
      tasks: [{stage: 0, part: 0, inputs: [...crawldb, ...robots, ...others], params: {...params}}],
      facts: {crawldb, policy, database: params.database},
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : addSitemaps(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const result = results[0];
    const delta = filesOf(result, 'crawldb');
    const policies = {url: plan.facts?.policy as string};
    if (delta.every((file) => file.rows === 0)) return {edit: {reads: ['crawldb'], writes: {}, policies}};
    const edit = {
      reads: ['crawldb', 'hoststats', 'seedstats'],
      writes: countsOf(result),
      policies,
      summary: result?.facts?.summary as Record<string, number>,
    };
    const before = plan.facts?.crawldb as readonly FileRef[];
    return crawldbNext(plan, stage, before, delta, edit, plan.facts?.database as DatabaseParams);
  },
});

/** Rejected sitemaps that the report names one by one. */
const maxTold = 100;

async function addSitemaps(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as SitemapParams; // made by plan
  const now = new Date(params.now);
  const db = await openTaskDatabase(task, ctx, params.database, [
    'crawldb',
    ...countTables,
    'robots',
    'seeds',
  ]);
  try {
    await find(db, ctx, params);
    await db.run(sql.decide, {most: maxSitemaps});
    await db.run(sql.delta, {now, interval_s: params.intervalS});
    const {files, summary} = await writeDelta(db, ctx, params.revision);
    const rejected = await db.all(
      `SELECT text, reason, detail, discovered_from, by_hand FROM (${sql.outcomes})
       WHERE reason IS NOT NULL ORDER BY n LIMIT ${maxTold}`,
    );
    for (const {by_hand, ...line} of rejected) ctx.log(by_hand ? 'warn' : 'info', 'sitemap_rejected', line);
    return {files, ...(await count(db)), facts: {summary, rejected}};
  } finally {
    await db.close();
  }
}

async function count(db: Database): Promise<Pick<TaskResult, 'counters' | 'reasons'>> {
  const outcomes = await db.all<{outcome: string; reason: Reason | null; n: number}>(
    `SELECT outcome, reason, count(*) AS n FROM (${sql.outcomes}) GROUP BY ALL ORDER BY ALL`,
  );
  const sum = (wanted: (row: (typeof outcomes)[number]) => boolean) =>
    outcomes.reduce((total, row) => total + (wanted(row) ? row.n : 0), 0);
  const counters: Counters = {
    sitemaps_found_total: sum(() => true),
    sitemaps_added_total: sum(({outcome}) => outcome === 'added' || outcome === 'updated'),
    sitemaps_known_total: sum(({outcome}) => outcome === 'known'),
    sitemaps_rejected_total: sum(({reason}) => reason !== null),
  };
  const reasons: Partial<Record<Reason, number>> = {};
  for (const {reason, n} of outcomes) if (reason !== null) reasons[reason] = (reasons[reason] ?? 0) + n;
  return {counters, reasons};
}

const foundColumns = {
  n: {type: 'count'},
  text: {type: 'text'},
  by_hand: {type: 'boolean'},
  own: {type: 'boolean'},
  host_key: {type: 'key'},
  url_key: {type: 'key'},
  url: {type: 'text'},
  url_host_name: {type: 'text'},
  url_host_registered_domain: {type: 'text'},
  score: {type: 'double'},
  depth: {type: 'int32'},
  seed: {type: 'text'},
  tag: {type: 'text'},
  hop_type: {type: 'text'},
  discovered_from: {type: 'text'},
  reason: {type: 'text'},
  detail: {type: 'text'},
} as const;

/** An origin whose robots.txt is held, and how its host is reached. */
interface Origin {
  readonly origin: string;
  readonly sitemaps: string | null;
  readonly depth: number;
  readonly score: number;
  readonly seed: string | null;
  readonly tag: string | null;
}

/** Puts what is found into the table `found`. Memory: one batch. */
async function find(db: Database, ctx: TaskContext, params: SitemapParams): Promise<void> {
  const {config, texts} = params;
  const policy = urlPolicy(config.url, texts.urlRules);
  const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
  const table = await rowsTable(db, 'found', foundColumns);
  let n = 0;
  const insert = (rows: readonly Record<string, unknown>[]) =>
    table.insert(rows.map((row) => ({n: n++, ...row})));
  await insert(params.urls.map((text) => givenRow(text, params.score, policy, scope)));
  if (!params.fromRobots) return;
  await db.run(sql.lineage);
  const hosts = new Set(params.hosts);
  const unheard = new Set(hosts);
  for await (const batch of db.stream(sql.origins)) {
    ctx.signal.throwIfAborted();
    const origins = batch as unknown as readonly Origin[]; // the columns of the query
    for (const {origin} of origins) unheard.delete(hostOf(origin));
    await insert(
      origins
        .filter(({origin}) => hosts.size === 0 || hosts.has(hostOf(origin)))
        .flatMap((origin) =>
          sitemapsOf(origin, params.wellKnown).map((text) => namedRow(text, origin, policy, scope)),
        ),
    );
  }
  for (const host of unheard) ctx.log('warn', 'host_without_robots', {host});
}

function sitemapsOf({origin, sitemaps}: Origin, wellKnown: boolean): readonly string[] {
  if (sitemaps !== null) return JSON.parse(sitemaps) as string[]; // written by fetch as such
  return wellKnown ? wellKnownSitemaps.map((path) => origin + path) : [];
}

/** A sitemap that a person names is a seed of its own. */
function givenRow(text: string, score: number, policy: UrlPolicy, scope: Scope): Record<string, unknown> {
  const facts = {text, by_hand: true, own: true, score, depth: 0, hop_type: 'I'};
  const normalized = normalizeUrl(text, policy);
  if ('reason' in normalized) return {...facts, reason: normalized.reason, detail: normalized.detail};
  const {url} = normalized;
  const verdict = scope.check({url, depth: 0, hopType: 'I', seed: url});
  const rejected = verdict.accepted ? {} : {reason: verdict.reason, detail: verdict.rule ?? null};
  return {...facts, ...identify(url), seed: url, ...rejected};
}

/**
 * A sitemap of a robots.txt belongs to the seed that its host was reached from. It is not held against that seed
 * itself, since it is no page: what it lists is.
 */
function namedRow(text: string, from: Origin, policy: UrlPolicy, scope: Scope): Record<string, unknown> {
  const {origin, depth, score, seed, tag} = from;
  const robotsUrl = `${origin}/robots.txt`;
  const facts = {text, by_hand: false, score, depth, seed, tag, hop_type: 'S', discovered_from: robotsUrl};
  const normalized = normalizeUrl(text, policy);
  if ('reason' in normalized)
    return {...facts, own: false, reason: normalized.reason, detail: normalized.detail};
  const {url} = normalized;
  const own = hostOf(url) === hostOf(origin);
  const verdict = scope.check({url, depth, hopType: 'S'});
  const rejected = verdict.accepted ? {} : {reason: verdict.reason, detail: verdict.rule ?? null};
  return {...facts, ...identify(url), own, ...rejected};
}
