import type {Config} from '../lib/config/settings.ts';
import {effectOf, reasonClass} from '../lib/crawldb/effect.ts';
import {newRow} from '../lib/crawldb/row.ts';
import {
  applyOutcomes,
  applyReparse,
  type Outcome,
  type ParseFacts,
  replayOutcomes,
  type TransitionPolicy,
} from '../lib/crawldb/transition.ts';
import {linkDirectives} from '../lib/robots/directives.ts';
import type {HostWaits} from '../lib/schedule/failure.ts';
import {scheduleOf} from '../lib/schedule/from-config.ts';
import {type CrawlDatum, crawldb} from '../lib/schema/crawldb.ts';
import type {Capture} from '../lib/schema/fetch.ts';
import type {ParseRow} from '../lib/schema/parse.ts';
import {type Reason, reasonFacts, reasonNames} from '../lib/schema/reason.ts';
import type {HopType} from '../lib/schema/status.ts';
import {makeScope, type Scope, type Stay} from '../lib/scope/scope.ts';
import {maxSitemapDepth, maxSitemaps} from '../lib/sitemap/walk.ts';
import type {Database} from '../lib/store/duckdb.ts';
import {identify} from '../lib/url/keys.ts';
import {type DatabaseParams, openTaskDatabase, rowsTable, writeDelta} from './crawldb-writer.ts';
import type {Task, TaskContext, TaskResult} from './job.ts';
import type {PolicyTexts} from './policy-texts.ts';
import {readSql} from './sql-file.ts';

/** How a segment takes part: see the header of updatedb.sql. */
export type SegmentMode = 'apply' | 'reparse' | 'history';

export interface UpdateParams {
  readonly segments: readonly {readonly segment: string; readonly mode: SegmentMode}[];
  readonly additions: boolean;
  readonly revision: number;
  readonly texts: PolicyTexts;
  readonly config: Pick<Config, 'url' | 'scope' | 'links' | 'schedule' | 'score' | 'dedup' | 'budget'> & {
    readonly waits: HostWaits;
  };
  readonly database: DatabaseParams;
}

const sql = readSql(import.meta.url, './updatedb.sql', [
  'outcomes',
  'late',
  'origins',
  'batch',
  'old_batch',
  'current',
  'reparsed',
  'reparsed_batch',
  'reparsed_rows',
  'affected',
  'doubtful',
  'links',
  'sources',
  'targets',
  'admit',
  'refusals',
  'earlier',
  'hinted',
  'counted',
  'totals',
]);
const dedupSql = readSql(import.meta.url, './dedup.sql', ['mark']);

/** URLs whose rows and outcomes are in memory at once. */
const batchUrls = 2000;

type Reasons = Partial<Record<Reason, number>>;

/** What all steps of the task work with. */
interface Update {
  readonly db: Database;
  readonly ctx: TaskContext;
  readonly params: UpdateParams;
  readonly policy: TransitionPolicy;
  readonly scope: Scope;
  readonly changed: {insert(rows: readonly CrawlDatum[]): Promise<void>};
  readonly reasons: Reasons;
}

/**
 * Merges segments into the crawldb. The few URLs that were fetched go through the state machine in TypeScript, in
 * batches; the many targets of links are handled by sets, on keys alone until they turn out to be new.
 */
export async function updateTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as UpdateParams; // made by plan
  const {config} = params;
  const db = await openTaskDatabase(task, ctx, params.database, [
    'crawldb',
    'fetch',
    'parse',
    'outlinks',
    'seeds',
    'hoststate',
    'hoststats',
  ]);
  try {
    const update: Update = {
      db,
      ctx,
      params,
      policy: {schedule: scheduleOf(config.schedule), config: config.schedule, waits: config.waits},
      scope: makeScope(config.scope, config.url, config.links, params.texts.scopeFiles),
      changed: await rowsTable(db, 'changed', crawldb.columns),
      reasons: {},
    };
    const segs = await rowsTable(db, 'segs', {segment: {type: 'text'}, mode: {type: 'text'}});
    await segs.insert(params.segments);
    await fold(update);
    await reparse(update);
    await markDuplicates(update);
    await followLinks(update);
    return await finish(update);
  } finally {
    await db.close();
  }
}

interface OutcomeRow
  extends Omit<Outcome, 'parse'>,
    Pick<Capture, 'host_key' | 'url_key' | 'url' | 'kind' | 'hop' | 'origin_url' | 'depth' | 'seed'> {
  readonly n: number;
  readonly late: boolean;
  readonly parse_status: ParseRow['status'] | null;
  readonly parse_reason: Reason | null;
  readonly signature: Uint8Array | null;
  readonly text_signature: Uint8Array | null;
  readonly simhash: bigint | null;
  readonly canonical_url: string | null;
  readonly origin_score: number | null;
  readonly seed_tag: string | null;
  readonly seed_scope: Stay | null;
  readonly mode: SegmentMode;
}
type NumberedRow = CrawlDatum & {readonly n: number};

const redirectColumns = {
  to_host_key: {type: 'key'},
  to_url_key: {type: 'key'},
  to_url: {type: 'text'},
  to_host_name: {type: 'text'},
  to_registered_domain: {type: 'text'},
  from_host_key: {type: 'key'},
  from_url_key: {type: 'key'},
  from_url: {type: 'text'},
  fetch_time: {type: 'timestamp'},
  depth: {type: 'int32'},
  seed: {type: 'text'},
} as const;

/** Outcomes through the state machine, and the targets of redirects. */
async function fold(update: Update): Promise<void> {
  const {db, ctx, params} = update;
  await db.run(sql.outcomes);
  if (params.segments.some(({mode}) => mode === 'history')) await db.run(sql.late);
  await db.run(sql.origins);
  const redirects = await rowsTable(db, 'redirect', redirectColumns);
  const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM visited_key');
  const total = count?.n ?? 0;
  for (let first = 0; first < total; first += batchUrls) {
    const range = {first, last: first + batchUrls - 1};
    const known = new Map(
      (await db.all<NumberedRow>(sql.old_batch, range)).map(({n, ...row}): [number, CrawlDatum] => [n, row]),
    );
    const outcomes = groupByNumber(
      await db.all<OutcomeRow & Readonly<Record<string, unknown>>>(sql.batch, range),
    );
    const rows: CrawlDatum[] = [];
    for (const [n, list] of outcomes) {
      const row = foldOne(update, known.get(n), list);
      if (row !== null) rows.push(row);
    }
    await update.changed.insert(rows);
    await redirects.insert([...outcomes.values()].flat().flatMap((outcome) => redirectOf(update, outcome)));
    ctx.progress({done: Math.min(first + batchUrls, total), total, unit: 'URLs'});
  }
  await db.run(sql.current);
}

function groupByNumber(rows: readonly OutcomeRow[]): Map<number, OutcomeRow[]> {
  const groups = new Map<number, OutcomeRow[]>();
  for (const row of rows) {
    const group = groups.get(row.n);
    if (group === undefined) groups.set(row.n, [row]);
    else group.push(row);
  }
  return groups;
}

/** The row after all outcomes of a URL, or null where nothing changes. */
function foldOne(
  update: Update,
  known: CrawlDatum | undefined,
  rows: readonly OutcomeRow[],
): CrawlDatum | null {
  const first = rows[0]!;
  const url = known?.url ?? first.url;
  const own = rows.filter((row) => row.url === url);
  charge(update.reasons, 'key_clash', rows.length - own.length);
  const before = known ?? (update.params.additions ? discovered(update, first) : undefined);
  if (before === undefined) {
    charge(update.reasons, 'no_additions', 1);
    return null;
  }
  const outcomes = own.map(outcomeOf);
  const after = first.late
    ? replayOutcomes(before, outcomes, update.policy)
    : applyOutcomes(before, outcomes, update.policy);
  return after === before ? null : after;
}

/** The row of a URL that is met as an outcome first: the target of a redirect that the fetch followed. */
function discovered(update: Update, first: OutcomeRow): CrawlDatum {
  const hop = first.kind === 'hop';
  return newRow(
    identify(first.url),
    {
      score: first.origin_score ?? update.params.config.score.injected,
      depth: first.depth,
      seed: first.seed,
      tag: first.seed_tag,
      hopType: hop ? 'R' : 'L',
      time: first.fetch_time,
      from: hop ? first.origin_url : null,
      intervalS: update.policy.schedule.bounds.firstS,
    },
    update.params.revision,
  );
}

function outcomeOf(row: OutcomeRow): Outcome {
  const {parse_status} = row;
  return {...row, parse: parse_status === null ? null : parseFactsOf({...row, parse_status})};
}

type ParseColumns = Pick<
  OutcomeRow,
  'parse_reason' | 'signature' | 'text_signature' | 'simhash' | 'canonical_url'
> & {readonly parse_status: ParseRow['status']};

function parseFactsOf(row: ParseColumns): ParseFacts {
  const {signature, text_signature, simhash, canonical_url} = row;
  return {
    status: row.parse_status,
    reason: row.parse_reason,
    signature,
    text_signature,
    simhash,
    canonical_url,
  };
}

type ReparsedRow = ParseColumns & {readonly n: number; readonly segment: string};

/** The link that a redirect is, if the scope takes its target. */
function redirectOf(update: Update, row: OutcomeRow): Record<string, unknown>[] {
  const target = row.fetch_redirect;
  if (row.mode !== 'apply' || target === null || effectOf(row.status, row.reason) !== 'redirect') return [];
  if (reasonClass(row.reason) === 'refusal') return [];
  const verdict = update.scope.check({
    url: target,
    depth: row.depth,
    hopType: 'R',
    from: row.url,
    seed: row.seed,
    seedScope: row.seed_scope,
  });
  if (!verdict.accepted) {
    charge(update.reasons, 'redirect_out_of_scope', 1);
    return [];
  }
  const to = identify(target);
  return [
    {
      to_host_key: to.host_key,
      to_url_key: to.url_key,
      to_url: to.url,
      to_host_name: to.url_host_name,
      to_registered_domain: to.url_host_registered_domain,
      from_host_key: row.host_key,
      from_url_key: row.url_key,
      from_url: row.url,
      fetch_time: row.fetch_time,
      depth: row.depth,
      seed: row.seed,
    },
  ];
}

/** Segments applied before and parsed anew: their signatures take the place of the old. */
async function reparse({db, params}: Update): Promise<void> {
  if (!params.segments.some(({mode}) => mode === 'reparse')) return;
  await db.run(sql.reparsed);
  const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM reparsed');
  for (let first = 0; first < (count?.n ?? 0); first += batchUrls) {
    const range = {first, last: first + batchUrls - 1};
    const rows = new Map(
      (await db.all<NumberedRow>(sql.reparsed_rows, range)).map(({n, ...row}): [number, CrawlDatum] => [
        n,
        row,
      ]),
    );
    const after = (await db.all<ReparsedRow>(sql.reparsed_batch, range)).flatMap((parse) => {
      const row = rows.get(parse.n);
      return row === undefined ? [] : [applyReparse(row, parse.segment, parseFactsOf(parse))];
    });
    const table = await rowsTable(db, 'reparsed_row', crawldb.columns);
    await table.insert(after);
    await replaceChanged(db, 'reparsed_row');
    await db.run('DROP TABLE reparsed_row');
  }
}

/** Rows of a table take their place among the changed ones. */
async function replaceChanged(db: Database, table: string): Promise<void> {
  await db.run(`
    DELETE FROM changed USING ${table} t WHERE changed.host_key = t.host_key AND changed.url_key = t.url_key;
    INSERT INTO changed BY NAME SELECT * FROM ${table}`);
}

async function markDuplicates({db, params}: Update): Promise<void> {
  const {exact, group} = params.config.dedup;
  await db.run(exact ? sql.affected : 'CREATE TABLE affected (signature BLOB)');
  await db.run(dedupSql.mark, {place: group});
  await replaceChanged(db, 'dedup_row');
}

/** New URLs from accepted links and redirects. */
async function followLinks(update: Update): Promise<void> {
  const {db, params, scope, reasons} = update;
  const {budget, links, score} = params.config;
  const {bounds} = update.policy.schedule;
  await decideAnew(update);
  await db.run('CREATE TABLE today AS SELECT $digest AS digest', {digest: scope.digest});
  await db.run(sql.links);
  await db.run(sql.sources, {
    score: score.injected,
    decay: score.decay,
    follow_duplicates: links.duplicates,
  });
  await db.run(sql.targets);
  await db.run(sql.admit, {
    additions: params.additions,
    max_host: budget.max_urls_per_host ?? -1,
    max_domain: budget.max_urls_per_domain ?? -1,
    interval_s: bounds.firstS,
    max_sitemap_depth: maxSitemapDepth,
    max_sitemaps: maxSitemaps,
  });
  for (const {reason, n} of await db.all<{reason: Reason; n: number}>(sql.refusals))
    charge(reasons, reason, n);
  await db.run(sql.earlier, {max_sitemap_depth: maxSitemapDepth});
  await replaceChanged(db, 'earlier');
  await db.run(sql.hinted, {min_interval_s: bounds.minS});
  await replaceChanged(db, 'hinted');
}

/** Reasons that the scope gives; the others are about the page or the link itself and hold. */
const scopeReasons = reasonNames.filter((reason) => reasonFacts(reason).by === 'scope');

interface DoubtfulLink {
  readonly n: number;
  readonly to_url: string;
  readonly from_url: string;
  readonly depth: number;
  readonly seed: string | null;
  readonly hop_type: HopType;
  readonly kind: string;
  readonly rel: string | null;
  readonly page_nofollow: boolean;
  readonly seed_scope: Stay | null;
}

/** Links that other rules had decided get the verdict of today's. Memory: one batch. */
async function decideAnew({db, ctx, params, scope}: Update): Promise<void> {
  await db.run(sql.doubtful, {digest: scope.digest, scope_reasons: scopeReasons.join(',')});
  const verdicts = await rowsTable(db, 'verdict', {n: {type: 'count'}});
  const {follow, nofollow} = params.config.links;
  for await (const rows of db.stream(
    `SELECT n, to_url, from_url, depth, seed, hop_type, kind, rel, page_nofollow, seed_scope
     FROM doubtful ORDER BY from_url, n`,
  )) {
    ctx.signal.throwIfAborted();
    const accepted = (rows as unknown as DoubtfulLink[]) // the columns of the query
      .filter((link) => {
        const namesSitemap = link.kind === 'sitemap' && link.rel !== null;
        const verdict = scope.check({
          url: link.to_url,
          depth: link.depth,
          hopType: link.hop_type,
          from: link.from_url,
          seed: namesSitemap ? null : link.seed,
          seedScope: link.seed_scope,
        });
        if (!verdict.accepted) return false;
        if (link.hop_type === 'R') return true;
        if (link.hop_type !== 'E' && !follow.includes(link.kind)) return false;
        const asked = link.page_nofollow || (link.rel !== null && linkDirectives(link.rel).nofollow);
        return !(nofollow && asked);
      })
      .map(({n}) => ({n}));
    await verdicts.insert(accepted);
  }
}

async function finish(update: Update): Promise<TaskResult> {
  const {db, ctx, params, reasons} = update;
  await db.run(sql.counted);
  await db.run('CREATE VIEW delta AS SELECT * FROM changed');
  const [totals] = await db.all<{changed: number; added: number; duplicates: number}>(sql.totals);
  const {files, summary} = await writeDelta(db, ctx, params.revision);
  const {changed = 0, added = 0, duplicates = 0} = totals ?? {};
  return {
    files,
    counters: {
      rows_updated_total: changed - added,
      rows_added_total: added,
      rows_refused_total: Object.values(reasons).reduce((sum, n) => sum + n, 0),
      duplicates_total: duplicates,
    },
    reasons,
    facts: {summary},
  };
}

function charge(reasons: Reasons, reason: Reason, n: number): void {
  if (n > 0) reasons[reason] = (reasons[reason] ?? 0) + n;
}
