/**
 * Who of several fetch loops asked a host last. Loops of one fetch divide hosts by registered domain, and each keeps the
 * delays of its own; but a robots.txt may be redirected to any host, so that two of them may come to one. Before each
 * request a loop looks here: while another's runs it waits, and what another has learnt of the host holds for it, too.
 */
import type {Config} from '../config/settings.ts';
import {withCrawlDelay} from './delay.ts';
import type {FetchHost, FetchHosts} from './hosts.ts';

/** Chosen: how often a loop looks whether another's request has ended; rare, and short beside a delay. */
const againMs = 100;

/** The host as the loop knows it that asked it last; changes while that goes on. */
type Visit = Pick<FetchHost, 'politeness' | 'rate'> & {
  readonly queue: Pick<FetchHost['queue'], 'active' | 'nextAllowed'>;
};

export class SharedVisits {
  readonly #last = new Map<string, Visit>();

  /** The loop whose host it is asks it now. */
  asks(host: FetchHost): void {
    this.#last.set(host.name, host);
  }

  /**
   * Takes over what other loops have learnt since this one asked the host.
   * @returns when it may be asked, as far as others go; `now` or earlier: at once
   */
  freeAt(host: FetchHost, hosts: FetchHosts, config: Config['politeness'], now: number): number {
    const last = this.#last.get(host.name);
    if (last === undefined || last === host) return now;
    if (last.queue.active > 0) return now + againMs;
    this.asks(host); // what others knew it knows now
    const crawlDelayMs = Math.max(host.politeness.crawlDelayMs, last.politeness.crawlDelayMs);
    host.politeness = withCrawlDelay(last.politeness, crawlDelayMs, config);
    host.rate = last.rate;
    hosts.applyRule(host, host.rule);
    // Of a failure that nobody is charged with yet the queue alone knows.
    return Math.max(host.queue.nextAllowed, last.queue.nextAllowed);
  }

  /** A loop has ended: of its hosts those are kept that are still to be left alone. */
  leave(hosts: FetchHosts, now: number): void {
    for (const host of hosts) {
      if (this.#last.get(host.name) !== host) continue;
      const {politeness, rate, queue} = host;
      const nextAllowed = Math.max(queue.nextAllowed, politeness.nextAllowed);
      if (nextAllowed <= now) this.#last.delete(host.name);
      else this.#last.set(host.name, {politeness, rate, queue: {active: 0, nextAllowed}});
    }
  }
}
