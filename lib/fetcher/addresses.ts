import type {HttpClient} from '../http/exchange.ts';
import {delayOf} from './delay.ts';
import type {FetchHost, FetchHosts} from './hosts.ts';
import type {FetchQueues} from './queues.ts';

/** Chosen: a look-up takes less in nearly all cases, and an answer is good for a minute at least. */
const aheadMs = 1000;
const aheadEveryMs = 100;
/** Chosen: looking through more of those that come soon, ten times a second, takes more than the look-ups. */
const mostAhead = 512;
/** As the HTTP client keeps an unused connection for 15 s; after it a request begins with a look-up. */
const connectionMs = 15_000;
/** Least time for which lib/http/dns.ts keeps an answer: within it nothing has to be asked again. */
const keptMs = 60_000;

/**
 * Look-ups of hosts' addresses: ahead of their turn for those that are due soon, so that no place stays empty while
 * name servers think; at their turn for the others, which get the next turn when the answer is there. A look-up that
 * fails is seen again, with its reason, when the host is asked.
 */
export class HostAddresses {
  readonly #client: Pick<HttpClient, 'addresses'>;
  readonly #hosts: FetchHosts;
  readonly #queues: FetchQueues;
  readonly #urlOf: (item: number) => string;
  readonly #most: number;
  readonly #running = new Map<FetchHost, Promise<void>>();
  #awaited = 0;
  #nextAhead = 0;

  /** @param most requests at once: so many look-ups ahead at most */
  constructor(
    client: Pick<HttpClient, 'addresses'>,
    work: {
      readonly hosts: FetchHosts;
      readonly queues: FetchQueues;
      readonly worklist: {urlOf(item: number): string};
    },
    most: number,
  ) {
    this.#client = client;
    this.#hosts = work.hosts;
    this.#queues = work.queues;
    this.#urlOf = (item) => work.worklist.urlOf(item);
    this.#most = Math.min(most, mostAhead);
  }

  /** Look-ups that a host's turn waits for. */
  get awaited(): number {
    return this.#awaited;
  }

  /** The host's turn has come, and its address is not known: it gets its next turn when that is. */
  async resolve(host: FetchHost, url: string, now: number): Promise<void> {
    this.#queues.hold(host.queue, 'address');
    this.#awaited++;
    await this.#lookUp(host, url, now);
    this.#awaited--;
    this.#queues.release(host.queue, 'address');
  }

  /** Looks up hosts whose turn comes within a second; those without a connection again when their answer is old. */
  ahead(now: number): void {
    if (now < this.#nextAhead) return;
    this.#nextAhead = now + aheadEveryMs;
    for (const queue of this.#queues.soon(now + aheadMs, 2 * this.#most)) {
      if (this.#running.size >= this.#most) return;
      const host = this.#hosts.of(queue);
      const item = this.#queues.peek(queue);
      if (item === undefined || !isWanted(host, now)) continue;
      void this.#lookUp(host, this.#urlOf(item), now);
    }
  }

  #lookUp(host: FetchHost, url: string, now: number): Promise<void> {
    const running = this.#running.get(host);
    if (running) return running;
    const known = (addresses: readonly string[]) => {
      this.#running.delete(host);
      // A later answer warms the client's cache alone: the limit of an address is for the fetch.
      if (!host.resolved) this.#hosts.setAddresses(host, addresses);
      host.lookedUp = now;
    };
    const done = this.#client.addresses(url).then(known, () => known([]));
    this.#running.set(host, done);
    return done;
  }
}

function isWanted(host: FetchHost, now: number): boolean {
  if (!host.resolved) return true;
  return delayOf(host.politeness).delayMs > connectionMs && now - host.lookedUp > keptMs;
}
