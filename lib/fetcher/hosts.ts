/**
 * The hosts of a fetch: each with its queue, its politeness and its budget. About 500 bytes a host. Those are the hosts
 * of its list, those of which something is known and to which redirects may lead, and those that it came to. Of others,
 * to which a robots.txt may be redirected, the stored states are kept that ask for more than the usual delay.
 */
import type {Config} from '../config/settings.ts';
import type {HostStateRow} from '../schema/hostdb.ts';
import type {Reason} from '../schema/reason.ts';
import {registeredDomain} from '../url/host.ts';
import {
  type Answer,
  afterAnswer,
  effectOf,
  fromHostState,
  minDelay,
  type Politeness,
  rested,
  restsBeyondFetch,
  unasked,
  withMinDelay,
} from './delay.ts';
import {type HeldRule, type HostRule, HostRules} from './host-rules.ts';
import {type Hours, hoursOf} from './hours.ts';
import type {FetchQueues, HostQueue} from './queues.ts';
import {RateLimit} from './rate.ts';
import type {Soft404} from './soft-404.ts';

export interface FetchHost {
  readonly name: string;
  readonly domain: string;
  readonly hostKey: bigint;
  readonly queue: HostQueue;
  politeness: Politeness;
  /** End of the last answer that the state of an earlier fetch counts, in whole ms; null without such a state. */
  storedEnd: number | null;
  /** Successful pages ever, for budget.max_pages_per_host. */
  pages: number;
  /** Its URLs of the fetchlist that ended with a reason; null: none. */
  reasons: Partial<Record<Reason, number>> | null;
  /** Failures in a row within this fetch. */
  failuresHere: number;
  /** Something was asked of it, so its state is to be written. */
  changed: boolean;
  /** Its address is known, and with it the least delay. */
  resolved: boolean;
  /** When it was last looked up. */
  lookedUp: number;
  loopback: boolean;
  rule: HeldRule | null;
  /** Its own limits of requests and bytes; null without any. */
  rate: RateLimit | null;
  /** Hours in which it may be asked, by a rule by hand; null: always. */
  hours: Hours | null;
  /** What it says to a random path; null: not asked. */
  soft404: Soft404 | null;
  /** A random path is queued, was asked for, or may not be, in this fetch. */
  probeSettled: boolean;
  /** Origins seen, as `https://example.org`: nearly always one. */
  origins: readonly string[];
}

/** The state of a host as an earlier fetch stored it, and what it means now. */
interface Stored {
  readonly row: HostStateRow;
  readonly politeness: Politeness;
}

export class FetchHosts {
  readonly #config: Config['politeness'];
  readonly #queues: FetchQueues;
  readonly #hosts = new Map<string, FetchHost>();
  readonly #domains = new Set<string>();
  readonly #stored = new Map<string, Stored>();
  #rules = new HostRules<HostRule>([]);
  /** Since when nothing is proven of any host; null: all that was asked is known. */
  #unprovenSince: number | null = null;

  constructor(config: Config['politeness'], queues: FetchQueues) {
    this.#config = config;
    this.#queues = queues;
  }

  get size(): number {
    return this.#hosts.size;
  }
  [Symbol.iterator](): IterableIterator<FetchHost> {
    return this.#hosts.values();
  }
  find(name: string): FetchHost | undefined {
    return this.#hosts.get(name);
  }

  /** The host of a queue. */
  of(queue: HostQueue): FetchHost {
    return this.#hosts.get(queue.name)!;
  }

  /** The host; made at first use, never asked so far. */
  host(name: string, domain: string, hostKey: bigint): FetchHost {
    const known = this.#hosts.get(name);
    if (known) return known;
    const host: FetchHost = {
      name,
      domain,
      hostKey,
      queue: this.#queues.host(name, domain),
      // Until the address is known it may be anybody's.
      politeness: unasked(minDelay(this.#config, null, false)),
      storedEnd: null,
      pages: 0,
      reasons: null,
      failuresHere: 0,
      changed: false,
      resolved: false,
      lookedUp: 0,
      loopback: false,
      rule: null,
      rate: this.#rateBy(null),
      hours: null,
      soft404: null,
      probeSettled: false,
      origins: [],
    };
    this.#hosts.set(name, host);
    const rule = this.#rules.of(name);
    if (rule !== null) this.applyRule(host, rule);
    const stored = this.#stored.get(name);
    if (stored !== undefined) this.#restore(host, stored);
    if (this.#unprovenSince !== null) this.setPoliteness(host, rested(host.politeness, this.#unprovenSince));
    return host;
  }

  /** The fetch has URLs of the registered domain: redirects may lead to any host of it. */
  addDomain(domain: string): void {
    this.#domains.add(domain);
  }

  /** Has this fetch URLs of the registered domain? Then it is this fetch that may ask its hosts. */
  hasDomain(domain: string): boolean {
    return this.#domains.has(domain);
  }

  /** The host, if this fetch may come to it: made now, so that what is known of it holds when a redirect leads there. */
  reached(name: string, hostKey: bigint): FetchHost | undefined {
    const known = this.find(name);
    if (known) return known;
    const domain = registeredDomain(name);
    return this.hasDomain(domain) ? this.host(name, domain, hostKey) : undefined;
  }

  /** Takes over the state that an earlier fetch stored. */
  restore(row: HostStateRow, now: number): void {
    const politeness = fromHostState(row, now, this.#config);
    const host = this.reached(row.url_host_name, row.host_key);
    if (host) this.#restore(host, {row, politeness});
    else if (politeness.nextAllowed > now || row.failures > 0 || row.crawl_delay_ms > 0)
      this.#stored.set(row.url_host_name, {row, politeness});
  }

  #restore(host: FetchHost, {row, politeness}: Stored): void {
    this.setPoliteness(host, politeness);
    host.storedEnd = host.politeness.lastEnd;
    if (row.soft_404_time !== null)
      host.soft404 = {askedAt: row.soft_404_time.getTime(), signature: row.soft_404_signature};
  }

  /**
   * A fetch that may have asked any host has crashed: the last second's answers are in no journal, so each host rests
   * one full delay from now on, those of which this fetch does not know yet included.
   */
  restAll(now: number): void {
    this.#unprovenSince = now;
    for (const host of this) this.setPoliteness(host, rested(host.politeness, now));
  }

  /** Sets the state of a host, and with it the time of its next turn. */
  setPoliteness(host: FetchHost, politeness: Politeness): void {
    host.politeness = politeness;
    this.#queues.allow(host.queue, politeness.nextAllowed);
  }

  /** What an answer says of the host; the time of its next turn is set apart. @param chance as for `afterAnswer` */
  learn(host: FetchHost, answer: Answer, chance: number): void {
    host.politeness = afterAnswer(host.politeness, answer, this.#config, chance);
    host.changed = true;
    const effect = effectOf(answer.reason);
    if (effect === 'good') host.failuresHere = 0;
    else if (effect !== 'none') host.failuresHere++;
  }

  setAddresses(host: FetchHost, addresses: readonly string[]): void {
    host.resolved = true;
    host.loopback = addresses.length > 0 && addresses.every(isLoopback);
    const first = [...addresses].sort()[0];
    if (first !== undefined) this.#queues.setAddress(host.queue, first);
    this.applyRule(host, host.rule);
  }

  /** Applies a rule by hand, or takes it back (null). */
  applyRule(host: FetchHost, rule: FetchHost['rule']): void {
    const before = host.rule;
    host.rule = rule;
    host.hours = rule?.hours == null ? null : hoursOf(rule.hours);
    if (before?.max_rate !== rule?.max_rate || before?.max_bandwidth !== rule?.max_bandwidth)
      host.rate = this.#rateBy(rule);
    const least = minDelay(this.#config, rule?.min_delay_ms ?? null, host.loopback);
    this.setPoliteness(host, withMinDelay(host.politeness, least));
    host.queue.spacingMs = least;
    this.#queues.setMaxActive(host.queue, Math.max(1, rule?.max_connections ?? this.#config.max_per_host));
  }

  /** Applies all rules by hand, to the hosts that are there and to those that come: what is not among them holds no more. */
  applyRules(rules: readonly HostRule[]): void {
    this.#rules = new HostRules(rules);
    for (const host of this) {
      const rule = this.#rules.of(host.name);
      if (rule !== null || host.rule !== null) this.applyRule(host, rule);
    }
  }

  #rateBy(rule: FetchHost['rule']): RateLimit | null {
    const requests = rule?.max_rate ?? this.#config.max_rate_per_host ?? null;
    const bytes = rule?.max_bandwidth ?? this.#config.max_bandwidth_per_host ?? null;
    return requests === null && bytes === null ? null : new RateLimit(requests, bytes);
  }

  /** Why the host gets no more turns in this fetch, or null. */
  restsBeyond(host: FetchHost, now: number): string | null {
    return restsBeyondFetch(host.politeness, host.failuresHere, now, this.#config);
  }

  /** Notes an origin of the host. True: it is new. */
  addOrigin(host: FetchHost, origin: string): boolean {
    if (host.origins.includes(origin)) return false;
    host.origins = [...host.origins, origin];
    return true;
  }
}

/** @param address IPv4 or IPv6 in the form that sockets report */
export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address) || address === '::1';
}

/** Scheme, host and port of a normalized URL. */
export function originOf(url: string): string {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash < 0 ? url : url.slice(0, slash);
}
