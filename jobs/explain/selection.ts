import {oneHost} from '../../lib/crawldb/layout.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {TableName} from '../../lib/schema/tables.ts';
import {readsOtherHosts} from '../../lib/score/score.ts';
import type {CutOff, Selection} from '../../lib/selection/selection.ts';
import {type Database, openDatabase} from '../../lib/store/duckdb.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import {bindTables} from '../../lib/store/views.ts';
import {type ReadSettings, readerSpillFolder} from '../read/crawl.ts';
import {openSegments} from '../selection/open.ts';
import {
  makeCandidates,
  makeDue,
  newPicks,
  pickList,
  prepareHosts,
  prepareRows,
  tablesOf,
} from '../selection/steps.ts';

/** Why a generate passed a URL over: a reason of generate, or what no row has a reason for. */
export type PassedOver = Reason | 'not_known' | 'not_due' | 'where' | 'scope';

export interface SelectionVerdict {
  readonly segment: string;
  readonly time: Date;
  readonly verdict: PassedOver;
  /** The numbers that decided. */
  readonly detail: string;
  /** The crawldb of that time is kept no more; the present one was looked at. */
  readonly present: boolean;
}

/** Selections that are evaluated again, the newest ones. */
const newestSelections = 3;

type Page = Pick<CrawlDatum, 'host_key' | 'url_key'>;

/**
 * Evaluates the last selections again for a URL that they did not take: the same steps by the rules and cut-offs kept
 * with the segment, over the manifest that they looked at. Reads the URLs of one host; holds those in memory.
 */
export async function explainSelections(
  page: Page,
  snapshot: Snapshot,
  taken: ReadonlySet<string>,
  settings: ReadSettings,
): Promise<SelectionVerdict[]> {
  const verdicts: SelectionVerdict[] = [];
  const seen = new Set<number>();
  for (const id of snapshot.segments.toReversed()) {
    const {selection} = snapshot.segment(id);
    if (selection === undefined || seen.has(selection.time)) continue;
    if (seen.size === newestSelections) break;
    seen.add(selection.time);
    if (selection.segments.some((segment) => taken.has(segment))) continue;
    // With several lists at once the last one tells: what it did not take none did
    const last = selection.segments.at(-1) ?? id;
    const cuts = snapshot.manifest.segments[last]?.selection?.cuts ?? selection.cuts;
    verdicts.push(await evaluate(page, last, {...selection, cuts}, snapshot, settings));
  }
  return verdicts;
}

async function evaluate(
  page: Page,
  segment: string,
  selection: Selection,
  present: Snapshot,
  {config, signal}: ReadSettings,
): Promise<SelectionVerdict> {
  const base = await snapshotOf(selection.base, present);
  const files: Partial<Record<TableName, readonly FileRef[]>> = {};
  for (const name of tablesOf({rules: selection, weights: selection.weights}))
    files[name] =
      name === 'fetchlist'
        ? await base.tableFiles('fetchlist', openSegments(base, selection.time, config.generate.lapse))
        : await base.files(name);
  const db = await openDatabase({
    memoryBytes: config.storage.memory,
    ...(config.storage.threads !== undefined && {threads: config.storage.threads}),
    spillDir: await readerSpillFolder(present.store.dir, config),
    signal,
  });
  try {
    const ofOne = readsOtherHosts(selection.weights) ? {} : {hosts: oneHost(page.host_key)};
    await bindTables(db, present.store, files, {asViews: true, ...ofOne, whole: true});
    const picked = await present.tableFiles('fetchlist', selection.segments.slice(0, -1));
    const verdict = await judge(db, page, selection, picked, present);
    return {segment, time: new Date(selection.time), ...verdict, present: base === present};
  } finally {
    await db.close();
  }
}

async function snapshotOf(number: number, present: Snapshot): Promise<Snapshot> {
  try {
    return await present.store.at(number);
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'MANIFEST_INVALID') return present;
    throw error;
  }
}

type Verdict = Pick<SelectionVerdict, 'verdict' | 'detail'>;

async function judge(
  db: Database,
  page: Page,
  selection: Selection,
  earlier: readonly FileRef[],
  present: Snapshot,
): Promise<Verdict> {
  const {hosts, weights, time: now} = selection;
  const ofHost = `(SELECT * FROM crawldb WHERE host_key = ${page.host_key}::UBIGINT)`;
  const input = {now, rules: selection, hosts, weights};
  await prepareRows(db, input, ofHost);
  const here = `host_key = ${page.host_key}::UBIGINT AND url_key = ${page.url_key}::UBIGINT`;
  const has = async (table: string) =>
    (await db.all(`SELECT 1 FROM ${table} WHERE ${here} LIMIT 1`)).length > 0;
  const [row] = await db.all<Pick<CrawlDatum, 'next_fetch_time' | 'status'>>(
    `SELECT next_fetch_time, status FROM valued WHERE ${here}`,
  );
  if (row === undefined) return {verdict: 'not_known', detail: 'it was not in the crawldb'};
  if (!(await has('wanted'))) return {verdict: 'where', detail: `it did not meet ${selection.where}`};
  if (await has('locked')) return {verdict: 'open_segment', detail: 'an open segment held it'};
  if (row.status === 'orphan') return {verdict: 'orphan', detail: 'no page linked to it any more'};
  if (!selection.force && row.next_fetch_time.getTime() > selection.due)
    return {verdict: 'not_due', detail: `it was due ${row.next_fetch_time.toISOString()}`};
  const named = `SELECT DISTINCT host_key, url_host_name FROM ${ofHost}`;
  const {due} = await prepareHosts(db, input, named);
  await makeDue(db, due);
  const [found] = await db.all<{reason: Reason | null; cap: number}>(
    `SELECT reason, cap FROM due WHERE ${here}`,
  );
  if (found === undefined) return {verdict: 'not_due', detail: 'it was not due'};
  if (found.reason === 'low_yield')
    return {verdict: 'low_yield', detail: 'others of its folder come first, whose last pages brought little'};
  if (found.reason !== null) return {verdict: found.reason, detail: 'so was all of its host'};
  await makeCandidates(db, {rules: selection, hosts});
  if (!(await has('candidate')))
    return {verdict: 'budget', detail: 'others of its host come first for what the budget has left'};
  await newPicks(db);
  await takeEarlier(db, earlier, present);
  await pickList(db, {...selection, maxPerDomain: null, maxPerSeed: null}, 1);
  const [ranked] = await db.all<{share: string; refetch: boolean; standing: number; nth: number}>(
    `SELECT share, refetch, standing, nth::BIGINT AS nth FROM ranked WHERE ${here}`,
  );
  if (ranked === undefined)
    return {verdict: 'host_limit', detail: `its host got ${found.cap}, and others of it come first`};
  return beyondHost(ranked, selection);
}

/** What the lists before had of the host. */
async function takeEarlier(db: Database, files: readonly FileRef[], {store}: Snapshot): Promise<void> {
  if (files.length === 0) return;
  await bindTables(db, store, {fetchlist: files}, {asViews: true});
  await db.run(`INSERT INTO picked (part, rank, host_key, url_key)
    SELECT 0, rank, host_key, url_key FROM fetchlist SEMI JOIN candidate USING (host_key, url_key)`);
}

/** The cut-off of its queue, or what else kept it out. */
function beyondHost(
  {share, refetch, standing, nth}: {share: string; refetch: boolean; standing: number; nth: number},
  {cuts, maxPerDomain, maxPerSeed, topN}: Selection,
): Verdict {
  const cut: CutOff | undefined = cuts.find((one) => one.group === share && one.refetch === refetch);
  const kind = `${refetch ? 'known' : 'new'} URLs${share === '*' ? '' : ` of ${share}`}`;
  const behind =
    cut !== undefined && (standing < cut.standing || (standing === cut.standing && nth >= cut.nth));
  if (behind)
    return {
      verdict: 'list_full',
      detail: `it stood at ${standing}, place ${nth} in its host; of the ${kind} the last one taken stood at ${cut.standing}, place ${cut.nth}`,
    };
  if (cut === undefined && cuts.length > 0)
    return {verdict: 'list_full', detail: `the list of ${topN} had no place for ${kind}`};
  if (maxPerDomain !== null)
    return {verdict: 'domain_limit', detail: `its domain got ${maxPerDomain}, and others of it come first`};
  if (maxPerSeed !== null)
    return {verdict: 'seed_limit', detail: `its seed got ${maxPerSeed}, and others of it come first`};
  return {
    verdict: 'scope',
    detail: 'nothing else was against it, so the scope of that time refused it',
  };
}
