import {linkDirectives} from '../../lib/robots/directives.ts';
import {type Reason, reasonFacts, reasonNames} from '../../lib/schema/reason.ts';
import type {HopType} from '../../lib/schema/status.ts';
import type {Stay} from '../../lib/scope/scope.ts';
import {maxSitemapDepth, maxSitemaps} from '../../lib/sitemap/walk.ts';
import type {Quarantine} from '../../lib/traps/quarantine.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {readSql} from '../runner/sql-file.ts';
import {refuseBlocked} from './blocked.ts';
import {countRefusals} from './refusals.ts';
import {hasRows, replaceChanged, type Update} from './step.ts';
import {refuseTraps} from './traps.ts';

const sql = readSql(import.meta.url, './links.sql', [
  'doubtful',
  'links',
  'sources',
  'targets',
  'admit',
  'add',
  'better',
  'earlier',
  'hinted',
]);

/** New URLs from accepted links and redirects. */
export async function followLinks(update: Update, quarantine: Quarantine): Promise<void> {
  const {db, params, scope} = update;
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
  await refuseBlocked(update);
  await refuseTraps(update, quarantine);
  await db.run(sql.admit, {
    additions: params.additions,
    max_host: budget.max_urls_per_host ?? -1,
    max_domain: budget.max_urls_per_domain ?? -1,
    max_seed: budget.max_urls_per_seed ?? -1,
    max_depth: params.config.scope.max_depth,
    yield: budget.yield,
    max_sitemap_depth: maxSitemapDepth,
    max_sitemaps: maxSitemaps,
  });
  await db.run(sql.add, {
    interval_s: bounds.firstS,
    hints: links.sitemap_hints,
    min_interval_s: bounds.minS,
    max_interval_s: bounds.maxS,
  });
  await countRefusals(update);
  await db.run(sql.better, {max_sitemap_depth: maxSitemapDepth});
  if (await hasRows(db, 'better')) {
    await db.run(sql.earlier);
    await replaceChanged(db, 'earlier');
  }
  if (await hasRows(db, 'hint')) {
    await db.run(sql.hinted, {min_interval_s: bounds.minS});
    await replaceChanged(db, 'hinted');
  }
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

/** Links that other rules had decided get the verdict of today's: a row of `verdict`. Memory: one batch. */
async function decideAnew({db, ctx, params, scope}: Update): Promise<void> {
  await db.run(sql.doubtful, {digest: scope.digest, scope_reasons: scopeReasons.join(',')});
  const verdicts = await rowsTable(db, 'verdict', {n: {type: 'count'}, reason: {type: 'text'}});
  for await (const rows of db.stream(
    `SELECT n, to_url, from_url, depth, seed, hop_type, kind, rel, page_nofollow, seed_scope
     FROM doubtful ORDER BY from_url, n`,
  )) {
    ctx.signal.throwIfAborted();
    await verdicts.insert(
      (rows as unknown as DoubtfulLink[]) // the columns of the query
        .map((link) => ({n: link.n, reason: reasonAgainst(link, scope, params.config.links)})),
    );
  }
}

/** Why a link is not followed today; null where it is. */
function reasonAgainst(
  link: DoubtfulLink,
  scope: Update['scope'],
  {follow, nofollow}: Update['params']['config']['links'],
): Reason | null {
  const namesSitemap = link.kind === 'sitemap' && link.rel !== null;
  const verdict = scope.check({
    url: link.to_url,
    depth: link.depth,
    hopType: link.hop_type,
    from: link.from_url,
    seed: namesSitemap ? null : link.seed,
    seedScope: link.seed_scope,
  });
  if (!verdict.accepted) return verdict.reason;
  if (link.hop_type === 'R') return null;
  if (link.hop_type !== 'E' && !follow.includes(link.kind)) return 'not_followed';
  const asked = link.page_nofollow || (link.rel !== null && linkDirectives(link.rel).nofollow);
  return nofollow && asked ? 'nofollow' : null;
}
