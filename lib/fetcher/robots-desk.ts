/**
 * What robots.txt says, origin by origin: what is known, what has to be asked first, what has changed.
 * Holds one row an origin of the fetch, and its parsed rules while they are needed.
 */
import type {Config} from '../config/settings.ts';
import {decodeBody} from '../parse/body.ts';
import {isDue, rulesOfRow, verdictOf} from '../robots/from-response.ts';
import {isAllowed, type RobotsRules} from '../robots/match.ts';
import type {RobotsRow} from '../schema/hostdb.ts';
import {type Reason, reasonNames} from '../schema/reason.ts';
import type {Outcome} from './outcome.ts';

/** A robots.txt that was asked for, or why it could not be. */
export interface RobotsAnswer {
  readonly status: number | null;
  readonly reason: Reason | null;
  /** As received. */
  readonly body: Uint8Array | null;
  readonly contentEncoding: string | null;
  readonly truncated: boolean;
  readonly retryAfterMs: number | null;
  readonly now: number;
}

interface Origin {
  row: RobotsRow | undefined;
  rules: RobotsRules | undefined;
  /** Where the request for it is: in a queue, or under way. */
  asked: 'no' | 'queued' | 'sent';
  changed: boolean;
  readonly hostKey: bigint;
}

export class RobotsDesk {
  readonly #config: Config['robots'];
  readonly #productToken: string;
  readonly #origins = new Map<string, Origin>();

  constructor(config: Config['robots'], productToken: string) {
    this.#config = config;
    this.#productToken = productToken;
  }

  /** Takes over what an earlier fetch stored. */
  load(row: RobotsRow): void {
    this.#origins.set(row.origin, {
      row,
      rules: undefined,
      asked: 'no',
      changed: false,
      hostKey: row.host_key,
    });
  }

  /** True: robots.txt has to be asked for before anything else of the origin. */
  isDue(origin: string, now: number): boolean {
    return isDue(this.#origins.get(origin)?.row, now, this.#config);
  }

  /** Where the request for it is. */
  askedState(origin: string): Origin['asked'] {
    return this.#origins.get(origin)?.asked ?? 'no';
  }

  setAsked(origin: string, hostKey: bigint, asked: Origin['asked']): void {
    const known = this.#origins.get(origin);
    if (known) known.asked = asked;
    else this.#origins.set(origin, {row: undefined, rules: undefined, asked, changed: false, hostKey});
  }

  /** What the answer makes of the origin. */
  settle(origin: string, hostKey: bigint, answer: RobotsAnswer): RobotsRow {
    const previous = this.#origins.get(origin)?.row;
    const body = answer.body === null ? null : this.#decode(answer.body, answer.contentEncoding);
    const row = verdictOf(
      {
        origin,
        host_key: hostKey,
        status: answer.status,
        reason: answer.reason,
        body: body?.bytes ?? null,
        truncated: answer.truncated || body?.truncated === true,
        previous,
        now: answer.now,
        retryAfterMs: answer.retryAfterMs,
        productToken: this.#productToken,
      },
      this.#config,
    );
    this.#origins.set(origin, {row, rules: undefined, asked: 'no', changed: true, hostKey});
    return row;
  }

  /** Nothing may be asked of the origin. Only while robots.txt is not due. */
  deniesAll(origin: string): boolean {
    return this.#origins.get(origin)?.row?.verdict === 'deny_all';
  }

  /** Crawl-delay of the origin in ms; 0 without one. */
  crawlDelayMs(origin: string): number {
    return (this.#origins.get(origin)?.row?.crawl_delay_s ?? 0) * 1000;
  }

  /** Why the URL may not be asked for, or null. Only while robots.txt is not due. */
  refusal(origin: string, url: string): (Outcome & {readonly detail: string}) | null {
    const known = this.#origins.get(origin);
    if (!known?.row) throw new TypeError(`robots.txt of ${origin} is not known`);
    if (known.row.verdict === 'deny_all') return unreachable(known.row);
    known.rules ??= rulesOfRow(known.row, this.#productToken, this.#config);
    const {allowed, line, rule} = isAllowed(known.rules, url);
    if (allowed) return null;
    return {status: 'gone', reason: 'robots_denied', detail: `line ${line}: ${rule}`};
  }

  /** Forgets the parsed rules, which can be made again. */
  forgetRules(origin: string): void {
    const known = this.#origins.get(origin);
    if (known) known.rules = undefined;
  }

  /** Rows that this fetch has made. */
  *changed(): Generator<RobotsRow> {
    for (const {row, changed} of this.#origins.values()) if (changed && row) yield row;
  }

  #decode(payload: Uint8Array, encoding: string | null): {bytes: Uint8Array; truncated: boolean} {
    const most = this.#config.max_size;
    // 200: as parse.max_ratio by default; nothing that is read of a robots.txt expands more.
    const decoded = decodeBody(payload, encoding, {maxBytes: most + 1, maxRatio: 200});
    return {bytes: decoded.bytes, truncated: decoded.truncated};
  }
}

/** Failures that say the host cannot be reached at all: URLs carry them by their own name. */
const ofTheHost: ReadonlySet<string> = new Set([
  'dns',
  'connect',
  'connect_timeout',
  'tls',
  'address_refused',
]);

function unreachable(row: RobotsRow): Outcome & {readonly detail: string} {
  const known = reasonNames.find((name) => name === row.reason);
  const why = row.reason ?? (row.fetch_status === null ? 'no answer' : `status ${row.fetch_status}`);
  const detail = `robots.txt: ${why}; asked again after ${row.expires_time.toISOString()}`;
  if (known === 'address_refused') return {status: 'gone', reason: known, detail};
  if (known && ofTheHost.has(known)) return {status: 'retry', reason: known, detail};
  return {status: 'retry', reason: 'robots_unreachable', detail};
}
