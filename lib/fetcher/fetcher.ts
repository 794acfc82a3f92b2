/**
 * The fetch loop: from a list of URLs to one outcome each.
 *
 * The life of a URL here. It waits in the queue of its host. When the host's turn comes, its address is looked up (once),
 * then its robots.txt is asked for unless a fresh one is known, in the host's own queue like all else. What a rule, a
 * budget or robots.txt forbids gets its row without a request. The rest is asked for, one request a host at a time; the answer
 * becomes a row, tells how long to leave the host alone, and may bring a hop: a redirect's target on a host of this fetch.
 *
 * Failures of the web are rows. What is thrown here stops the fetch: a full disk, a lost lease, a defect.
 * In memory: the worklist, an object a host, robots.txt of its origins, and the running requests.
 */
import type {Config} from '../config/settings.ts';
import {CrawlError} from '../errors.ts';
import type {Reason} from '../schema/reason.ts';
import {HostAddresses} from './addresses.ts';
import {delayOf} from './delay.ts';
import {mostOf, reasonsOf} from './host-reasons.ts';
import {type FetchHost, originOf} from './hosts.ts';
import {type Hours, openFrom, parseHours} from './hours.ts';
import {failedOnTheWay, OutageWatch} from './outage.ts';
import {hostThatAnswered} from './outage-probe.ts';
import {mayRedirect} from './outcome.ts';
import type {RateLimit} from './rate.ts';
import {Reporter, type Standing} from './reporter.ts';
import {RequestMaker} from './requests.ts';
import type {FetchEnd, FetcherSettings, StopReason} from './settings.ts';
import {rateOfAll} from './shared.ts';
import {isProbeDue} from './soft-404.ts';
import {Upkeep} from './upkeep.ts';
import {Waiter} from './waiter.ts';
import {type Ended, FetchWork} from './work.ts';
import type {WorkItem} from './worklist.ts';

export type {CaptureSink, FetchEnd, FetcherSettings, StopReason} from './settings.ts';

const graceMs = 10_000; // chosen: how long running requests may take after a signal
const mostInARow = 16; // chosen: to open a connection takes about a millisecond, in which no answer is heard

export class Fetcher {
  readonly work: FetchWork;
  readonly #settings: FetcherSettings;
  readonly #config: Config;
  readonly #outage: OutageWatch<Ended>;
  readonly #rate: RateLimit;
  readonly #requests: RequestMaker;
  readonly #addresses: HostAddresses;
  readonly #clockStart: number;
  readonly #monotonicStart: number;
  readonly #hours: Hours | null;
  readonly #waiter: Waiter;
  readonly #reporter: Reporter;
  readonly #upkeep: Upkeep;
  #failure: {readonly error: unknown} | null = null;
  #stop: StopReason | null = null;
  #closing = false;
  #interrupted = false;
  /** Items that are to be sent once more, since a kept connection was closed. */
  readonly #sentAgain = new Set<number>();
  #turns = 0;
  #sentInARow = 0;

  constructor(settings: FetcherSettings) {
    const {config, effects} = settings;
    this.#settings = settings;
    this.#config = config;
    this.#outage = new OutageWatch(config.fetch.outage_hosts);
    this.#rate = settings.shared?.rate ?? rateOfAll(config);
    this.#hours = parseHours(config.fetch.hours);
    this.#clockStart = effects.now();
    this.#monotonicStart = effects.monotonic();
    this.work = new FetchWork(
      settings,
      () => this.now(),
      () => this.#waiter.wake(),
    );
    this.#reporter = new Reporter(this.work, settings.progress);
    this.#upkeep = new Upkeep(settings, this.work.hosts);
    this.#requests = new RequestMaker(settings, this.#rate, () => this.now());
    this.#addresses = new HostAddresses(settings.client, this.work, settings.maxActive);
    this.#waiter = new Waiter(effects, (error) => {
      this.#failure ??= {error};
    });
  }

  /** Milliseconds since the epoch on a clock that never jumps: what all times of a fetch are taken from. */
  now(): number {
    return this.#clockStart + (this.#settings.effects.monotonic() - this.#monotonicStart);
  }

  /** Runs to the end. Everything is loaded before: URLs, states of hosts, robots.txt, what a journal proves. */
  async run(): Promise<FetchEnd> {
    const {client, effects} = this.#settings;
    const onAbort = () => this.#stopFor('signal');
    effects.signal.addEventListener('abort', onAbort);
    if (effects.signal.aborted) onAbort();
    let ending: Reason | null;
    this.#reporter.begin(this.#clockStart);
    try {
      this.work.endings.endResting();
      ending = this.#settings.closed ? 'closed' : await this.#loop();
      await this.#lastOnes();
      if (this.#failure) throw this.#failure.error;
      if (this.#stop === null) this.#settleSuspects(ending !== 'own_network');
      if (this.#stop === null && ending !== null) this.work.endings.endAll(ending);
      await this.#settings.sink.pressure;
    } finally {
      this.#closing = true;
      effects.signal.removeEventListener('abort', onAbort);
      this.#waiter.stop();
      await client.close();
      this.#settings.shared?.visits.leave(this.work.hosts, this.now());
    }
    this.#reporter.report(this.#standing(this.now()), true);
    const {counters, reasons} = this.work.tally;
    const interrupted = this.#interrupted || this.#sentAgain.size > 0;
    const hosts = mostOf(reasonsOf(this.work.hosts));
    return {stopped: this.#stop, interrupted, counters, reasons, hosts};
  }

  /** Gives turns until there is nothing to do, or no time to do it. @returns why what is left ends */
  async #loop(): Promise<Reason | null> {
    const deadline = this.#settings.windowMs === null ? Infinity : this.now() + this.#settings.windowMs;
    for (;;) {
      if (this.#settings.sink.pressure) await this.#settings.sink.pressure;
      const because = await this.#upkeep.look(this.now());
      if (because !== null) this.#stopFor(because);
      // After all that is awaited: a stop that comes meanwhile is seen before anything is waited for that nothing would end.
      if (this.#over()) return null;
      const now = this.now();
      if (now >= deadline) return this.#outage.since === null ? 'window' : 'own_network';
      if (this.#reporter.isDue(now)) this.#reporter.report(this.#standing(now), false);
      if (this.#outage.since !== null) {
        if (now - this.#outage.since > this.#config.politeness.max_rest) return 'own_network';
        await this.#probe(deadline);
        continue;
      }
      this.#addresses.ahead(now);
      const slow = this.#slow(now);
      const turn = this.work.queues.next(now, this.#addresses.awaited <= this.#settings.maxActive);
      if (turn.kind === 'done') return null;
      if (turn.kind === 'ready') {
        if (slow >= deadline && this.work.queues.active === 0) return 'window';
        if (slow > now) await this.#waiter.pause(Math.min(slow, deadline) - now);
        else {
          this.#turn(this.work.hosts.of(turn.host), now);
          // Denied URLs pass without a request: let sockets and signals in now and then.
          if (++this.#turns % 1024 === 0) await new Promise(setImmediate);
          if (this.#sentInARow >= mostInARow) {
            this.#sentInARow = 0;
            await this.#waiter.breathe();
          }
        }
      } else if (turn.kind === 'wait') {
        const idle = this.work.queues.active === 0 && this.#addresses.awaited === 0;
        if (idle && turn.until >= deadline) return 'window';
        await this.#waiter.pause(Math.min(turn.until, deadline) - now);
      } else if (
        this.#outage.suspects > 0 &&
        this.work.queues.active === 0 &&
        this.#addresses.awaited === 0 &&
        !this.work.queues.waitsForOthers
      )
        this.#settleSuspects();
      else await this.#waiter.pause(deadline - now);
    }
  }

  /** When the next request may be sent as far as all hosts go; `now` or earlier: at once. */
  #slow(now: number): number {
    return Math.max(this.#rate.waitUntil(now), openFrom(this.#hours, now));
  }

  /** What one turn of a host is used for. */
  #turn(host: FetchHost, now: number): void {
    if (host.rule?.blocked) {
      this.work.endings.endHost(host, 'host_blocked', null);
      return;
    }
    const visits = this.#settings.shared?.visits;
    const others = visits?.freeAt(host, this.work.hosts, this.#config.politeness, now) ?? now;
    const rest = this.work.hosts.restsBeyond(host, now);
    if (rest !== null) {
      this.work.endings.endHost(host, 'host_resting', rest);
      return;
    }
    const open = openFrom(host.hours, now);
    if (open - now > this.#config.politeness.max_rest && host.queue.active === 0) {
      this.work.endings.endClosedHost(host, open);
      return;
    }
    const free = Math.max(open, others, host.rate?.waitUntil(now) ?? now);
    if (free > now) {
      this.work.queues.allow(host.queue, free);
      return;
    }
    const budget = this.#config.budget.max_pages_per_host;
    if (budget !== undefined && host.pages + host.queue.active >= budget) {
      if (host.pages >= budget) {
        this.work.endings.endHost(host, 'budget', `${budget} pages`);
        return;
      }
      // A running request may take the last page: its end brings the next turn.
      this.work.queues.allow(host.queue, now + 1);
      return;
    }
    const index = this.work.queues.peek(host.queue)!;
    const item = this.work.worklist.get(index);
    if (this.work.robotsTurns.keepsFor(host, item)) return;
    if (!host.resolved) {
      this.#wakes(this.#addresses.resolve(host, item.url, now));
      return;
    }
    if (item.kind === 'robots' || item.kind === 'probe') {
      this.#ask(host, item, now);
      return;
    }
    const origin = originOf(item.url);
    if (this.work.hosts.addOrigin(host, origin) && !this.work.robots.isDue(origin, now)) {
      this.work.robotsTurns.applyCrawlDelay(host);
      if (host.queue.nextAllowed > now) return;
    }
    if (this.work.robots.isDue(origin, now)) {
      // While its answer is awaited, here or where it was redirected to, the host gets no turn.
      if (this.work.robots.askedState(origin) === 'sent') this.work.robotsTurns.holdFor(origin, host);
      else this.work.robotsTurns.queue(host, origin, item);
      return;
    }
    const refusal = this.work.robots.refusal(origin, item.url);
    if (refusal !== null) {
      this.work.queues.drop(host.queue);
      this.work.decide(host, index, item, refusal, refusal.detail);
      if (host.queue.waiting === 0) this.work.endings.atRest(host);
      return;
    }
    if (item.kind === 'page' && !host.probeSettled && isProbeDue(host.soft404, now, this.#config.fetch)) {
      if (this.work.queueProbe(host, origin, item)) return;
    }
    this.#ask(host, item, now);
  }

  #ask(host: FetchHost, item: WorkItem, now: number): void {
    if (!this.#settings.leaseOk())
      throw new CrawlError('TASK_FAILED', 'another attempt has taken over this fetch; this one stops');
    const index = this.work.queues.take(host.queue, now);
    if (item.robotsOrigin !== null) this.work.robots.setAsked(item.robotsOrigin, host.hostKey, 'sent');
    this.#sentInARow++;
    this.#settings.shared?.visits.asks(host);
    this.work.tally.asked(item.kind);
    const {request, conditional, typeRefused, ended: cameIn} = this.#requests.make(item, host.rate);
    const sent = this.now();
    const ended = this.#settings.client.exchange(request).then((exchange) => {
      cameIn();
      const facts = {host, index, item, sent, ended: this.now(), exchange};
      const done = {...facts, conditional, typeRefused: typeRefused()};
      const {notDue} = this.#settings;
      const asPage = item.kind !== 'robots' && item.kind !== 'probe';
      if (notDue === undefined || !asPage || !mayRedirect(exchange.head)) return this.#ended(done);
      return notDue.load().then(() => this.#ended(done));
    });
    this.#wakes(ended);
  }

  /** The loop goes on after it; an error ends the fetch. */
  #wakes(work: Promise<void>): void {
    void work
      .catch((error: unknown) => {
        this.#failure ??= {error};
      })
      .finally(() => this.#waiter.wake());
  }

  #ended(done: Ended): void {
    const {host, index, exchange} = done;
    if (exchange.reason === 'interrupted' || this.#closing) {
      // Stopped in the middle: no outcome, so that it is asked again when the fetch goes on.
      this.#interrupted ||= exchange.requestHeader !== null;
      this.work.putBack(host, index);
      this.work.queues.finished(host.queue, host.politeness.nextAllowed);
      return;
    }
    // The delay holds, though nobody is charged: something may have reached the host.
    const free = Math.max(host.queue.nextAllowed, done.ended + delayOf(host.politeness).delayMs);
    if (exchange.stale && !this.#sentAgain.has(index)) {
      this.#sentAgain.add(index);
      this.work.putBack(host, index);
      this.work.queues.finished(host.queue, free);
      return;
    }
    this.#sentAgain.delete(index);
    if (failedOnTheWay(exchange.reason)) {
      this.work.queues.hold(host.queue, 'failure');
      this.work.queues.finished(host.queue, free);
      const own = exchange.reason === 'own_network';
      if (this.#outage.failed(host.name, done, done.ended, own)) this.#outageBegins();
      return;
    }
    if (exchange.head !== null) {
      this.#outage.answered(host.name);
      this.#settleSuspects();
    }
    this.work.queues.finished(host.queue, this.work.record(done));
    this.work.endings.afterRecord(host, done.ended);
  }

  #outageBegins(): void {
    const {log} = this.#settings.effects;
    log('warn', 'own_network_down', {hosts_failed: this.#outage.suspects});
  }

  /** Somebody answered, or nobody is left to ask: suspects are charged, or after an outage asked again. @param up it is over */
  #settleSuspects(up = true): void {
    if (this.#outage.suspects === 0 && this.#outage.since === null) return;
    const {failures, charged} = this.#outage.settle();
    if (!charged && up)
      this.#settings.effects.log('info', 'own_network_up', {hosts_asked_again: failures.length});
    for (const failure of failures) {
      if (charged) this.#charge(failure);
      else this.#again(failure);
    }
  }

  #charge(failure: Ended): void {
    const {host} = failure;
    this.work.queues.allow(host.queue, this.work.record(failure));
    this.work.queues.release(host.queue, 'failure');
    this.work.endings.afterRecord(host, this.now());
  }

  #again({host, index}: Ended): void {
    host.resolved = host.queue.address !== null;
    this.work.putBack(host, index);
    this.work.queues.release(host.queue, 'failure');
  }

  /** In an outage: waits, then asks a host that answered before, or several, and sees whether anybody answers. */
  async #probe(deadline: number): Promise<void> {
    if (!(await this.#stillDownAt(this.now() + this.#outage.pauseMs(), deadline))) return;
    if (!(await this.#stillDownAt(this.#slow(this.now()), deadline))) return;
    const good = hostThatAnswered(this.work, this.now());
    if (good !== undefined) {
      this.#turn(good, this.now());
      await this.#answersIn();
      return;
    }
    const most = this.#outage.probeHosts();
    if (this.work.queues.next(this.now()).kind !== 'ready')
      for (let n = 0; n < most; n++) {
        const oldest = this.#outage.takeOldest();
        if (oldest !== undefined) this.#again(oldest);
      }
    // Twice: the first turns may be used for the look-ups of addresses.
    for (let twice = 0; twice < 2 && this.#outage.since !== null; twice++) {
      for (let n = 0; n < most; n++) {
        if (!(await this.#stillDownAt(this.#slow(this.now()), deadline))) return;
        const turn = this.work.queues.next(this.now());
        if (turn.kind === 'ready') this.#turn(this.work.hosts.of(turn.host), this.now());
      }
      await this.#answersIn();
    }
  }

  /** Waits until then. False: the outage, or the time of the fetch, has ended. */
  async #stillDownAt(until: number, deadline: number): Promise<boolean> {
    const end = Math.min(until, deadline);
    while (this.now() < end && !this.#over() && this.#outage.since !== null)
      await this.#waiter.pause(end - this.now());
    return !this.#over() && this.#outage.since !== null && this.now() < deadline;
  }

  /** What the fetch waits for, if for anything. */
  #standing(now: number): Standing {
    const outage = this.#outage.since !== null;
    return {now, outage, open: openFrom(this.#hours, now), free: this.#rate.waitUntil(now)};
  }

  /** Waits until nothing is asked or looked up. */
  async #answersIn(): Promise<void> {
    while ((this.work.queues.active > 0 || this.#addresses.awaited > 0) && !this.#over())
      await this.#waiter.pause(Infinity);
  }

  #over(): boolean {
    return this.#failure !== null || this.#stop !== null;
  }

  /** Waits for the running requests; after a signal not for long: then they end as interrupted. */
  async #lastOnes(): Promise<void> {
    let grace: NodeJS.Timeout | undefined;
    while ((this.work.queues.active > 0 || this.#addresses.awaited > 0) && this.#failure === null) {
      if (this.#stop !== null) grace ??= setTimeout(() => void this.#settings.client.close(), graceMs);
      await this.#waiter.pause(Infinity);
    }
    clearTimeout(grace);
  }

  #stopFor(reason: StopReason): void {
    this.#stop ??= reason;
    this.#waiter.stop();
  }
}
