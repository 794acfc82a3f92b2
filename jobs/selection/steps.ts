import type {Bound} from '../../lib/crawldb/score-grid.ts';
import type {TableName} from '../../lib/schema/tables.ts';
import {
  isStoredScore,
  priorityJoins,
  prioritySql,
  priorityTables,
  type ScoreWeights,
} from '../../lib/score/score.ts';
import {type CutOff, type HostPolicy, isLimited, type SelectionRules} from '../../lib/selection/selection.ts';
import {otherGroup} from '../../lib/selection/shares.ts';
import type {Database, SqlParameters} from '../../lib/store/duckdb.ts';
import {defineFirstFolder} from '../crawldb/path.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {makeHostRules} from '../read/host-rules.ts';
import {readSql} from '../runner/sql-file.ts';
import {checkCondition, fixTime} from './where.ts';

/** Steps of a selection, as generate runs them over the whole crawldb and explain over what concerns one URL. */

export const selectionSql = readSql(import.meta.url, './selection.sql', [
  'locked',
  'host',
  'odd',
  'share',
  'quota_left',
  'turn_of',
  'wider_budget',
  'due',
  'poor_part',
  'spared',
  'candidate',
  'in_domain_budget',
  'in_seed_budget',
  'ranked',
  'in_domain',
  'in_seed',
  'pick',
  'cuts',
  'chosen',
  'page',
  'known',
  'forecast',
]);
const sql = selectionSql;

/** Tables that a selection reads. */
export const selectionTables = [
  'crawldb',
  'seeds',
  'fetchlist',
  'hoststate',
  'hoststats',
  'pathstats',
  'hostrules',
  'robots',
  'seedstats',
  'families',
  'familyrules',
] as const;

/** What a selection by these rules reads. */
export function tablesOf({rules, weights}: Pick<SelectionInput, 'rules' | 'weights'>): TableName[] {
  return [
    ...new Set([
      ...selectionTables,
      ...priorityTables(weights),
      ...(asksForInlinks(rules) ? (['inlinks'] as const) : []),
    ]),
  ];
}

function asksForInlinks({where}: Pick<SelectionRules, 'where'>): boolean {
  return where !== null && /\binlinks\b/i.test(where);
}

export interface SelectionInput {
  readonly now: number;
  readonly rules: SelectionRules;
  readonly hosts: HostPolicy;
  readonly weights: ScoreWeights;
}

/** Without a window, a host that rests longer than this after failures is left out: a fetch would only wait for it. */
const shortRestMs = 60_000;
/** Chosen: an ordinary server over an ordinary line, where no host has answered yet. */
const firstResponseMs = 200;

/** Times of a host of which nothing is known. */
export interface NewHost {
  readonly cap: number;
  /** From the start of a fetch to the first page: robots.txt comes first. */
  readonly leadMs: number;
  /** From one request to the next, and the pause in it. */
  readonly turnMs: number;
  readonly pauseMs: number;
}

/** Every host of the crawldb. */
const knownHosts = 'SELECT host_key, url_host_name FROM hoststats';

/**
 * Makes the view `wanted` and the tables `locked`, `host`, `weight` and `share`; returns the parameters of `due`.
 *
 * @param source rows of the crawldb that are looked at: a view, or a query in parentheses
 * @param asked query of host_key and url_host_name: the hosts that are asked about; all that are known if absent
 */
export async function prepareSelection(
  db: Database,
  input: SelectionInput,
  source: string,
  asked?: string,
): Promise<PreparedSelection> {
  await prepareRows(db, input, source);
  return prepareHosts(db, input, asked);
}

export interface PreparedSelection {
  readonly due: SqlParameters;
  readonly newHost: NewHost;
}

/** The part of {@link prepareSelection} that asks nothing of hosts: `wanted` and `locked`. */
export async function prepareRows(db: Database, input: SelectionInput, source: string): Promise<void> {
  await fixTime(db, input.now);
  await makeWanted(db, input, source);
  await db.run(`CREATE TABLE locked AS ${sql.locked}`);
}

/** The other part. */
export async function prepareHosts(
  db: Database,
  input: SelectionInput,
  asked?: string,
): Promise<PreparedSelection> {
  const {rules, hosts, now} = input;
  const usual = await usualResponse(db, hosts.latencyFactor);
  await makeHostRules(db, asked ?? knownHosts);
  const ofAsked = asked === undefined ? '' : ` SEMI JOIN (${asked}) USING (host_key)`;
  for (const table of ['hoststate', 'hoststats'])
    await db.run(`CREATE VIEW asked_${table} AS SELECT * FROM ${table}${ofAsked}`);
  await db.run(sql.quota_left);
  await db.run(sql.turn_of);
  await defineGroups(db, input);
  await db.run(`CREATE TABLE host AS ${sql.host}`, {
    now: new Date(now),
    rest_ms: Math.max(rules.windowMs, shortRestMs),
    min_delay_ms: hosts.minDelayMs,
    max_crawl_delay_ms: hosts.maxCrawlDelayMs,
    latency_factor: hosts.latencyFactor,
    max_latency_ms: hosts.maxLatencyMs,
    usual_response_ms: usual,
    window_ms: rules.windowMs,
    max_per_host: rules.maxPerHost,
    yield: hosts.yield,
    host_pages: hosts.budgets.host.pages,
    host_bytes: hosts.budgets.host.bytes,
    host_novel: hosts.budgets.host.novel,
  });
  await makeWiderBudget(db, hosts);
  await defineFirstFolder(db);
  await db.run(`CREATE TABLE poor_part AS ${sql.poor_part}`, {yield: hosts.yield});
  const weight = await rowsTable(db, 'weight', {name: {type: 'text'}, weight: {type: 'double'}});
  await weight.insert(Object.entries(rules.shares).map(([name, weight]) => ({name, weight})));
  await db.run(`CREATE TABLE share AS ${sql.share}`);
  const newHost = timesOfNewHost(rules, hosts, usual);
  return {
    due: {
      due: new Date(rules.due),
      force: rules.force,
      order: rules.order,
      now: new Date(now),
      by_lateness: rules.byLateness ?? false,
      new_cap: newHost.cap,
      new_budget: hosts.budgets.host.pages,
    },
    newHost,
  };
}

/**
 * Makes the table `due`: what is due, and why some of it is left out.
 *
 * @param due parameters, from {@link prepareSelection}
 */
export async function makeDue(db: Database, due: SqlParameters): Promise<void> {
  await db.run(`CREATE OR REPLACE TABLE due AS ${sql.due}`, due);
  // Without such parts no URL need be looked into
  if ((await countRows(db, 'poor_part')) > 0) await db.run(sql.spared);
}

/**
 * Macros for what shares, and caps and budgets of domains and seeds go by. Where there are none they are null, so that
 * the columns are not read. Domains and seeds are hashed, for this run alone: caps need equality, not the texts.
 */
async function defineGroups(db: Database, {rules, hosts}: SelectionInput): Promise<void> {
  const {domain, seed} = hosts.budgets;
  const capped =
    rules.maxPerDomain !== null || rules.maxPerSeed !== null || isLimited(domain) || isLimited(seed);
  const shared = Object.keys(rules.shares).length > 0;
  await db.run(`CREATE MACRO domain_of(domain) AS ${capped ? 'hash(domain)' : 'NULL::UBIGINT'};
CREATE MACRO seed_of(seed) AS ${capped ? 'CASE WHEN seed IS NOT NULL THEN hash(seed) END' : 'NULL::UBIGINT'};
CREATE MACRO shared(name) AS ${shared ? 'name' : 'NULL::VARCHAR'}`);
}

/** The rows with the priority of each; with a condition that asks for `host`, with its hostdb row as that. */
async function makeWanted(db: Database, {rules, weights}: SelectionInput, source: string): Promise<void> {
  const priority = prioritySql(weights);
  await db.run(
    `CREATE VIEW valued AS SELECT c.*, ${priority} AS priority FROM ${source} c ${priorityJoins(weights)}`,
  );
  if (rules.where === null) return db.run('CREATE VIEW wanted AS SELECT * FROM valued');
  const withHost = /\bhost\s*\./i.test(rules.where);
  if (withHost)
    await db.run(`CREATE VIEW judged AS
      SELECT k.*, h AS host FROM valued k LEFT JOIN (${hostFacts}) h USING (host_key)`);
  const view = withHost ? 'judged' : 'valued';
  await checkCondition(db, rules.where, view, '--where');
  const columns = withHost ? '* EXCLUDE (host)' : '*';
  return db.run(`CREATE VIEW wanted AS SELECT ${columns} FROM ${view} WHERE (${rules.where}\n)`);
}

/** What `host.NAME` in a condition may be. */
const hostFacts = `SELECT hs.*, st.* EXCLUDE (host_key, url_host_name, updated_segment)
  FROM hoststats hs LEFT JOIN hoststate st USING (host_key)`;

async function makeWiderBudget(db: Database, {budgets: {domain, seed}}: HostPolicy): Promise<void> {
  if (!isLimited(domain) && !isLimited(seed)) return;
  await db.run(`CREATE TABLE wider_budget AS ${sql.wider_budget}`, {
    domain_pages: domain.pages,
    domain_bytes: domain.bytes,
    domain_novel: domain.novel,
    seed_pages: seed.pages,
    seed_bytes: seed.bytes,
    seed_novel: seed.novel,
  });
}

/** Makes the table `candidate` of `due`: what hosts may be asked for, within all budgets. */
export async function makeCandidates(
  db: Database,
  {rules: {refetchShare}, hosts: {budgets}}: Pick<SelectionInput, 'rules' | 'hosts'>,
): Promise<void> {
  const refetch_share = refetchShare;
  await db.run(`CREATE OR REPLACE TABLE candidate AS ${sql.candidate}`, {refetch_share});
  for (const level of ['domain', 'seed'] as const)
    if (isLimited(budgets[level]))
      await db.run(`CREATE OR REPLACE TABLE candidate AS ${sql[`in_${level}_budget`]}`, {
        most: budgets[level].pages,
        refetch_share,
      });
}

/** How long an answer takes, for hosts that gave none yet: the median of the others, which is exact in any order. */
async function usualResponse(db: Database, latencyFactor: number): Promise<number> {
  if (latencyFactor <= 0) return firstResponseMs;
  const [row] = await db.all<{latency_ms: number | null}>(
    'SELECT quantile_disc(latency_ms, 0.5) AS latency_ms FROM hoststate WHERE latency_ms > 0',
  );
  return row?.latency_ms == null ? firstResponseMs : row.latency_ms / latencyFactor;
}

function timesOfNewHost({windowMs, maxPerHost}: SelectionRules, hosts: HostPolicy, usual: number): NewHost {
  const latency = Math.min(hosts.latencyFactor * usual, hosts.maxLatencyMs);
  const pauseMs = Math.max(latency, hosts.minDelayMs, 1);
  const turnMs = pauseMs + usual;
  const fits = Math.floor((windowMs - turnMs - usual - 1) / turnMs) + 1;
  const cap = windowMs > 0 ? Math.max(1, Math.min(maxPerHost, fits)) : maxPerHost;
  return {cap, leadMs: turnMs, turnMs, pauseMs};
}

/** URLs kept out of the last list, by the cap that did it. */
export interface LeftOut {
  readonly hostLimit: number;
  readonly domainLimit: number;
  readonly seedLimit: number;
  readonly listFull: number;
}

/** Adds the URLs of one list to the table `picked`: the best of `candidate` that no list has yet. */
export async function pickList(
  db: Database,
  {topN, refetchShare, maxPerDomain, maxPerSeed, shares}: SelectionRules,
  part: number,
): Promise<LeftOut> {
  const [waiting] = await db.all<{n: number}>(
    'SELECT count(*) AS n FROM candidate ANTI JOIN picked USING (host_key, url_key)',
  );
  await db.run(`CREATE OR REPLACE TABLE ranked AS ${sql.ranked}`, {refetch_share: refetchShare});
  const ranked = await countRows(db, 'ranked');
  if (maxPerDomain !== null)
    await db.run(`CREATE OR REPLACE TABLE ranked AS ${sql.in_domain}`, {
      most: maxPerDomain,
      refetch_share: refetchShare,
    });
  const inDomain = maxPerDomain === null ? ranked : await countRows(db, 'ranked');
  if (maxPerSeed !== null)
    await db.run(`CREATE OR REPLACE TABLE ranked AS ${sql.in_seed}`, {
      most: maxPerSeed,
      refetch_share: refetchShare,
    });
  const inSeed = maxPerSeed === null ? inDomain : await countRows(db, 'ranked');
  await db.run(`INSERT INTO picked ${sql.pick}`, {
    part,
    top_n: topN,
    refetch_share: refetchShare,
    other_weight: shares[otherGroup] ?? 1,
  });
  return {
    hostLimit: (waiting?.n ?? 0) - ranked,
    domainLimit: ranked - inDomain,
    seedLimit: inDomain - inSeed,
    listFull: Math.max(0, inSeed - topN),
  };
}

/** Makes the empty table `picked`. */
export async function newPicks(db: Database): Promise<void> {
  await db.run(`CREATE OR REPLACE TABLE picked (
    part INTEGER, rank INTEGER, host_key UBIGINT, url_key UBIGINT,
    share VARCHAR, refetch BOOLEAN, standing DOUBLE, nth BIGINT
  )`);
}

/** Cut-offs of a list that was full. */
export async function cutsOf(db: Database, part: number, topN: number): Promise<CutOff[]> {
  return db.all<CutOff & Record<string, unknown>>(sql.cuts, {part, top_n: topN});
}

export async function countRows(db: Database, table: string): Promise<number> {
  const [row] = await db.all<{n: number}>(`SELECT count(*) AS n FROM ${table}`);
  return row?.n ?? 0;
}

/**
 * Whether the list follows the order in which the crawldb lies, so that its head may be enough: one list, by the stored
 * score, with no shares or caps that URLs of less score may have to fill. Where hosts are asked in order of depth
 * (`breadth`), URLs of less score on other hosts would have the first claim to what a domain or seed has left.
 */
export function followsScore({rules, hosts, weights}: SelectionInput, lists: number): boolean {
  const {domain, seed} = hosts.budgets;
  return (
    lists === 1 &&
    (rules.order === 'best' || (rules.order === 'breadth' && !isLimited(domain) && !isLimited(seed))) &&
    rules.maxPerDomain === null &&
    Object.keys(rules.shares).length === 0 &&
    isStoredScore(weights) &&
    !asksForInlinks(rules)
  );
}

/**
 * Whether URLs never fetched that are not in `due` could change what was picked: all below the bound. They could not
 * where some of those that are there were left over, and each that was picked stands above all that is missing: of more
 * score, or of the bound's own as the first URL of its host and with a key that is read. All others are there
 * (jobs/crawldb/candidates.ts). Nor may a known URL have a place of a host, seed or budget that one of them has a share
 * of; on a host, by `best`, such places are those after its share.
 */
export async function isSettled(
  db: Database,
  {rules, hosts}: SelectionInput,
  {score, key}: Bound,
): Promise<boolean> {
  const {host, domain, seed} = hosts.budgets;
  const capped = rules.maxPerSeed !== null || isLimited(host) || isLimited(domain) || isLimited(seed);
  const [row] = await db.all<{settled: boolean}>(
    `SELECT
       EXISTS (SELECT 1 FROM (SELECT * FROM ranked WHERE NOT refetch) ANTI JOIN picked USING (host_key, url_key))
       AND NOT EXISTS (
         SELECT 1 FROM picked
         WHERE NOT refetch AND (standing < $score OR ($cut AND standing = $score AND (nth > 1 OR url_key > $key)))
       )
       AND NOT ($capped AND EXISTS (SELECT 1 FROM ranked WHERE refetch))
       AND NOT EXISTS (
         SELECT 1
         FROM (
           SELECT host_key, count(*) AS urls, count(*) FILTER (refetch) AS known FROM ranked GROUP BY host_key
         ) r
         JOIN (SELECT host_key, min(cap) AS cap FROM candidate GROUP BY host_key) c USING (host_key)
         JOIN (SELECT host_key, max(nth) AS last FROM picked WHERE refetch GROUP BY host_key) p USING (host_key)
         WHERE r.urls >= c.cap AND r.urls - r.known < (1 - $refetch_share) * c.cap
           AND (NOT $best OR p.last > $refetch_share * c.cap)
       ) AS settled`,
    {
      score,
      key: key ?? 0n,
      cut: key !== null,
      capped,
      best: rules.order === 'best',
      refetch_share: rules.refetchShare,
    },
  );
  return row?.settled ?? false;
}
