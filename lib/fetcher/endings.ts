/** Hosts that get no more turns, for a while or in this fetch: their URLs get rows, and what can be made again is let go. */
import type {Reason} from '../schema/reason.ts';
import {delayOf} from './delay.ts';
import type {FetchHost} from './hosts.ts';
import type {RobotsTurns} from './robots-turns.ts';
import type {FetchState} from './state.ts';

export class Endings {
  readonly #state: FetchState;
  readonly #robots: RobotsTurns;

  constructor(state: FetchState, robots: RobotsTurns) {
    this.#state = state;
    this.#robots = robots;
  }

  /** Hosts that rest longer than a fetch waits, by what earlier fetches stored. */
  endResting(): void {
    const {settings, hosts, now} = this.#state;
    if (settings.closed) return;
    for (const host of hosts) {
      const rest = host.queue.waiting > 0 ? hosts.restsBeyond(host, now()) : null;
      if (rest !== null) this.endHost(host, 'host_resting', rest);
    }
  }

  /** After a row, or something new in its queue: does the host go on? */
  afterRecord(host: FetchHost, now: number): void {
    if (host.queue.waiting === 0) {
      this.atRest(host);
      return;
    }
    if (host.queue.active > 0 || host.queue.held > 0) return;
    const rest = this.#state.hosts.restsBeyond(host, now);
    if (rest !== null) this.endHost(host, 'host_resting', rest);
  }

  /** Nothing waits for the host now: what can be made again is let go. */
  atRest(host: FetchHost): void {
    if (host.queue.active > 0) return;
    const {robots, settings} = this.#state;
    for (const origin of host.origins) {
      robots.forgetRules(origin);
      settings.client.release(origin);
    }
  }

  /** Ends all that waits for a host, with a row for each URL of the fetchlist. */
  endHost(host: FetchHost, reason: Reason, detail: string | null): void {
    for (const index of this.#waiting(host)) {
      const item = this.#state.worklist.get(index);
      if (item.kind === 'robots') this.#robots.notAsked(item, reason);
      this.#state.skip(host, index, reason, detail);
    }
    this.atRest(host);
  }

  /** Outside the hours of its rule for longer than a fetch waits: its URLs are left to a later one, and its state says when. */
  endClosedHost(host: FetchHost, open: number): void {
    const nextAllowed = Math.max(host.politeness.nextAllowed, open);
    this.#state.hosts.setPoliteness(host, {...host.politeness, nextAllowed});
    host.changed = true;
    const detail = `asked ${host.rule?.hours} UTC only, by hand; next at ${new Date(open).toISOString()}`;
    this.endHost(host, 'host_resting', detail);
  }

  /** Ends all that waits, for `reason`; what is not asked within the window because its host rests says so. */
  endAll(reason: Reason): void {
    const {config, now: clock, hosts} = this.#state;
    const now = clock();
    for (const host of hosts)
      for (const index of this.#waiting(host)) {
        const {term} = delayOf(host.politeness);
        const resting =
          reason === 'window' &&
          (term === 'backoff' || term === 'retry_after') &&
          host.politeness.nextAllowed > now + config.politeness.min_delay;
        this.#state.skip(host, index, resting ? 'host_resting' : reason, null);
      }
  }

  /** Takes what waits out of a host's queue, with what is put there meanwhile. */
  *#waiting({queue}: FetchHost): Generator<number> {
    const {queues} = this.#state;
    for (let index = queues.drop(queue); index !== undefined; index = queues.drop(queue)) yield index;
  }
}
