import {effectOf, reasonClass} from '../../lib/crawldb/effect.ts';
import {newRow} from '../../lib/crawldb/row.ts';
import {
  applyOutcomes,
  applyReparse,
  type Outcome,
  type ParseFacts,
  replayOutcomes,
} from '../../lib/crawldb/transition.ts';
import {type CrawlDatum, crawldb} from '../../lib/schema/crawldb.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import type {ParseRow} from '../../lib/schema/parse.ts';
import type {Reason} from '../../lib/schema/reason.ts';
import type {Stay} from '../../lib/scope/scope.ts';
import {identify} from '../../lib/url/keys.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {readSql} from '../runner/sql-file.ts';
import {charge, replaceChanged, type SegmentMode, type Update} from './step.ts';

const sql = readSql(import.meta.url, './fold.sql', [
  'outcomes',
  'late',
  'origins',
  'batch',
  'old_batch',
  'current',
  'reparsed',
  'reparsed_batch',
  'reparsed_rows',
]);

/** URLs whose rows and outcomes are in memory at once. */
const batchUrls = 2000;

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
  segment: {type: 'text'},
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
export async function fold(update: Update): Promise<void> {
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
    const refused: Refused[] = [];
    for (const [n, list] of outcomes) {
      const row = foldOne(update, known.get(n), list, refused);
      if (row !== null) rows.push(row);
    }
    await update.changed.insert(rows);
    await redirects.insert(
      [...outcomes.values()].flat().flatMap((outcome) => redirectOf(update, outcome, refused)),
    );
    await update.refused.insert(refused);
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
  refused: Refused[],
): CrawlDatum | null {
  const first = rows[0]!;
  const url = known?.url ?? first.url;
  const own = rows.filter((row) => row.url === url);
  for (const row of rows) if (row.url !== url) refused.push(refusedCapture(row, 'key_clash'));
  charge(update.reasons, 'key_clash', rows.length - own.length);
  const before = known ?? (update.params.additions ? discovered(update, first) : undefined);
  if (before === undefined) {
    charge(update.reasons, 'no_additions', 1);
    refused.push(refusedCapture(first, 'no_additions'));
    return null;
  }
  const outcomes = (which: (row: OutcomeRow) => boolean) => own.filter(which).map(outcomeOf);
  const isApplied = ({mode}: OutcomeRow) => mode === 'history';
  const coming = outcomes((row) => !isApplied(row));
  const after = first.late
    ? replayOutcomes(before, outcomes(isApplied), coming, update.policy)
    : applyOutcomes(before, coming, update.policy);
  return after === before ? null : after;
}

type Refused = Parameters<Update['refused']['insert']>[0][number];

function refusedCapture({segment, url, kind, origin_url}: OutcomeRow, reason: Reason): Refused {
  const {host_key, url_key, url_host_name} = identify(url);
  return {
    segment,
    host_key,
    url_key,
    url,
    url_host_name,
    from_url: kind === 'hop' ? origin_url : null,
    reason,
  };
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
function redirectOf(update: Update, row: OutcomeRow, refused: Refused[]): Record<string, unknown>[] {
  const target = row.fetch_redirect;
  if (row.mode !== 'apply' || target === null || effectOf(row.status, row.reason) !== 'redirect') return [];
  if (reasonClass(row.reason) === 'refusal') return [];
  const to = identify(target);
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
    refused.push({
      segment: row.segment,
      host_key: to.host_key,
      url_key: to.url_key,
      url: to.url,
      url_host_name: to.url_host_name,
      from_url: row.url,
      reason: 'redirect_out_of_scope',
    });
    return [];
  }
  return [
    {
      segment: row.segment,
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
export async function reparse({db, params}: Update): Promise<void> {
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
