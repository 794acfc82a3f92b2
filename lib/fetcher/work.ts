/**
 * What is left to do in a fetch, and what has come of the rest: queues, hosts, robots.txt, and the one place
 * where outcomes become rows. Decides nothing about time; the loop in fetcher.ts does.
 */

import type {Config} from '../config/settings.ts';
import type {Exchange} from '../http/exchange.ts';
import {parseRetryAfter} from '../http/retry-after.ts';
import type {FetchlistRow} from '../schema/fetchlist.ts';
import type {Reason} from '../schema/reason.ts';
import {identify} from '../url/keys.ts';
import {parseUrl} from '../url/parse.ts';
import {answeredCapture, unaskedCapture} from './captures.ts';
import {afterAnswer, chanceOf, delayOf, effectOf, withCrawlDelay} from './delay.ts';
import {hopItem, probeItem, robotsItem} from './extra-items.ts';
import {type FetchHost, FetchHosts, originOf} from './hosts.ts';
import {header, locationOf, type Outcome, outcomeOf} from './outcome.ts';
import {FetchQueues} from './queues.ts';
import {decideRedirect} from './redirects.ts';
import {type RobotsAnswer, RobotsDesk} from './robots-desk.ts';
import type {FetcherSettings} from './settings.ts';
import {placeLimits} from './shared.ts';
import {probePath, soft404Signature} from './soft-404.ts';
import {FetchTally} from './tally.ts';
import {type WorkItem, Worklist} from './worklist.ts';

export const maxRobotsRedirects = 5; // RFC 9309, 2.3.1.2

/** A request that ended, with all that its row needs. */
export interface Ended {
  readonly host: FetchHost;
  readonly index: number;
  readonly item: WorkItem;
  readonly sent: number;
  readonly ended: number;
  readonly exchange: Exchange;
  readonly conditional: boolean;
  readonly typeRefused: string | null;
}

export class FetchWork {
  readonly queues: FetchQueues;
  readonly hosts: FetchHosts;
  readonly worklist = new Worklist();
  readonly robots: RobotsDesk;
  readonly tally = new FetchTally();
  readonly #settings: FetcherSettings;
  readonly #config: Config;
  readonly #now: () => number;
  /** Hosts that wait for the robots.txt of one of their origins. */
  readonly #awaitingRobots = new Map<string, FetchHost>();

  /**
   * @param now the clock of the fetch
   * @param freed called when a place is free that other fetches of this process had taken
   */
  constructor(settings: FetcherSettings, now: () => number, freed: () => void) {
    const {config} = settings;
    this.#settings = settings;
    this.#config = config;
    this.#now = now;
    const limits = {...placeLimits(config, settings.maxActive), maxPerHost: config.politeness.max_per_host};
    this.queues = new FetchQueues(limits, settings.shared?.places, freed);
    this.hosts = new FetchHosts(config.politeness, this.queues);
    this.robots = new RobotsDesk(config.robots, config.agent.name);
  }

  /** Does the host wait for a robots.txt, its own or where it was redirected to? */
  awaitsRobots(host: FetchHost): boolean {
    for (const other of this.#awaitingRobots.values()) if (other === host) return true;
    return false;
  }

  /**
   * Puts a URL of the fetchlist into its host's queue. A URL that is listed twice gets its row at once.
   * @param done it has its outcome, from before the fetch was taken up again
   */
  add(row: FetchlistRow, done = false): void {
    const twin = this.worklist.find(row.url_key);
    const index = this.worklist.add(row);
    const host = this.hosts.host(row.url_host_name, row.url_host_registered_domain, row.host_key);
    this.hosts.addDomain(row.url_host_registered_domain);
    if (done) this.worklist.markDone(index);
    else if (twin === undefined) this.queues.push(host.queue, index);
    else this.#skip(host, index, 'hop_target', null);
  }

  /** Hosts that rest longer than a fetch waits, by what earlier fetches stored. */
  endResting(): void {
    if (this.#settings.closed) return;
    for (const host of this.hosts) {
      const rest = host.queue.waiting > 0 ? this.hosts.restsBeyond(host, this.#now()) : null;
      if (rest !== null) this.endHost(host, 'host_resting', rest);
    }
  }

  queueRobots(host: FetchHost, origin: string, cause: WorkItem): void {
    this.robots.setAsked(origin, host.hostKey, 'queued');
    this.#pushRobots(host, robotsItem(origin, cause));
  }

  /** Puts a random path before the pages of a host. False: its robots.txt forbids it, and it is not asked for in this fetch. */
  queueProbe(host: FetchHost, origin: string, cause: WorkItem): boolean {
    const url = origin + probePath(this.#settings.segment, origin);
    host.probeSettled = true;
    if (this.robots.refusal(origin, url) !== null) return false;
    this.queues.pushFirst(host.queue, this.worklist.addExtra(probeItem(url, cause)));
    return true;
  }

  #pushRobots(host: FetchHost, item: WorkItem): void {
    this.queues.pushFirst(host.queue, this.worklist.addExtra(item));
  }

  /** Until the robots.txt of its origin is there, the host gets no turn. */
  holdFor(origin: string, host: FetchHost): void {
    this.#awaitingRobots.set(origin, host);
    this.queues.hold(host.queue);
  }

  /** Writes the row of an answer and learns from it. @returns when the host may be asked again */
  record(done: Ended): number {
    const {host, index, item, exchange, ended} = done;
    const {head, timings} = exchange;
    let outcome = done.typeRefused === null ? outcomeOf(exchange, done.conditional) : typeOutcome;
    let detail = done.typeRefused ?? exchange.detail;
    const retryAfterMs = head === null ? null : retryAfterOf(head, ended);
    const delayMs = host.politeness.lastEnd === null ? 0 : delayOf(host.politeness).delayMs;
    let target: string | null = null;
    let follow = false;
    if (outcome.reason === 'redirect' && head !== null) {
      if (item.kind === 'robots') target = robotsTarget(item, locationOf(head));
      else if (item.kind === 'probe') target = null;
      else {
        const decision = decideRedirect(item, outcome, locationOf(head), {
          urlPolicy: this.#settings.urlPolicy,
          scope: this.#settings.scope,
          maxRedirects: this.#config.fetch.max_redirects,
          seedScopes: this.#settings.seedScopes,
        });
        ({target, follow} = decision);
        outcome = {status: decision.status, reason: decision.reason};
        detail = decision.detail;
      }
    }
    const signature = this.#signatureOf(done, outcome);
    if (item.kind === 'probe') host.soft404 = {askedAt: ended, signature};
    const good = outcome.status === 'success' || item.kind === 'robots';
    const stored =
      exchange.body !== null &&
      exchange.body.length > 0 &&
      outcome.status !== 'notmodified' &&
      (good || this.#config.fetch.store_errors);
    const capture = answeredCapture({
      segment: this.#settings.segment,
      item,
      host,
      outcome,
      detail,
      time: Math.round(done.sent),
      exchange,
      redirect: target,
      retryAfterMs,
      delayMs,
      soft404: item.kind !== 'probe' && signature !== null && signature === host.soft404?.signature,
      stored,
    });
    this.#settings.sink.append(capture, stored ? exchange.body : null);
    this.tally.answered(item.kind, outcome, exchange.body?.length ?? 0);
    // What the answer says of the host is in the exchange, not in what becomes of the URL.
    const said = outcomeOf(exchange, done.conditional).reason;
    host.politeness = afterAnswer(
      host.politeness,
      {
        endedAt: ended,
        tookMs: exchange.requestHeader === null ? null : timings.total - (timings.paced ?? 0),
        reason: said,
        retryAfterMs,
      },
      this.#config.politeness,
      chanceOf(capture.capture_id),
    );
    host.changed = true;
    const effect = effectOf(said);
    if (effect === 'good') host.failuresHere = 0;
    else if (effect !== 'none') host.failuresHere++;
    if (item.kind === 'robots') this.#robotsAnswered(done, outcome, target, retryAfterMs);
    else {
      if (this.worklist.isListed(index)) this.worklist.markDone(index);
      if (item.kind === 'page' && outcome.status === 'success') host.pages++;
      const next = follow ? this.follow(item, target!) : undefined;
      if (next) this.afterRecord(next, ended);
    }
    this.worklist.forget(index);
    return host.politeness.nextAllowed;
  }

  /** Of the text of a success, where it is needed: of a random path's answer, and of pages of a host that answers those. */
  #signatureOf({item, host, exchange}: Ended, outcome: Outcome): string | null {
    if (outcome.status !== 'success' || exchange.head === null || exchange.body === null) return null;
    const wanted = item.kind === 'probe' || (item.kind !== 'robots' && host.soft404?.signature != null);
    if (!wanted) return null;
    return soft404Signature(exchange.body, header(exchange.head, 'content-encoding'), item.url);
  }

  /** Queues the target of a redirect as a hop, unless it is not this fetch's to ask, is asked anyway, or is not due. @returns its host */
  follow(item: WorkItem, target: string): FetchHost | undefined {
    const url = identify(target);
    if (!this.hosts.hasDomain(url.url_host_registered_domain)) return undefined;
    if (this.worklist.find(url.url_key) !== undefined) return undefined;
    if (this.#settings.notDue?.has(url.url_key)) return undefined;
    const host = this.hosts.host(url.url_host_name, url.url_host_registered_domain, url.host_key);
    this.#pushHop(host, this.worklist.addExtra(hopItem(target, item)));
    return host;
  }

  /** A hop goes before the pages of its host, but not before a robots.txt. */
  #pushHop(host: FetchHost, index: number): void {
    const first = this.queues.peek(host.queue);
    const robotsFirst = first !== undefined && this.worklist.get(first).kind === 'robots';
    if (robotsFirst) this.queues.drop(host.queue);
    this.queues.pushFirst(host.queue, index);
    if (robotsFirst) this.queues.pushFirst(host.queue, first);
  }

  /** The next request for a robots.txt that was redirected, or what its answer means for the origin. */
  #robotsAnswered(done: Ended, outcome: Outcome, target: string | null, retryAfterMs: number | null): void {
    const {item, exchange} = done;
    const origin = item.robotsOrigin!;
    const owner = this.robotsOwner(origin);
    if (outcome.reason === 'redirect' && target !== null && item.hop < maxRobotsRedirects) {
      const url = identify(target);
      const host = this.hosts.host(url.url_host_name, url.url_host_registered_domain, url.host_key);
      if (host !== owner) this.holdFor(origin, owner);
      else if (this.#awaitingRobots.delete(origin)) this.queues.release(owner.queue);
      this.#pushRobots(host, {
        ...item,
        url: target,
        urlKey: url.url_key,
        hop: item.hop + 1,
        chain: [...item.chain, item.url],
      });
      this.afterRecord(host, done.ended);
      return;
    }
    this.settleRobots(origin, owner, {
      status: exchange.head?.status ?? null,
      reason:
        outcome.reason === 'redirect'
          ? target === null
            ? 'redirect_malformed'
            : 'redirect_limit'
          : exchange.reason,
      body: exchange.body,
      contentEncoding: exchange.head === null ? null : header(exchange.head, 'content-encoding'),
      truncated: exchange.truncated !== null,
      retryAfterMs,
      now: done.ended,
    });
  }

  /** The host whose robots.txt it is, wherever it was redirected to. */
  robotsOwner(origin: string): FetchHost {
    const url = identify(`${origin}/robots.txt`);
    return this.hosts.host(url.url_host_name, url.url_host_registered_domain, url.host_key);
  }

  /** Takes in the answer for an origin's robots.txt. */
  settleRobots(origin: string, owner: FetchHost, answer: RobotsAnswer): void {
    this.robots.settle(origin, owner.hostKey, answer);
    this.hosts.addOrigin(owner, origin);
    this.applyCrawlDelay(owner);
    if (this.#awaitingRobots.delete(origin)) this.queues.release(owner.queue);
    if (this.robots.deniesAll(origin)) this.#endDenied(owner, origin);
  }

  /** Nothing may be asked of the origin: its URLs get their rows now, not when the host's rest is over. */
  #endDenied(host: FetchHost, origin: string): void {
    for (let left = host.queue.waiting; left > 0; left--) {
      const index = this.queues.drop(host.queue)!;
      const item = this.worklist.get(index);
      const refusal =
        item.kind !== 'robots' && originOf(item.url) === origin
          ? this.robots.refusal(origin, item.url)
          : null;
      if (refusal === null) this.queues.push(host.queue, index);
      else this.decide(host, index, item, refusal, refusal.detail);
    }
  }

  applyCrawlDelay(host: FetchHost): void {
    const longest = Math.max(0, ...host.origins.map((origin) => this.robots.crawlDelayMs(origin)));
    if (longest === host.politeness.crawlDelayMs) return;
    this.hosts.setPoliteness(host, withCrawlDelay(host.politeness, longest, this.#config.politeness));
  }

  /** After a row, or something new in its queue: does the host go on? */
  afterRecord(host: FetchHost, now: number): void {
    if (host.queue.waiting === 0) {
      this.atRest(host);
      return;
    }
    if (host.queue.active > 0 || host.queue.held) return;
    const rest = this.hosts.restsBeyond(host, now);
    if (rest !== null) this.endHost(host, 'host_resting', rest);
  }

  /** Nothing waits for the host now: what can be made again is let go. */
  atRest(host: FetchHost): void {
    if (host.queue.active > 0) return;
    for (const origin of host.origins) {
      this.robots.forgetRules(origin);
      this.#settings.client.release(origin);
    }
  }

  /** Ends all that waits for a host, with a row for each URL of the fetchlist. */
  endHost(host: FetchHost, reason: Reason, detail: string | null): void {
    for (
      let index = this.queues.drop(host.queue);
      index !== undefined;
      index = this.queues.drop(host.queue)
    ) {
      const item = this.worklist.get(index);
      if (item.kind === 'robots') this.#robotsNotAsked(item, reason);
      this.#skip(host, index, reason, detail);
    }
    this.atRest(host);
  }

  /** Outside the hours of its rule for longer than a fetch waits: its URLs are left to a later one, and its state says when. */
  endClosedHost(host: FetchHost, open: number): void {
    this.hosts.setPoliteness(host, {
      ...host.politeness,
      nextAllowed: Math.max(host.politeness.nextAllowed, open),
    });
    host.changed = true;
    const detail = `asked ${host.rule?.hours} UTC only, by hand; next at ${new Date(open).toISOString()}`;
    this.endHost(host, 'host_resting', detail);
  }

  #robotsNotAsked(item: WorkItem, reason: Reason): void {
    const none = {status: null, body: null, contentEncoding: null, truncated: false, retryAfterMs: null};
    const origin = item.robotsOrigin!;
    this.settleRobots(origin, this.robotsOwner(origin), {...none, reason, now: this.#now()});
  }

  endAll(reason: Reason): void {
    const {politeness} = this.#config;
    const now = this.#now();
    for (const host of this.hosts)
      for (
        let index = this.queues.drop(host.queue);
        index !== undefined;
        index = this.queues.drop(host.queue)
      ) {
        const {term} = delayOf(host.politeness);
        const resting =
          reason === 'window' &&
          (term === 'backoff' || term === 'retry_after') &&
          host.politeness.nextAllowed > now + politeness.min_delay;
        this.#skip(host, index, resting ? 'host_resting' : reason, null);
      }
  }

  /** The row `skipped` of a URL of the fetchlist; hops and robots.txt that are not asked for leave none. */
  #skip(host: FetchHost, index: number, reason: Reason, detail: string | null): void {
    this.decide(host, index, this.worklist.get(index), {status: 'skipped', reason}, detail);
  }

  /** The row of a URL that is not asked for. */
  decide(host: FetchHost, index: number, item: WorkItem, outcome: Outcome, detail: string | null): void {
    const listed = this.worklist.isListed(index);
    this.worklist.forget(index);
    if (item.kind === 'robots' || item.kind === 'probe') return;
    if (item.kind === 'hop' && outcome.status === 'skipped') return;
    if (listed && !this.worklist.markDone(index)) return;
    const time = Math.round(this.#now());
    const {segment, sink} = this.#settings;
    sink.append(unaskedCapture({segment, item, host, outcome, detail, time}), null);
    this.tally.unasked(item.kind, outcome);
  }
}

const typeOutcome: Outcome = {status: 'gone', reason: 'content_type'};

/** Retry-After of an answer that may carry one, in ms. @see RFC 9110, 10.2.3 */
function retryAfterOf(head: NonNullable<Exchange['head']>, now: number): number | null {
  if (head.status < 300) return null;
  const value = header(head, 'retry-after');
  return value === null ? null : parseRetryAfter(value, now);
}

/** Where a robots.txt is redirected to: any http or https URL; null where there is none. */
function robotsTarget(item: WorkItem, location: string | null): string | null {
  const target = location === null ? undefined : parseUrl(location, new URL(item.url));
  if (target === undefined) return null;
  target.hash = '';
  return target.protocol === 'http:' || target.protocol === 'https:' ? target.href : null;
}
