/**
 * What comes of the requests of a fetch: the one place where answers become rows, hosts learn from them, and redirects
 * become hops. Decides nothing about time; the loop in fetcher.ts does.
 */
import type {Exchange} from '../http/exchange.ts';
import {parseRetryAfter} from '../http/retry-after.ts';
import {identify} from '../url/keys.ts';
import {parseUrl} from '../url/parse.ts';
import {answeredCapture} from './captures.ts';
import {chanceOf, delayOf} from './delay.ts';
import {Endings} from './endings.ts';
import {hopItem, probeItem} from './extra-items.ts';
import type {FetchHost} from './hosts.ts';
import {header, locationOf, type Outcome, outcomeOf} from './outcome.ts';
import {decideRedirect} from './redirects.ts';
import {RobotsTurns} from './robots-turns.ts';
import {probePath, soft404Signature} from './soft-404.ts';
import {FetchState} from './state.ts';
import type {WorkItem} from './worklist.ts';

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

interface Meaning {
  readonly outcome: Outcome;
  readonly detail: string | null;
  readonly target: string | null;
  /** The target is to be asked in this fetch. */
  readonly follow: boolean;
}

export class FetchWork extends FetchState {
  readonly robotsTurns = new RobotsTurns(this);
  readonly endings = new Endings(this, this.robotsTurns);

  /** Puts a random path before the pages of a host. False: its robots.txt forbids it, and it is not asked for in this fetch. */
  queueProbe(host: FetchHost, origin: string, cause: WorkItem): boolean {
    const url = origin + probePath(this.settings.segment, origin);
    host.probeSettled = true;
    if (this.robots.refusal(origin, url) !== null) return false;
    this.queues.pushFirst(host.queue, this.worklist.addExtra(probeItem(url, cause)));
    return true;
  }

  /** Puts back what has no outcome yet, before all else of its host. */
  putBack({queue}: FetchHost, index: number): void {
    this.queues.pushFirst(queue, index);
    this.queues.release(queue, 'robots'); // it may be what such a host gets turns for
  }

  /** Writes the row of an answer and learns from it. @returns when the host may be asked again */
  record(done: Ended): number {
    const {host, index, item, exchange, ended} = done;
    const {head, timings} = exchange;
    const {outcome, detail, target, follow} = this.#meaningOf(done);
    const retryAfterMs = head === null ? null : retryAfterOf(head, ended);
    const delayMs = host.politeness.lastEnd === null ? 0 : delayOf(host.politeness).delayMs;
    const signature = this.#signatureOf(done, outcome);
    if (item.kind === 'probe') host.soft404 = {askedAt: ended, signature};
    const good = outcome.status === 'success' || item.kind === 'robots';
    const stored =
      exchange.body !== null &&
      exchange.body.length > 0 &&
      outcome.status !== 'notmodified' &&
      (good || this.config.fetch.store_errors);
    const capture = answeredCapture({
      segment: this.settings.segment,
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
    this.settings.sink.append(capture, stored ? exchange.body : null);
    this.tally.answered(host, item.kind, outcome, exchange.body?.length ?? 0);
    // What the answer says of the host is in the exchange, not in what becomes of the URL.
    const answer = {
      endedAt: ended,
      tookMs: exchange.requestHeader === null ? null : timings.total - (timings.paced ?? 0),
      reason: outcomeOf(exchange, done.conditional).reason,
      retryAfterMs,
    };
    this.hosts.learn(host, answer, chanceOf(capture.capture_id));
    let next: FetchHost | undefined;
    if (item.kind === 'robots')
      next = this.robotsTurns.answered({item, ended, exchange, outcome, target, retryAfterMs});
    else {
      if (this.worklist.isListed(index)) this.worklist.markDone(index);
      if (item.kind === 'page' && outcome.status === 'success') host.pages++;
      if (follow) next = this.follow(item, target!);
    }
    if (next) this.endings.afterRecord(next, ended);
    this.worklist.forget(index);
    return host.politeness.nextAllowed;
  }

  /** What the answer means for the URL, and where it leads. */
  #meaningOf({item, exchange, conditional, typeRefused}: Ended): Meaning {
    if (typeRefused !== null) return {...leadsNowhere, outcome: typeOutcome, detail: typeRefused};
    const outcome = outcomeOf(exchange, conditional);
    const meaning = {...leadsNowhere, outcome, detail: exchange.detail};
    if (outcome.reason !== 'redirect' || exchange.head === null || item.kind === 'probe') return meaning;
    const location = locationOf(exchange.head);
    if (item.kind === 'robots') return {...meaning, target: robotsTarget(item, location)};
    const {status, reason, detail, target, follow} = decideRedirect(item, outcome, location, {
      urlPolicy: this.settings.urlPolicy,
      scope: this.settings.scope,
      maxRedirects: this.config.fetch.max_redirects,
      seedScopes: this.settings.seedScopes,
    });
    return {outcome: {status, reason}, detail, target, follow};
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
    if (this.settings.notDue?.has(url.url_key)) return undefined;
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
}

const typeOutcome: Outcome = {status: 'gone', reason: 'content_type'};
const leadsNowhere = {target: null, follow: false};

/** Retry-After of an answer that may carry one, in ms; of several the longest. @see RFC 9110, 10.2.3 */
function retryAfterOf({status, headers}: NonNullable<Exchange['head']>, now: number): number | null {
  if (status < 300) return null;
  const waits = headers
    .filter(([name]) => name.toLowerCase() === 'retry-after')
    .map(([, value]) => parseRetryAfter(value, now))
    .filter((wait) => wait !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Where a robots.txt is redirected to: any http or https URL; null where there is none. */
function robotsTarget(item: WorkItem, location: string | null): string | null {
  const target = location === null ? undefined : parseUrl(location, new URL(item.url));
  if (target === undefined) return null;
  target.hash = '';
  return target.protocol === 'http:' || target.protocol === 'https:' ? target.href : null;
}
