/**
 * How long a host is left alone after an answer. Pure: times and chance come in.
 *
 * delay = max(min_delay, latency_factor × last response time, Crawl-delay, Retry-After, back-off). The clock
 * starts when the last answer ended. Every term is bounded, and the one that won is stored with the host.
 * All times here are milliseconds on one clock of the caller that never jumps and reads like the epoch.
 */
import type {Config} from '../config/settings.ts';
import {type DelayTerm, delayTerms, type HostStateRow} from '../schema/hostdb.ts';
import type {Reason} from '../schema/reason.ts';
import type {Soft404} from './soft-404.ts';

/** What is remembered of a host between two requests. Durations in milliseconds. */
export interface Politeness {
  readonly minDelayMs: number;
  readonly latencyMs: number;
  readonly crawlDelayMs: number;
  readonly retryAfterMs: number;
  readonly backoffMs: number;
  /** Failures in a row since the last good answer. */
  readonly failures: number;
  readonly lastReason: string | null;
  readonly requests: number;
  readonly dnsFailures: number;
  /** When the last answer ended; null before the first. */
  readonly lastEnd: number | null;
  /** Earliest time of the next request. */
  readonly nextAllowed: number;
}

/** An answer, or the failure to get one. */
export interface Answer {
  readonly endedAt: number;
  /** From request sent to the end of the answer; null if nothing was sent. */
  readonly tookMs: number | null;
  readonly reason: Reason | null;
  /** Retry-After as a wait; null without one. */
  readonly retryAfterMs: number | null;
}

/**
 * What an outcome says about the host.
 *
 * - `good`: it answers. A 404 or a redirect is a good answer.
 * - `throttle`: it asks for less. Rests minutes, doubling.
 * - `error`: it cannot be reached. Rests half a minute, doubling.
 * - `strain`: one page failed in a way that a host in trouble fails, too. The first is taken as the page's own
 *   fault; from the second in a row it counts as `error`.
 * - `none`: nothing was asked of it.
 */
export type Effect = 'good' | 'throttle' | 'error' | 'strain' | 'none';

const effects: Partial<Record<Reason, Effect>> = {
  http_429: 'throttle',
  http_503: 'throttle',
  challenge: 'throttle',
  dns: 'error',
  connect: 'error',
  connect_timeout: 'error',
  tls: 'error',
  timeout: 'strain',
  reset: 'strain',
  http_5xx: 'strain',
  http_malformed: 'strain',
  interrupted: 'none',
  own_network: 'none',
  address_refused: 'none',
  url_invalid: 'none',
};

export function effectOf(reason: Reason | null): Effect {
  return reason === null ? 'good' : (effects[reason] ?? 'good');
}

/** A host that was never asked. It may be asked at once. */
export function unasked(minDelayMs: number): Politeness {
  return {
    minDelayMs,
    latencyMs: 0,
    crawlDelayMs: 0,
    retryAfterMs: 0,
    backoffMs: 0,
    failures: 0,
    lastReason: null,
    requests: 0,
    dnsFailures: 0,
    lastEnd: null,
    nextAllowed: 0,
  };
}

const terms = {
  min_delay: 'minDelayMs',
  latency: 'latencyMs',
  crawl_delay: 'crawlDelayMs',
  retry_after: 'retryAfterMs',
  backoff: 'backoffMs',
} as const satisfies Record<DelayTerm, keyof Politeness>;

/** The delay that holds and the term that set it; of equal terms the first in the order of `delayTerms`. */
export function delayOf(host: Politeness): {delayMs: number; term: DelayTerm} {
  let term: DelayTerm = 'min_delay';
  for (const other of delayTerms) if (host[terms[other]] > host[terms[term]]) term = other;
  return {delayMs: host[terms[term]], term};
}

/**
 * Chance of a rest's jitter, in [0, 1): by the name of the capture, so that a fetch which goes on from a journal
 * reckons the same rest again. (FNV-1a, then the finalizer of MurmurHash3, which spreads names that differ little.)
 */
export function chanceOf(captureId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < captureId.length; i++) hash = Math.imul(hash ^ captureId.charCodeAt(i), 0x0100_0193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** The host after an answer. @param chance uniform in [0, 1), for the jitter of a rest */
export function afterAnswer(
  host: Politeness,
  answer: Answer,
  config: Config['politeness'],
  chance: number,
): Politeness {
  const effect = effectOf(answer.reason);
  if (effect === 'none') return host;
  const good = effect === 'good';
  const failures = good ? 0 : host.failures + 1;
  const latencyMs =
    answer.tookMs === null
      ? host.latencyMs
      : Math.min(config.latency_factor * answer.tookMs, config.max_latency_delay);
  const next: Politeness = {
    ...host,
    latencyMs,
    retryAfterMs: Math.min(Math.max(answer.retryAfterMs ?? 0, 0), config.max_backoff),
    backoffMs: backoff(effect, failures, config) * (1 + config.jitter * chance),
    failures,
    lastReason: good ? null : answer.reason,
    requests: host.requests + (answer.tookMs === null ? 0 : 1),
    dnsFailures: answer.reason === 'dns' ? host.dnsFailures + 1 : 0,
    lastEnd: answer.endedAt,
    nextAllowed: 0,
  };
  return {...next, nextAllowed: answer.endedAt + delayOf(next).delayMs};
}

/** Rest after the `failures`-th failure in a row, before jitter. */
function backoff(effect: Effect, failures: number, config: Config['politeness']): number {
  // Doubling stops at 2^40: by then every bound is reached, and the product stays finite.
  const doubled = (base: number, most: number, times: number) =>
    Math.min(base * 2 ** Math.min(times, 40), most);
  switch (effect) {
    case 'throttle':
      return doubled(config.backoff, config.max_backoff, failures - 1);
    case 'error':
      return doubled(config.error_backoff, config.max_error_backoff, failures - 1);
    case 'strain':
      return failures < 2 ? 0 : doubled(config.error_backoff, config.max_error_backoff, failures - 2);
    default:
      return 0;
  }
}

/**
 * The host after its robots.txt was read.
 *
 * A Crawl-delay above politeness.max_crawl_delay does not hold back the one URL that such a host gets in a
 * fetch: it holds from the answer to that URL on, and is stored.
 * @param crawlDelayMs 0 without one
 */
export function withCrawlDelay(
  host: Politeness,
  crawlDelayMs: number,
  config: Config['politeness'],
): Politeness {
  const bounded = Math.min(Math.max(crawlDelayMs, 0), Math.max(config.max_backoff, config.max_crawl_delay));
  const next = {...host, crawlDelayMs: bounded};
  if (host.lastEnd === null || bounded > config.max_crawl_delay) return next;
  return {...next, nextAllowed: Math.max(host.nextAllowed, host.lastEnd + delayOf(next).delayMs)};
}

/** The host under another least delay, as by a rule made by hand while the fetch runs. */
export function withMinDelay(host: Politeness, minDelayMs: number): Politeness {
  if (host.minDelayMs === minDelayMs) return host;
  const next = {...host, minDelayMs};
  return host.lastEnd === null ? next : {...next, nextAllowed: host.lastEnd + delayOf(next).delayMs};
}

/**
 * A host about which nothing is proven since `now`, as after a crash: it rests one full delay. A back-off or Retry-After
 * is no part of it: while one holds nothing is asked, so it ends when it would have; one that was over is not begun again.
 */
export function rested(host: Politeness, now: number): Politeness {
  const healthy = {...host, backoffMs: 0, retryAfterMs: 0};
  const nextAllowed = Math.max(host.nextAllowed, now + delayOf(healthy).delayMs);
  return {...(host.nextAllowed <= now ? healthy : host), nextAllowed};
}

/**
 * Why the host gets no more URLs in this fetch, or null.
 *
 * After politeness.max_host_failures in a row; or when its next turn is further off than a fetch waits:
 * politeness.max_rest, for a Crawl-delay politeness.max_crawl_delay.
 * @param failures failures in a row within this fetch: earlier ones make rests longer, but grant a new try
 */
export function restsBeyondFetch(
  host: Politeness,
  failures: number,
  now: number,
  config: Config['politeness'],
): string | null {
  if (failures >= config.max_host_failures)
    return `${failures} failures in a row, the last: ${host.lastReason ?? 'unknown'}`;
  const wait = host.nextAllowed - now;
  if (wait <= config.max_rest) return null;
  const {delayMs, term} = delayOf(host);
  if (term === 'crawl_delay' && delayMs <= config.max_crawl_delay) return null;
  if (term === 'min_delay' || term === 'latency') return null;
  return `next turn in ${Math.ceil(wait / 1000)} s, set by ${term}`;
}

/**
 * Least delay for a host: a rule by hand as it is; else the setting, but below one second only on loopback.
 * @param loopback every address of the host is a loopback address
 */
export function minDelay(config: Config['politeness'], rule: number | null, loopback: boolean): number {
  if (rule !== null) return rule;
  // One second: DESIGN's floor for machines that are not our own.
  return loopback ? config.min_delay : Math.max(config.min_delay, 1000);
}

/**
 * The host as it was stored. A next turn further off than any delay can be (a clock that was wrong) is
 * brought down to the longest delay.
 */
export function fromHostState(row: HostStateRow, now: number, config: Config['politeness']): Politeness {
  const longest = Math.max(config.max_backoff * (1 + config.jitter), row.delay_ms);
  return {
    minDelayMs: row.min_delay_ms,
    latencyMs: row.latency_ms,
    crawlDelayMs: row.crawl_delay_ms,
    retryAfterMs: row.retry_after_ms,
    backoffMs: row.backoff_ms,
    failures: row.failures,
    lastReason: row.last_reason,
    requests: row.requests,
    dnsFailures: row.dns_failures,
    lastEnd: row.last_response_time?.getTime() ?? null,
    nextAllowed: Math.min(row.next_allowed_time.getTime(), now + longest),
  };
}

export function toHostState(
  host: Politeness,
  who: {hostKey: bigint; hostName: string; segment: string; soft404: Soft404 | null},
): HostStateRow {
  const {delayMs, term} = delayOf(host);
  return {
    host_key: who.hostKey,
    url_host_name: who.hostName,
    next_allowed_time: new Date(Math.ceil(host.nextAllowed)),
    last_response_time: host.lastEnd === null ? null : new Date(Math.round(host.lastEnd)),
    delay_ms: delayMs,
    delay_term: term,
    min_delay_ms: host.minDelayMs,
    latency_ms: host.latencyMs,
    crawl_delay_ms: host.crawlDelayMs,
    retry_after_ms: host.retryAfterMs,
    backoff_ms: host.backoffMs,
    failures: host.failures,
    last_reason: host.lastReason,
    requests: host.requests,
    dns_failures: host.dnsFailures,
    updated_segment: who.segment,
    soft_404_time: who.soft404 === null ? null : new Date(Math.round(who.soft404.askedAt)),
    soft_404_signature: who.soft404?.signature ?? null,
  };
}
