import type {Counters} from '../counters.ts';
import type {Reason} from '../schema/reason.ts';
import type {FetchStatus} from '../schema/status.ts';
import type {FetchHost} from './hosts.ts';
import type {Outcome} from './outcome.ts';
import type {WorkItem} from './worklist.ts';

const counterOf = {
  success: 'pages_fetched_total',
  notmodified: 'pages_notmodified_total',
  redir_temp: 'pages_redirected_total',
  redir_perm: 'pages_redirected_total',
  gone: 'pages_gone_total',
  retry: 'pages_retry_total',
  skipped: 'pages_skipped_total',
} as const satisfies Record<FetchStatus, keyof Counters>;

/** Counts for the report of a fetch: URLs of the fetchlist by outcome and reason, requests and bytes of all. */
export class FetchTally {
  readonly counters: Counters = {};
  readonly reasons: Partial<Record<Reason, number>> = {};

  asked(kind: WorkItem['kind']): void {
    this.#add('requests_total', 1);
    if (kind === 'robots') this.#add('robots_requests_total', 1);
  }

  answered(host: FetchHost, kind: WorkItem['kind'], outcome: Outcome, bytes: number): void {
    this.#add('body_bytes_total', bytes);
    this.unasked(host, kind, outcome);
  }

  unasked(host: FetchHost, kind: WorkItem['kind'], outcome: Outcome): void {
    if (kind !== 'page' && kind !== 'sitemap') return;
    this.#add(counterOf[outcome.status], 1);
    if (outcome.reason === null) return;
    host.reasons ??= {};
    for (const reasons of [this.reasons, host.reasons])
      reasons[outcome.reason] = (reasons[outcome.reason] ?? 0) + 1;
  }

  #add(name: keyof Counters, amount: number): void {
    this.counters[name] = (this.counters[name] ?? 0) + amount;
  }
}
