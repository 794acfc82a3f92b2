import type {Config} from '../config/settings.ts';
import {goneSchedule, type HostWaits, hostRetryTime, retryTime} from '../schedule/failure.ts';
import type {LimitsOf} from '../schedule/rules.ts';
import type {Next, Schedule, Visit} from '../schedule/schedule.ts';
import type {CrawlDatum} from '../schema/crawldb.ts';
import type {Capture} from '../schema/fetch.ts';
import type {ParseRow} from '../schema/parse.ts';
import {effectOf, isOverload, reasonClass} from './effect.ts';
import {forgetHistory} from './row.ts';
import {afterRedirect, afterVisit, scheduledFrom} from './visit.ts';

/**
 * The state machine of updatedb (Nutch: CrawlDbReducer): a row and an outcome give the row after it. Nutch's
 * faults are not in it: a retry does not wipe what is known of the last success, no interval wipes anything, retries
 * do not overflow, a redirect's or failure's signature is never compared.
 */
export type ParseFacts = Pick<
  ParseRow,
  'status' | 'reason' | 'signature' | 'text_signature' | 'simhash' | 'canonical_url'
>;

export interface Outcome
  extends Pick<
    Capture,
    | 'segment'
    | 'status'
    | 'reason'
    | 'fetch_time'
    | 'fetch_status'
    | 'fetch_redirect'
    | 'content_digest'
    | 'content_segment'
    | 'etag'
    | 'last_modified'
  > {
  /** Media type of the answer; absent or null where there is none. */
  readonly content_mime_type?: string | null;
  /** Null where the capture was not parsed. */
  readonly parse: ParseFacts | null;
  /** When the host may be asked next, by hoststate. */
  readonly host_allowed: Date | null;
}

export interface TransitionPolicy {
  readonly schedule: Schedule;
  /** Time of the job, ms since the epoch: no visit counts as later than that. */
  readonly now?: number;
  /** Bounds of one page; those of the schedule where absent. */
  readonly limitsOf?: LimitsOf;
  readonly config: Pick<
    Config['schedule'],
    'gone' | 'max_retries' | 'retry' | 'refused' | 'redirect' | 'duplicate' | 'importance' | 'min_change_bits'
  >;
  readonly waits: HostWaits;
}

/** The row after the outcome; the same object where nothing changed. */
export function applyOutcome(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  switch (effectOf(outcome.status, outcome.reason)) {
    case 'success':
      return success(row, outcome, policy);
    case 'unchanged':
      return notModified(row, outcome, policy);
    case 'redirect':
      return redirect(row, outcome, policy);
    case 'gone':
      return gone(fetched(row, outcome), outcome, policy);
    case 'refused':
      return refused(row, outcome, policy);
    case 'url_failure':
      return urlFailure(row, outcome, policy);
    case 'host_failure':
      return hostFailure(row, outcome, policy);
    case 'nothing':
      return row;
  }
}

function success(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  const {parse} = outcome;
  const change = changeOf(row, outcome);
  const failed = parse?.status === 'failed';
  // Without a parse the signatures of equal bytes are still right; those of others are not known.
  const kept = parse === null && change === 'unmodified' ? row : null;
  return {
    ...fetched(row, outcome),
    ...afterVisit(row, outcome, policy),
    status: failed ? 'parse_failed' : change === 'unmodified' ? 'notmodified' : 'fetched',
    reason: failed ? parse.reason : null,
    retries: 0,
    last_success_time: outcome.fetch_time,
    last_success_segment: outcome.content_segment === null ? row.last_success_segment : outcome.segment,
    modified_time: change === 'modified' ? outcome.fetch_time : (row.modified_time ?? outcome.fetch_time),
    content_digest: outcome.content_digest,
    ...signatures(parse ?? kept),
    etag: outcome.etag,
    last_modified: outcome.last_modified,
    visits: row.visits + 1,
    changes: row.changes + (change === 'modified' ? 1 : 0),
    duplicate_of: null,
  };
}

/** Signatures decide; equal payloads are equal without them; unequal ones may be coded differently only. */
function changeOf(row: CrawlDatum, outcome: Outcome): Visit['change'] {
  const signature = outcome.parse?.signature ?? null;
  if (signature !== null && row.signature !== null)
    return Buffer.compare(signature, row.signature) === 0 ? 'unmodified' : 'modified';
  return row.content_digest !== null && row.content_digest === outcome.content_digest
    ? 'unmodified'
    : 'unknown';
}

function signatures(
  facts: Pick<ParseFacts, 'signature' | 'text_signature' | 'simhash' | 'canonical_url'> | null,
): Pick<CrawlDatum, 'signature' | 'text_signature' | 'simhash' | 'canonical_url'> {
  return {
    signature: facts?.signature ?? null,
    text_signature: facts?.text_signature ?? null,
    simhash: facts?.simhash ?? null,
    canonical_url: facts?.canonical_url ?? null,
  };
}

/** The server says that the copy we hold is the present one. */
function notModified(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  const parseFailed = row.status === 'parse_failed';
  return {
    ...fetched(row, outcome),
    ...afterVisit(row, outcome, policy),
    status: parseFailed ? 'parse_failed' : 'notmodified',
    reason: parseFailed ? row.reason : null,
    retries: 0,
    last_success_time: outcome.fetch_time,
    modified_time: row.modified_time ?? outcome.fetch_time,
    etag: outcome.etag ?? row.etag,
    last_modified: outcome.last_modified ?? row.last_modified,
    visits: row.visits + 1,
    duplicate_of: null,
  };
}

function redirect(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  return {
    ...fetched(row, outcome),
    ...afterRedirect(row, outcome, policy),
    status: outcome.status === 'redir_perm' ? 'redir_perm' : 'redir_temp',
    retries: 0,
    duplicate_of: null,
  };
}

/** A row that has the facts of the fetch already, made gone. */
function gone(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  const visit = {
    fetchTime: scheduledFrom(outcome, policy),
    intervalS: row.fetch_interval_s,
    fixed: row.fixed_interval,
  };
  return {
    ...row,
    ...next(goneSchedule(visit, policy.schedule.bounds, policy.config.gone)),
    status: 'gone',
    duplicate_of: null,
    hinted_time: null,
  };
}

/** Nobody failed: it may not be asked for. Nothing was fetched unless there was an answer. */
function refused(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  const base = outcome.fetch_status === null ? {...row, ...updated(row, outcome)} : fetched(row, outcome);
  return {
    ...base,
    status: 'gone',
    reason: outcome.reason,
    next_fetch_time: new Date(scheduledFrom(outcome, policy) + policy.config.refused),
    duplicate_of: null,
  };
}

function urlFailure(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  const retries = row.retries + 1;
  const failed = {...fetched(row, outcome), retries};
  if (retries >= policy.config.max_retries) return {...gone(failed, outcome, policy), reason: 'retry_limit'};
  const due = retryTime(
    scheduledFrom(outcome, policy),
    retries,
    policy.config.retry,
    policy.schedule.bounds.maxS,
  );
  return {...failed, next_fetch_time: new Date(due)};
}

function hostFailure(row: CrawlDatum, outcome: Outcome, policy: TransitionPolicy): CrawlDatum {
  const last = reasonClass(row.reason) === 'host' ? row.fetch_time : null;
  const due = hostRetryTime({
    fetchTime: scheduledFrom(outcome, policy),
    overloaded: isOverload(outcome.reason),
    hostAllowed: outcome.host_allowed?.getTime() ?? null,
    lastWait: last === null ? null : row.next_fetch_time.getTime() - last.getTime(),
    waits: policy.waits,
  });
  return {...fetched(row, outcome), next_fetch_time: new Date(due)};
}

/** What every answer and every failure at the URL writes. */
function fetched(row: CrawlDatum, outcome: Outcome): CrawlDatum {
  return {
    ...row,
    ...updated(row, outcome),
    reason: outcome.reason,
    fetch_time: outcome.fetch_time,
    fetch_segment: outcome.segment,
    fetch_status: outcome.fetch_status,
    fetch_redirect: outcome.fetch_redirect,
  };
}

function updated(row: CrawlDatum, outcome: Outcome): Pick<CrawlDatum, 'updated_segment'> {
  const newest = row.updated_segment;
  return {updated_segment: newest !== null && newest > outcome.segment ? newest : outcome.segment};
}

function next({intervalS, nextFetchTime}: Next): Pick<CrawlDatum, 'fetch_interval_s' | 'next_fetch_time'> {
  return {fetch_interval_s: intervalS, next_fetch_time: new Date(nextFetchTime)};
}

/** All outcomes given, in order of time, whatever order they come in. */
export function applyOutcomes(
  row: CrawlDatum,
  outcomes: readonly Outcome[],
  policy: TransitionPolicy,
): CrawlDatum {
  return outcomes
    .toSorted((a, b) => a.fetch_time.getTime() - b.fetch_time.getTime() || compare(a.segment, b.segment))
    .reduce((before, outcome) => applyOutcome(before, outcome, policy), row);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A segment that comes late, with outcomes older than what the row holds: the row is made anew from all its
 * outcomes. Where those applied before are not all kept, so that they tell of another state than the row has, its history
 * is frozen: outcomes newer than all that it holds are applied, older ones are left out, and the row says so.
 *
 * @param applied kept outcomes that the row holds already
 * @param coming those that come now
 */
export function replayOutcomes(
  row: CrawlDatum,
  applied: readonly Outcome[],
  coming: readonly Outcome[],
  policy: TransitionPolicy,
): CrawlDatum {
  const start = forgetHistory(row, policy.schedule.bounds.firstS);
  if (tellsAll(applyOutcomes(start, applied, policy), row))
    return applyOutcomes(start, [...applied, ...coming], policy);
  const held = row.fetch_time?.getTime() ?? Number.NEGATIVE_INFINITY;
  const newer = coming.filter(({fetch_time}) => fetch_time.getTime() > held);
  const after = applyOutcomes(row, newer, policy);
  return newer.length === coming.length || after.history_frozen === true
    ? after
    : {...after, history_frozen: true};
}

/**
 * Whether kept outcomes come to what the row holds. Only what outcomes alone decide is compared: times to come follow
 * scores and settings as well, duplicates other pages.
 */
function tellsAll(told: CrawlDatum, row: CrawlDatum): boolean {
  return (
    told.visits >= row.visits &&
    told.retries === row.retries &&
    told.fetch_time?.getTime() === row.fetch_time?.getTime() &&
    (row.status === 'orphan' || standing(told) === standing(row))
  );
}

function standing({status}: CrawlDatum): string {
  return ['fetched', 'notmodified', 'duplicate', 'parse_failed'].includes(status) ? 'page' : status;
}

/** Another parse of the capture that the row holds: its signatures take the place of the old; fetch facts stay. */
export function applyReparse(row: CrawlDatum, segment: string, parse: ParseFacts): CrawlDatum {
  if (row.last_success_segment !== segment) return row;
  const held = ['fetched', 'notmodified', 'duplicate', 'parse_failed'].includes(row.status);
  if (!held) return {...row, ...signatures(parse)};
  if (parse.status === 'failed')
    return {...row, ...signatures(parse), status: 'parse_failed', reason: parse.reason, duplicate_of: null};
  return {
    ...row,
    ...signatures(parse),
    ...(row.status === 'parse_failed' ? {status: 'fetched', reason: null} : {}),
  };
}
