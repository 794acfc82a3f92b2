import type {Config} from '../lib/config/settings.ts';
import {neverDue as never} from '../lib/crawldb/row.ts';
import {CrawlError} from '../lib/errors.ts';
import {linkdb, linksources} from '../lib/schema/linkdb.ts';
import type {Reason} from '../lib/schema/reason.ts';
import type {HopType} from '../lib/schema/status.ts';
import {makeScope, type Stay} from '../lib/scope/scope.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {identify} from '../lib/url/keys.ts';
import {normalizeUrl, type UrlPolicy, urlPolicy} from '../lib/url/normalize.ts';
import {type PolicyTexts, readPolicyTexts} from './config/policy-texts.ts';
import {markTouched} from './crawldb/repeats.ts';
import {
  countsOf,
  type DatabaseParams,
  databaseParams,
  filesOf,
  inlinksVersion,
  nextRevision,
  openTaskDatabase,
  rowsTable,
  writeBase,
  writeInlinks,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';

const sql = readSql(import.meta.url, './rekey.sql', [
  'urls',
  'texts',
  'link_urls',
  'members',
  'merged',
  'links',
  'current_row',
  'next_row',
  'unknown',
  'host_ever',
  'totals',
  'refusals',
]);

const {one} = readSql(import.meta.url, './crawldb/one.sql', ['one']);

interface RekeyParams {
  readonly texts: PolicyTexts;
  readonly config: Pick<Config, 'url' | 'scope' | 'links' | 'dedup'>;
  readonly now: number;
  readonly revision: number;
  /** Version of `inlinks` that the commit makes. */
  readonly inlinksRevision: number;
  readonly database: DatabaseParams;
}

/**
 * Gives all URLs of the crawldb and the linkdb the form that the present settings of `url` give them. Rows that
 * become one are merged; a URL that is none any more, or that the scope refuses, stays as a row that is gone, with
 * the reason. What was fetched stays under the URL that was asked for. Held in memory: the URLs that change, as
 * rows of DuckDB, which spills.
 */
export const rekey = defineJob({
  name: 'rekey',
  summary: 'Bring all URLs to the form of changed url settings.',
  options: {},
  locks: () => ['crawldb', 'linkdb'],

  async plan(_options, effects) {
    const {snapshot, config, store} = effects;
    const texts = await readPolicyTexts(config, store.dir);
    const policy = urlPolicy(config.url, texts.urlRules).digest;
    const crawldb = await snapshot.files('crawldb');
    if (crawldb.length === 0 || snapshot.manifest.policies.url === policy) {
      effects.log('info', 'url_policy_unchanged', {policy});
      return undefined;
    }
    const open = snapshot.segments.filter((id) => snapshot.segment(id).applied === undefined);
    if (open.length > 0)
      throw new CrawlError('SEGMENT_STATE', `not applied yet: ${open.join(' ')}`, {
        facts: {segments: open},
        hint: 'With the former url settings, run crawl fetch and crawl updatedb; or release the URLs: crawl drop',
      });
    const params: RekeyParams = {
      texts,
      config: {url: config.url, scope: config.scope, links: config.links, dedup: config.dedup},
      now: effects.now(),
      revision: nextRevision(snapshot),
      inlinksRevision: inlinksVersion(snapshot) + 1,
      database: databaseParams(config),
    };
    const others = ['linkdb', 'hoststats', 'seedstats', 'seeds'];
    const inputs = [...crawldb, ...(await Promise.all(others.map((slot) => snapshot.files(slot)))).flat()];
    return {
      base: snapshot.manifest.number,
      now: params.now,
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
      facts: {policy},
    };
  },

  run: (task, ctx) => rewrite(task, ctx),

  next(plan, _stage, results) {
    const result = results[0];
    const policies = {url: plan.facts?.policy as string};
    const reads = ['crawldb', 'linkdb', 'inlinks', 'hoststats', 'seedstats', 'open'];
    if (result === undefined || result.files.length === 0) return {edit: {reads, writes: {}, policies}};
    const writes: Record<string, readonly FileRef[]> = {
      crawldb: filesOf(result, 'crawldb'),
      ...countsOf(result),
      linkdb: [...filesOf(result, 'linkdb'), ...filesOf(result, 'linksources')],
      inlinks: filesOf(result, 'inlinks'), // of URLs that are no rows; the others have theirs
    };
    const summary = result.facts?.summary as Record<string, number>;
    return {edit: {reads, writes, policies, summary: {...summary, links: result.counters.links_total ?? 0}}};
  },
});

const movedColumns = {
  old_host_key: {type: 'key'},
  old_url_key: {type: 'key'},
  host_key: {type: 'key'},
  url_key: {type: 'key'},
  url: {type: 'text'},
  url_host_name: {type: 'text'},
  url_host_registered_domain: {type: 'text'},
  refused: {type: 'text'},
} as const;
const retextColumns = {text: {type: 'text'}, url: {type: 'text'}} as const;

async function rewrite(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as RekeyParams; // made by plan
  const db = await openTaskDatabase(task, ctx, params.database, [
    'crawldb',
    'linkdb',
    'linksources',
    'hoststats',
    'seedstats',
    'seeds',
  ]);
  try {
    const policy = urlPolicy(params.config.url, params.texts.urlRules);
    const changed =
      (await moveRows(db, ctx, params, policy)) +
      (await moveTexts(db, ctx, policy)) +
      (await moveLinks(db, ctx, policy));
    if (changed === 0) return {files: [], counters: {urls_rekeyed_total: 0}, reasons: {}};
    await db.run(sql.members);
    await db.run(one);
    await db.run(sql.merged, {never, now: new Date(params.now)});
    await db.run(sql.links);
    await db.run(sql.current_row);
    await markTouched(db, params.config.dedup);
    await db.run(sql.next_row);
    await db.run(sql.host_ever);
    const {files, summary} = await writeBase(db, ctx, filesIn(task, 'crawldb'), params.revision);
    const links = await db.copy(
      `SELECT * FROM next_link
       ORDER BY target_host_key, target_url_key, source_host_key, source_url_key`,
      {},
      await ctx.store.create(linkdb, 'linkdb'),
    );
    const sources = await db.copy(
      'SELECT * FROM next_source ORDER BY source_host_key, source_url_key',
      {},
      await ctx.store.create(linksources, 'linkdb/sources'),
      {facts: {kind: 'delta', revision: 0, again: 0}},
    );
    const unknown = await writeInlinks(db, ctx, sql.unknown, params.inlinksRevision);
    return {files: [...files, links, sources, ...unknown], ...(await report(db)), facts: {summary}};
  } finally {
    await db.close();
  }
}

function filesIn(task: Task, table: string): readonly FileRef[] {
  return task.inputs.filter((file) => file.table === table);
}

async function report(db: Database): Promise<Pick<TaskResult, 'counters' | 'reasons'>> {
  const [totals] = await db.all<{moved: number; merged: number; clashes: number; links: number}>(sql.totals);
  const {moved = 0, merged = 0, clashes = 0, links = 0} = totals ?? {};
  const reasons: Partial<Record<Reason, number>> = clashes > 0 ? {key_clash: clashes} : {};
  for (const {reason, n} of await db.all<{reason: Reason; n: number}>(sql.refusals, {never}))
    reasons[reason] = (reasons[reason] ?? 0) + n;
  return {
    counters: {
      urls_rekeyed_total: moved,
      urls_merged_total: merged,
      rows_refused_total: Object.values(reasons).reduce((sum, n) => sum + n, 0),
      links_total: links,
    },
    reasons,
  };
}

interface KnownUrl {
  readonly host_key: bigint;
  readonly url_key: bigint;
  readonly url: string;
  readonly depth: number;
  readonly seed: string | null;
  readonly hop_type: HopType;
  readonly discovered_from: string | null;
  readonly sitemap_depth: number | null;
  readonly scope: Stay | null;
  /** A former rekey had refused it. */
  readonly refused_before: boolean;
}

/** Puts the URLs of the crawldb that change into the table `moved`; their number. */
async function moveRows(
  db: Database,
  ctx: TaskContext,
  {config, texts}: RekeyParams,
  policy: UrlPolicy,
): Promise<number> {
  const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
  const table = await rowsTable(db, 'moved', movedColumns);
  const move = (row: KnownUrl): Record<string, unknown>[] => {
    const old = {old_host_key: row.host_key, old_url_key: row.url_key};
    const normalized = normalizeUrl(row.url, policy);
    if ('reason' in normalized) return [{...old, ...identify(row.url), refused: normalized.reason}];
    const {url} = normalized;
    if (url === row.url && !row.refused_before) return [];
    const verdict = scope.check({
      url,
      depth: row.depth,
      hopType: row.hop_type,
      ...(row.discovered_from !== null && {from: row.discovered_from}),
      seed: row.sitemap_depth === null ? row.seed : null,
      seedScope: row.scope,
    });
    return [{...old, ...identify(url), refused: verdict.accepted ? null : verdict.reason}];
  };
  return insertAll(ctx, db.stream(sql.urls, {never}), table, (row) => move(row as unknown as KnownUrl));
}

/** Puts the URLs that rows speak of, and that change, into the table `retext`. */
async function moveTexts(db: Database, ctx: TaskContext, policy: UrlPolicy): Promise<number> {
  const table = await rowsTable(db, 'retext', retextColumns);
  return insertAll(ctx, db.stream(sql.texts), table, (row) => {
    const {text} = row as {text: string};
    const normalized = normalizeUrl(text, policy);
    const url = 'url' in normalized ? normalized.url : null;
    return url === text ? [] : [{text, url}];
  });
}

/** The same for ends of links that are no rows; one that is no URL any more stays as it is. */
async function moveLinks(db: Database, ctx: TaskContext, policy: UrlPolicy): Promise<number> {
  const table = await rowsTable(db, 'moved_link', movedColumns);
  return insertAll(ctx, db.stream(sql.link_urls), table, (row) => {
    const {host_key, url_key, url} = row as unknown as Pick<KnownUrl, 'host_key' | 'url_key' | 'url'>;
    const normalized = normalizeUrl(url, policy);
    if ('reason' in normalized || normalized.url === url) return [];
    return [{old_host_key: host_key, old_url_key: url_key, ...identify(normalized.url)}];
  });
}

async function insertAll(
  ctx: TaskContext,
  batches: AsyncIterable<readonly Readonly<Record<string, unknown>>[]>,
  table: {insert(rows: readonly Record<string, unknown>[]): Promise<void>},
  rowsOf: (row: Readonly<Record<string, unknown>>) => Record<string, unknown>[],
): Promise<number> {
  let n = 0;
  let done = 0;
  for await (const batch of batches) {
    ctx.signal.throwIfAborted();
    const rows = batch.flatMap(rowsOf);
    await table.insert(rows);
    n += rows.length;
    done += batch.length;
    ctx.progress({done, unit: 'URLs'});
  }
  return n;
}
