/**
 * robots.txt in the queues of hosts: asked for before the pages of an origin, over redirects to other hosts too, while
 * the host it is for gets turns for requests of this kind alone (two hosts may redirect theirs to one another); and what
 * its answer means for the URLs that wait.
 */
import type {Exchange} from '../http/exchange.ts';
import type {Reason} from '../schema/reason.ts';
import {identify} from '../url/keys.ts';
import {withCrawlDelay} from './delay.ts';
import {type Cause, robotsItem} from './extra-items.ts';
import {type FetchHost, originOf} from './hosts.ts';
import {header, type Outcome} from './outcome.ts';
import type {RobotsAnswer} from './robots-desk.ts';
import type {FetchState} from './state.ts';
import type {WorkItem} from './worklist.ts';

export const maxRobotsRedirects = 5; // RFC 9309, 2.3.1.2

/** An answer to the request for a robots.txt. */
interface Answered {
  readonly item: WorkItem;
  readonly ended: number;
  readonly exchange: Exchange;
  readonly outcome: Outcome;
  /** Where a redirect leads. */
  readonly target: string | null;
  readonly retryAfterMs: number | null;
}

export class RobotsTurns {
  readonly #state: FetchState;
  /** Hosts that wait for the robots.txt of some of their origins, and those. */
  readonly #awaiting = new Map<FetchHost, Set<string>>();

  constructor(state: FetchState) {
    this.#state = state;
  }

  /**
   * Does the host wait for a robots.txt of its own, wherever it was redirected to? Then, with anything else than such a
   * request first in its queue, it gets no turn; of those that wait behind it one comes first from now on.
   */
  keepsFor(host: FetchHost, first: WorkItem): boolean {
    if (first.kind === 'robots' || !this.#awaiting.has(host)) return false;
    if (!this.#bringFirst(host)) this.#state.queues.hold(host.queue, 'robots');
    return true;
  }

  /** Puts a request for a robots.txt before all else of the host; false: none waits. */
  #bringFirst({queue}: FetchHost): boolean {
    const {queues, worklist} = this.#state;
    const before: number[] = [];
    let index = queues.drop(queue);
    for (; index !== undefined && worklist.get(index).kind !== 'robots'; index = queues.drop(queue))
      before.push(index);
    for (const other of before.reverse()) queues.pushFirst(queue, other);
    if (index !== undefined) queues.pushFirst(queue, index);
    return index !== undefined;
  }

  /** Puts the robots.txt of an origin before all else of its host. @param cause the URL that needs it */
  queue(host: FetchHost, origin: string, cause: Cause): void {
    this.#state.robots.setAsked(origin, host.hostKey, 'queued');
    this.#push(host, robotsItem(origin, cause));
  }

  #push(host: FetchHost, item: WorkItem): void {
    this.#state.queues.pushFirst(host.queue, this.#state.worklist.addExtra(item));
    this.#state.queues.release(host.queue, 'robots');
  }

  /** Until the robots.txt of its origin is there, the host gets no turn for its pages. */
  holdFor(origin: string, host: FetchHost): void {
    const origins = this.#awaiting.get(host);
    if (origins) origins.add(origin);
    else this.#awaiting.set(host, new Set([origin]));
  }

  #release(origin: string, owner: FetchHost): void {
    const origins = this.#awaiting.get(owner);
    if (!origins?.delete(origin) || origins.size > 0) return;
    this.#awaiting.delete(owner);
    this.#state.queues.release(owner.queue, 'robots');
  }

  /**
   * Takes in an answer: the next request where it was redirected, or what it means for the origin.
   * @returns the host of the next request
   */
  answered({item, ended, exchange, outcome, target, retryAfterMs}: Answered): FetchHost | undefined {
    const origin = item.robotsOrigin!;
    const owner = this.owner(origin);
    if (outcome.reason === 'redirect' && target !== null && item.hop < maxRobotsRedirects) {
      const url = identify(target);
      const host = this.#state.hosts.host(url.url_host_name, url.url_host_registered_domain, url.host_key);
      if (host !== owner) this.holdFor(origin, owner);
      else this.#release(origin, owner);
      const chain = [...item.chain, item.url];
      this.#push(host, {...item, url: target, urlKey: url.url_key, hop: item.hop + 1, chain});
      return host;
    }
    this.settle(origin, owner, {
      status: exchange.head?.status ?? null,
      reason: outcome.reason === 'redirect' ? redirectEnd(target) : exchange.reason,
      body: exchange.body,
      contentEncoding: exchange.head === null ? null : header(exchange.head, 'content-encoding'),
      truncated: exchange.truncated !== null,
      retryAfterMs,
      now: ended,
    });
    return undefined;
  }

  /** The host whose robots.txt it is, wherever it was redirected to. */
  owner(origin: string): FetchHost {
    const url = identify(`${origin}/robots.txt`);
    return this.#state.hosts.host(url.url_host_name, url.url_host_registered_domain, url.host_key);
  }

  /** Takes in the answer for an origin's robots.txt. */
  settle(origin: string, owner: FetchHost, answer: RobotsAnswer): void {
    const {robots, hosts} = this.#state;
    robots.settle(origin, owner.hostKey, answer);
    hosts.addOrigin(owner, origin);
    this.applyCrawlDelay(owner);
    this.#release(origin, owner);
    if (robots.deniesAll(origin)) this.#endDenied(owner, origin);
  }

  /** It is not asked for: what waits for it gets its rows. */
  notAsked({robotsOrigin}: WorkItem, reason: Reason): void {
    const none = {status: null, body: null, contentEncoding: null, truncated: false, retryAfterMs: null};
    const origin = robotsOrigin!;
    this.settle(origin, this.owner(origin), {...none, reason, now: this.#state.now()});
  }

  applyCrawlDelay(host: FetchHost): void {
    const {robots, hosts, config} = this.#state;
    const longest = Math.max(0, ...host.origins.map((origin) => robots.crawlDelayMs(origin)));
    if (longest === host.politeness.crawlDelayMs) return;
    hosts.setPoliteness(host, withCrawlDelay(host.politeness, longest, config.politeness));
  }

  /** Nothing may be asked of the origin: its URLs get their rows now, not when the host's rest is over. */
  #endDenied(host: FetchHost, origin: string): void {
    const {queues, worklist, robots} = this.#state;
    for (let left = host.queue.waiting; left > 0; left--) {
      const index = queues.drop(host.queue)!;
      const item = worklist.get(index);
      const isOfOrigin = item.kind !== 'robots' && originOf(item.url) === origin;
      const refusal = isOfOrigin ? robots.refusal(origin, item.url) : null;
      if (refusal === null) queues.push(host.queue, index);
      else this.#state.decide(host, index, item, refusal, refusal.detail);
    }
  }
}

function redirectEnd(target: string | null): Reason {
  return target === null ? 'redirect_malformed' : 'redirect_limit';
}
