import {changeRate} from '../schedule/change-rate.ts';
import {duplicateSchedule} from '../schedule/duplicate.ts';
import {evidenceOf} from '../schedule/evidence.ts';
import {importanceOf} from '../schedule/importance.ts';
import {redirectSchedule} from '../schedule/redirect.ts';
import type {PageLimits} from '../schedule/rules.ts';
import type {Next, Visit} from '../schedule/schedule.ts';
import {addVisit, readHistory} from '../schedule/visit-history.ts';
import type {CrawlDatum} from '../schema/crawldb.ts';
import type {Outcome, TransitionPolicy} from './transition.ts';

/** What a visit that got an answer makes of the columns that the schedule reads and writes. */
type ScheduleColumns = Pick<
  CrawlDatum,
  | 'fetch_interval_s'
  | 'next_fetch_time'
  | 'visit_history'
  | 'change_rate'
  | 'hinted_time'
  | 'hints_followed'
  | 'hints_right'
>;

const dayS = 86_400;

/** After a success or a 304. */
export function afterVisit(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): ScheduleColumns {
  const {schedule, config} = policy;
  const change = outcome.status === 'notmodified' ? 'unmodified' : evidence(row, outcome, policy);
  const history = historyAfter(row, outcome, change);
  const rate = changeRate(readHistory(history));
  const visit: Visit = {
    ...basics(row, outcome, policy),
    change,
    modifiedTime: row.modified_time?.getTime() ?? null,
    history,
    weight: importanceOf(row.score, config.importance),
    bounds: limitsOf(row, outcome, policy).bounds,
  };
  const next = schedule.visited(visit);
  const repeats = row.status === 'duplicate' && change === 'unmodified';
  const longer = repeats
    ? duplicateSchedule(visit, next.intervalS, visit.bounds ?? schedule.bounds, config.duplicate)
    : next;
  return {
    ...columnsOf(longer),
    visit_history: history,
    change_rate: rate === null ? null : rate * dayS,
    ...hintsAfter(row, change),
  };
}

/** After a redirect, of which nothing can be compared but where it leads. */
export function afterRedirect(
  row: CrawlDatum,
  outcome: Outcome,
  policy: TransitionPolicy,
): Pick<ScheduleColumns, 'fetch_interval_s' | 'next_fetch_time' | 'hinted_time'> {
  const how = {
    permanent: outcome.status === 'redir_perm',
    sameTarget: row.status === 'redir_perm' && row.fetch_redirect === outcome.fetch_redirect,
  };
  const {bounds} = limitsOf(row, outcome, policy);
  const next = redirectSchedule(basics(row, outcome, policy), how, bounds, policy.config.redirect);
  return {...columnsOf(next), hinted_time: null};
}

function evidence(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): Visit['change'] {
  const {parse, content_digest} = outcome;
  const now = {
    signature: parse?.signature ?? null,
    text_signature: parse?.text_signature ?? null,
    simhash: parse?.simhash ?? null,
    content_digest,
  };
  return evidenceOf(row, now, policy.config.min_change_bits);
}

function historyAfter(row: CrawlDatum, outcome: Outcome, change: Visit['change']): Uint8Array | null {
  if (change === 'unknown' || row.last_success_time === null) return row.visit_history;
  const intervalS = (outcome.fetch_time.getTime() - row.last_success_time.getTime()) / 1000;
  return addVisit(row.visit_history, {intervalS, changed: change === 'modified'});
}

/** A visit that a hint brought on says what that hint was worth. */
function hintsAfter(
  row: CrawlDatum,
  change: Visit['change'],
): Pick<ScheduleColumns, 'hinted_time' | 'hints_followed' | 'hints_right'> {
  const {hints_followed, hints_right} = row;
  if (row.hinted_time === null || change === 'unknown')
    return {hinted_time: null, hints_followed, hints_right};
  return {
    hinted_time: null,
    hints_followed: (hints_followed ?? 0) + 1,
    hints_right: (hints_right ?? 0) + (change === 'modified' ? 1 : 0),
  };
}

function limitsOf(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): PageLimits {
  const page = {url: row.url, type: outcome.content_mime_type ?? null};
  return policy.limitsOf?.(page) ?? {bounds: policy.schedule.bounds, everyS: null};
}

/** When it was and what interval it had. A rule's fixed interval stands behind one of the row's own. */
function basics(
  row: CrawlDatum,
  outcome: Outcome,
  policy: TransitionPolicy,
): Pick<Visit, 'fetchTime' | 'intervalS' | 'fixed'> {
  const {everyS} = limitsOf(row, outcome, policy);
  const fixedByRule = !row.fixed_interval && everyS !== null;
  return {
    fetchTime: scheduledFrom(outcome, policy),
    intervalS: fixedByRule ? everyS : row.fetch_interval_s,
    fixed: row.fixed_interval || fixedByRule,
  };
}

/**
 * Time from which the next visit is counted. A fetch that ended later than it is now had a clock that ran ahead, and would
 * put its pages off for as long as that.
 */
export function scheduledFrom({fetch_time}: Pick<Outcome, 'fetch_time'>, {now}: TransitionPolicy): number {
  return Math.min(fetch_time.getTime(), now ?? Number.POSITIVE_INFINITY);
}

function columnsOf({
  intervalS,
  nextFetchTime,
}: Next): Pick<CrawlDatum, 'fetch_interval_s' | 'next_fetch_time'> {
  return {fetch_interval_s: intervalS, next_fetch_time: new Date(nextFetchTime)};
}
