import {type Reason, reasonFacts} from '../schema/reason.ts';
import type {FetchStatus} from '../schema/status.ts';

/**
 * What an outcome does to the row of its URL:
 * - `success`: fetched or notmodified, by comparison of signatures; retries 0; next by schedule
 * - `unchanged`: a 304: notmodified, next by schedule
 * - `redirect`: redir_temp or redir_perm, next by schedule
 * - `gone`: gone, seen again by the gone schedule
 * - `refused`: gone with the reason, looked at again after schedule.refused; no failure of the URL
 * - `url_failure`: the last success is kept, retries + 1, gone after the limit
 * - `host_failure`: retries unchanged, due when the host may be asked
 * - `nothing`: unlocked, else as it was
 */
export type Effect =
  | 'success'
  | 'unchanged'
  | 'redirect'
  | 'gone'
  | 'refused'
  | 'url_failure'
  | 'host_failure'
  | 'nothing';

/** Classes of reasons: none given, whom it is charged to, or a refusal (robots.txt, scope, address). */
export type ReasonClass = 'none' | 'url' | 'host' | 'nobody' | 'refusal';

/**
 * The state machine's first half. No entry leaves a URL due at once for ever: a failure that is charged to nobody
 * waits like one of the host; only `skipped` changes nothing, and the fetch or generate that skipped it has a rest,
 * a window or a budget of its own.
 */
export const effects: Readonly<Record<FetchStatus, Readonly<Record<ReasonClass, Effect>>>> = {
  success: {none: 'success', url: 'success', host: 'success', nobody: 'success', refusal: 'success'},
  notmodified: {
    none: 'unchanged',
    url: 'unchanged',
    host: 'unchanged',
    nobody: 'unchanged',
    refusal: 'unchanged',
  },
  redir_temp: {
    none: 'redirect',
    url: 'redirect',
    host: 'redirect',
    nobody: 'redirect',
    refusal: 'redirect',
  },
  redir_perm: {
    none: 'redirect',
    url: 'redirect',
    host: 'redirect',
    nobody: 'redirect',
    refusal: 'redirect',
  },
  gone: {none: 'gone', url: 'gone', host: 'gone', nobody: 'gone', refusal: 'refused'},
  retry: {
    none: 'url_failure',
    url: 'url_failure',
    host: 'host_failure',
    nobody: 'host_failure',
    refusal: 'refused',
  },
  skipped: {none: 'nothing', url: 'nothing', host: 'nothing', nobody: 'nothing', refusal: 'refused'},
};

export function reasonClass(reason: Reason | null): ReasonClass {
  if (reason === null) return 'none';
  const {by, charge} = reasonFacts(reason);
  if (charge !== 'nobody') return charge;
  const refusal = by === 'robots' || by === 'scope' || by === 'url' || reason === 'address_refused';
  return refusal ? 'refusal' : 'nobody';
}

export function effectOf(status: FetchStatus, reason: Reason | null): Effect {
  return effects[status][reasonClass(reason)];
}

/** The host itself said that it has too much to do: it rests longer (politeness.backoff). */
export function isOverload(reason: Reason | null): boolean {
  return (
    reason === 'http_429' ||
    reason === 'http_503' ||
    reason === 'challenge' ||
    reason === 'robots_unreachable' // robots.txt itself is not asked for again before
  );
}
