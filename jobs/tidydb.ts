import type {Config} from '../lib/config/settings.ts';
import {reasonClass} from '../lib/crawldb/effect.ts';
import {neverDue} from '../lib/crawldb/row.ts';
import {CrawlError} from '../lib/errors.ts';
import {type Reason, reasonFacts, reasonNames} from '../lib/schema/reason.ts';
import type {HopType} from '../lib/schema/status.ts';
import {makeScope, type Stay} from '../lib/scope/scope.ts';
import type {Database} from '../lib/store/duckdb.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import type {Snapshot} from '../lib/store/store.ts';
import {bindDeltas} from '../lib/store/views.ts';
import {type PolicyTexts, readPolicyTexts} from './config/policy-texts.ts';
import {type DedupRules, markTouched} from './crawldb/repeats.ts';
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
  inlinksVersion,
  isCompaction,
  nextRevision,
  openTaskDatabase,
  rowsTable,
  writeBase,
  writeDelta,
  writeInlinks,
} from './crawldb/writer.ts';
import {defineJob, type Task, type TaskContext, type TaskResult} from './job.ts';
import {readSql} from './runner/sql-file.ts';

const sql = readSql(import.meta.url, './tidydb.sql', [
  'urls',
  'links',
  'released',
  'candidates',
  'orphans',
  'changed',
  'purge',
  'current_row',
  'delta',
  'next_row',
  'unknown',
  'host_ever',
  'reasons',
  'totals',
]);

interface TidyParams {
  readonly filter: boolean;
  /** Ages in ms; null where not asked for. */
  readonly orphans: number | null;
  readonly purge: number | null;
  readonly now: number;
  readonly texts: PolicyTexts;
  readonly config: Pick<Config, 'url' | 'scope' | 'links' | 'dedup'>;
  readonly revision: number;
  /** Version of `inlinks` that the commit makes. */
  readonly inlinksRevision: number;
  readonly database: DatabaseParams;
}

/**
 * Upkeep of the whole crawldb (Nutch: updatedb -filter, db.update.purge.404, scoring-orphan): rows that the scope of today
 * refuses are gone with its reason, and come back when it takes them; pages to which nothing leads any more are orphans;
 * what has long been gone is forgotten, but never a refusal.
 */
export const tidydb = defineJob({
  name: 'tidydb',
  summary: 'Apply the scope to all rows, find orphans, forget what is long gone.',
  options: {
    filter: {kind: 'flag', default: false, doc: 'Ask the scope of today about every known URL.'},
    orphans: {
      kind: 'duration',
      doc: 'Make orphans of pages found by a link at least so long ago to which none leads any more.',
    },
    purge: {
      kind: 'duration',
      doc: 'Forget URLs that are gone or orphans and were last asked for so long ago; refusals and seeds stay.',
    },
  },
  locks: () => ['crawldb'],

  async plan({filter, orphans, purge}, {snapshot, config, store, now, log}) {
    const rows = await snapshot.files('crawldb');
    if (rows.length === 0 || !(filter || orphans !== undefined || purge !== undefined)) {
      log('info', 'nothing_to_tidy');
      return undefined;
    }
    if (orphans !== undefined) checkLinks(snapshot, config);
    const params: TidyParams = {
      filter,
      orphans: orphans ?? null,
      purge: purge ?? null,
      now: now(),
      texts: await readPolicyTexts(config, store.dir),
      config: {url: config.url, scope: config.scope, links: config.links, dedup: config.dedup},
      revision: nextRevision(snapshot),
      inlinksRevision: inlinksVersion(snapshot) + 1,
      database: databaseParams(config),
    };
    const others = ['linkdb', 'seeds', ...(purge === undefined ? [] : ['inlinks'])];
    const inputs = [
      ...rows,
      ...(await countFiles(snapshot)),
      ...(await Promise.all(others.map((slot) => snapshot.files(slot)))).flat(),
    ];
    return {
      base: snapshot.manifest.number,
      now: params.now,
      tasks: [{stage: 0, part: 0, inputs, params: {...params}}],
      facts: {crawldb: rows, database: params.database, purge: purge !== undefined},
    };
  },

  run: (task, ctx) => (isCompaction(task) ? compactBuckets(task, ctx) : tidy(task, ctx)),

  next(plan, stage, results) {
    if (stage > 0) return compactionEdit(results);
    const [result] = results;
    const rows = filesOf(result, 'crawldb');
    const reads = ['crawldb', 'hoststats', 'seedstats', 'linkdb'];
    if (rows.length === 0) return {edit: {reads, writes: {}}};
    const summary = result?.facts?.summary as Record<string, number>;
    const writes = countsOf(result);
    if (result?.facts?.whole === true)
      return {
        edit: {
          reads: [...reads, 'inlinks'],
          // The rows have all theirs; what is left are those of URLs that are no rows
          writes: {...writes, crawldb: rows, inlinks: filesOf(result, 'inlinks')},
          summary,
        },
      };
    const before = plan.facts?.crawldb as readonly FileRef[];
    return crawldbNext(
      plan,
      stage,
      before,
      rows,
      {reads, writes, summary},
      plan.facts?.database as DatabaseParams,
    );
  },
});

/** Orphans are told by the linkdb, which must have all links of all pages. Throws SEGMENT_STATE or USAGE. */
function checkLinks(snapshot: Snapshot, {links}: Config): void {
  if (!links.internal || !links.external)
    throw new CrawlError('USAGE', 'orphans cannot be told while links.internal or links.external is off', {
      hint: 'The linkdb lacks those links.',
    });
  const missing = snapshot.segments.filter((id) => {
    const {current, inverted} = snapshot.segment(id);
    return current !== inverted;
  });
  if (missing.length > 0)
    throw new CrawlError('SEGMENT_STATE', `links are not in the linkdb yet: ${missing.join(' ')}`, {
      facts: {segments: missing},
      hint: 'Run: crawl invertlinks',
    });
}

async function tidy(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const params = task.params as unknown as TidyParams; // made by plan
  const tables = ['crawldb', 'linkdb', ...countTables, 'seeds'] as const;
  const db = await openTaskDatabase(task, ctx, params.database, tables, {asViews: true});
  try {
    const change = await rowsTable(db, 'change', {
      host_key: {type: 'key'},
      url_key: {type: 'key'},
      kind: {type: 'text'},
      reason: {type: 'text'},
    });
    if (params.filter) await filterAll(db, ctx, params, change);
    if (params.orphans !== null) await findOrphans(db, new Date(params.now - params.orphans));
    await db.run(sql.changed, {now: new Date(params.now), never: neverDue});
    const failures = reasonNames.filter((reason) => reasonClass(reason) === 'url').join(',');
    const before = params.purge === null ? new Date(0) : new Date(params.now - params.purge);
    await db.run(sql.purge, {before, failures});
    const [purged] = await db.all<{n: number}>('SELECT count(*) AS n FROM purged');
    const reasons: Partial<Record<Reason, number>> = {};
    for (const {reason, n} of await db.all<{reason: Reason; n: number}>(sql.reasons)) reasons[reason] = n;
    const [totals] = await db.all<Record<'refused' | 'orphaned' | 'released', number>>(sql.totals);
    const {refused = 0, orphaned = 0, released = 0} = totals ?? {};
    await db.run(sql.current_row);
    const some = refused + orphaned + released + (purged?.n ?? 0) > 0;
    const marked = some ? await markAgain(db, params.config.dedup) : 0;
    const changed = refused + orphaned + released + marked;
    // With --purge rows are read with all their inlinks, which deltas must not hold
    const whole = params.purge !== null && changed + (purged?.n ?? 0) > 0;
    const counters = {
      rows_updated_total: changed,
      rows_refused_total: refused,
      rows_orphaned_total: orphaned,
      rows_released_total: released,
      rows_purged_total: purged?.n ?? 0,
    };
    if (!whole && changed === 0) return {files: [], counters, reasons};
    await db.run(sql.delta);
    if (!whole) {
      const {files, summary} = await writeDelta(db, ctx, params.revision);
      return {files, counters, reasons, facts: {summary}};
    }
    await db.run(sql.next_row);
    await db.run(sql.host_ever);
    const base = task.inputs.filter(({table}) => table === 'crawldb');
    const {files, summary} = await writeBase(db, ctx, base, params.revision);
    await bindDeltas(
      db,
      ctx.store,
      base,
      task.inputs.filter(({table}) => table === 'inlinks'),
    );
    const unknown = await writeInlinks(db, ctx, sql.unknown, params.inlinksRevision);
    return {files: [...files, ...unknown], counters, reasons, facts: {summary, whole}};
  } finally {
    await db.close();
  }
}

/** Most steps from orphan to orphan in one run (chosen: each reads the linkdb); the next run goes on from there. */
const maxSteps = 50;

/** Puts orphans, and those that are none any more, into the table `change`, however many links lead from one to another. */
async function findOrphans(db: Database, before: Date): Promise<void> {
  await db.run(sql.links);
  await untilNoneIsFound(db, sql.released);
  await db.run(sql.candidates, {before});
  await untilNoneIsFound(db, sql.orphans);
}

async function untilNoneIsFound(db: Database, step: string): Promise<void> {
  for (let n = 0; n < maxSteps; n++) {
    await db.run(step);
    const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM found');
    if ((count?.n ?? 0) === 0) return;
  }
}

/** Duplicates of what is no page any more, and pages that are one again; how many rows that changes. */
async function markAgain(db: Database, rules: DedupRules): Promise<number> {
  await markTouched(db, rules);
  const [count] = await db.all<{n: number}>(
    'SELECT count(*) AS n FROM dedup_row ANTI JOIN touched USING (host_key, url_key)',
  );
  return count?.n ?? 0;
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
  /** Reason by which the scope refuses it so far. */
  readonly refused: Reason | null;
}

/** Puts the rows on which the scope has changed its mind into the table `change`. Memory: one batch. */
async function filterAll(
  db: Database,
  ctx: TaskContext,
  {config, texts}: TidyParams,
  change: {insert(rows: readonly Record<string, unknown>[]): Promise<void>},
): Promise<void> {
  const scope = makeScope(config.scope, config.url, config.links, texts.scopeFiles);
  const scopeReasons = reasonNames.filter((reason) => reasonFacts(reason).by === 'scope').join(',');
  let done = 0;
  for await (const batch of db.stream(sql.urls, {scope_reasons: scopeReasons})) {
    ctx.signal.throwIfAborted();
    await change.insert(
      (batch as unknown as KnownUrl[]).flatMap(({host_key, url_key, refused, ...row}) => {
        const verdict = scope.check({
          url: row.url,
          depth: row.depth,
          hopType: row.hop_type,
          ...(row.discovered_from !== null && {from: row.discovered_from}),
          seed: row.sitemap_depth === null ? row.seed : null,
          seedScope: row.scope,
        });
        const reason = verdict.accepted ? null : verdict.reason;
        if (reason === refused) return [];
        return [{host_key, url_key, kind: reason === null ? 'released' : 'refused', reason}];
      }),
    );
    done += batch.length;
    ctx.progress({done, unit: 'URLs'});
  }
}
