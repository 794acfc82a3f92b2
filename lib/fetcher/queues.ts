/**
 * Which URL may be asked next. Pure: time comes in, nothing goes out.
 *
 * All items of a host sit in one queue of their own. Hosts that could be asked stand in a heap by the time
 * of their next turn, so choosing is O(log hosts) and never scans, and no host waits behind another. A host
 * whose address or domain has as many requests running as it may is parked with that group, and comes back,
 * with its old place in time, when one of them ends.
 *
 * Hosts that were never asked stand in a heap of their own: a connection costs more than a request, and ten thousand
 * of them that are all due at once would hold up every host that is due a moment later. Where many may be sent at once
 * and both kinds are due they take turns; where each request waits for a place the time alone decides.
 *
 * A host is always in exactly one of these: idle (no items), in one of the heaps, parked, or out (as many requests
 * running as it may have, or held by the caller).
 *
 * Items are small integers that mean something to the caller. Memory: 4 bytes an item, and an object a host.
 */
import {Heap, type HeapEntry} from './heap.ts';
import {type Group, type PlaceLimits, type Places, SharedPlaces} from './places.ts';

/** The queue of a host, and its place among the others. Changed only by {@link FetchQueues}. */
export interface HostQueue extends HeapEntry {
  readonly name: string;
  /** Earliest time of the next request. */
  nextAllowed: number;
  /** Pause after a request is sent before a second one beside it may be, where maxActive is above 1. */
  spacingMs: number;
  maxActive: number;
  active: number;
  waiting: number;
  /** Why it gets no turns: the bits of {@link holds} that are set; 0: it may. */
  held: number;
  /** A request was sent to it. */
  asked: boolean;
  /** Order of hosts with equal times. */
  readonly order: number;
  head: number;
  tail: number;
  readonly domain: HostGroup;
  address: HostGroup | null;
  parkedAt: HostGroup | null;
}
type HostGroup = Group<HostQueue>;

/** Reasons for which a host gets no turns. It may be held for several at once, and gets turns when all are over. */
const holds = {address: 1, failure: 2, robots: 4};
export type HoldReason = keyof typeof holds;

export interface QueueLimits extends PlaceLimits {
  readonly maxPerHost: number;
}

export type Turn =
  /** Ask for the first item of this host; take it with `take`. */
  | {readonly kind: 'ready'; readonly host: HostQueue}
  /** Nothing before this time, unless a request ends or a host is released earlier. */
  | {readonly kind: 'wait'; readonly until: number}
  /** Nothing until a request ends or a host is released. */
  | {readonly kind: 'busy'}
  /** All queues are empty and nothing runs. */
  | {readonly kind: 'done'};

export class FetchQueues {
  readonly #limits: QueueLimits;
  readonly #hosts = new Map<string, HostQueue>();
  readonly #domains = new Map<string, HostGroup>();
  readonly #addresses = new Map<string, HostGroup>();
  readonly #places: SharedPlaces;
  readonly #freed: () => void;
  readonly #asked = new Heap(before);
  readonly #fresh = new Heap(before);
  /** The last turn was one of a host that was never asked, and no request has ended since. */
  #freshLast = false;
  /** Next item in the same queue, by item; -1 at the end. */
  #next = new Int32Array(1024);
  #active = 0;
  #waiting = 0;
  #held = 0;
  #parked = 0;

  /**
   * @param places limits that are held together with other queues; their own if absent
   * @param freed called when a request of other queues has ended that a host here waited for
   */
  constructor(
    limits: QueueLimits,
    places: SharedPlaces = new SharedPlaces(limits),
    freed: () => void = () => {},
  ) {
    this.#limits = limits;
    this.#places = places;
    this.#freed = () => freed();
  }

  get active(): number {
    return this.#active;
  }
  /** Items in queues. */
  get waiting(): number {
    return this.#waiting;
  }
  /** Nothing runs here, and hosts wait for places that other queues have taken. */
  get waitsForOthers(): boolean {
    return this.#active === 0 && (this.#parked > 0 || (this.#places.total.full && this.scheduled > 0));
  }
  /** Hosts that wait for their next turn. */
  get scheduled(): number {
    return this.#asked.size + this.#fresh.size;
  }

  /** The queue of a host; made at first use. */
  host(name: string, domain: string): HostQueue {
    const known = this.#hosts.get(name);
    if (known) return known;
    const made: HostQueue = {
      name,
      nextAllowed: 0,
      spacingMs: 0,
      maxActive: this.#limits.maxPerHost,
      active: 0,
      waiting: 0,
      held: 0,
      asked: false,
      order: this.#hosts.size,
      place: -1,
      head: -1,
      tail: -1,
      domain: this.#group(this.#domains, domain, this.#places.domain(domain)),
      address: null,
      parkedAt: null,
    };
    this.#hosts.set(name, made);
    return made;
  }

  /** Adds an item at the end of the host's queue. */
  push(host: HostQueue, item: number): void {
    this.#link(item, -1);
    if (host.tail < 0) host.head = item;
    else this.#next[host.tail] = item;
    host.tail = item;
    this.#added(host);
  }

  /** Puts an item before all others of its host. */
  pushFirst(host: HostQueue, item: number): void {
    this.#link(item, host.head);
    host.head = item;
    if (host.tail < 0) host.tail = item;
    this.#added(host);
  }

  /** The next turn. @param newHosts false: of hosts that were asked already, since too many others are looked up */
  next(now: number, newHosts = true): Turn {
    const {total} = this.#places;
    while (!total.full) {
      const host = this.#first(now, newHosts);
      if (!host) break;
      if (host.nextAllowed > now) return {kind: 'wait', until: host.nextAllowed};
      const full = fullGroup(host);
      if (!full) return {kind: 'ready', host};
      this.#heapOf(host).remove(host);
      host.parkedAt = full;
      this.#parked++;
      full.parked.push(host);
      full.places.waits(full.unpark);
      // The place that it may have been called for in its other group goes to the next one there.
      this.#unparkBeside(host, full);
    }
    if (total.full && this.scheduled > 0) total.waits(this.#freed);
    return this.#active > 0 || this.#held > 0 || this.#waiting > 0 ? {kind: 'busy'} : {kind: 'done'};
  }

  /** The host that comes next, by time; but behind a fresh one an asked one that is due. */
  #first(now: number, newHosts: boolean): HostQueue | undefined {
    const asked = this.#asked.first;
    const fresh = newHosts ? this.#fresh.first : undefined;
    if (!asked || !fresh) return asked ?? fresh;
    const turns = this.#freshLast && asked.nextAllowed <= now;
    return turns || before(asked, fresh) ? asked : fresh;
  }

  #heapOf(host: HostQueue): Heap<HostQueue> {
    return host.asked ? this.#asked : this.#fresh;
  }

  /** Takes the first item off a host's queue without asking for it; undefined if there is none. */
  drop(host: HostQueue): number | undefined {
    const item = host.head;
    if (item < 0) return undefined;
    host.head = this.#next[item]!;
    if (host.head < 0) host.tail = -1;
    host.waiting--;
    this.#waiting--;
    if (host.waiting === 0) this.#takeOut(host);
    return item;
  }

  /** Hosts whose next turn is not after a time, those that come first among them; half are hosts not asked yet, if so many are. */
  soon(until: number, most: number): HostQueue[] {
    const isSoon = (host: HostQueue) => host.nextAllowed <= until;
    const asked = this.#asked.top(isSoon, most);
    const fresh = this.#fresh.top(isSoon, Math.max(most - asked.length, most >> 1));
    return [...asked.slice(0, most - fresh.length), ...fresh];
  }

  /** The host's first item, left where it is. */
  peek(host: HostQueue): number | undefined {
    return host.head < 0 ? undefined : host.head;
  }

  /** Takes the first item off a host's queue and counts a request as running, until `finished`. */
  take(host: HostQueue, now: number): number {
    const item = this.drop(host);
    if (item === undefined) throw new RangeError(`no item waits for host ${host.name}`);
    this.#freshLast = !host.asked;
    if (!host.asked && host.parkedAt === null) this.#fresh.remove(host);
    host.asked = true;
    host.active++;
    host.domain.places.active++;
    if (host.address) host.address.places.active++;
    this.#active++;
    this.#places.total.active++;
    this.#places.total.leaves(this.#freed);
    host.nextAllowed = Math.max(host.nextAllowed, now + host.spacingMs);
    this.#settle(host);
    return item;
  }

  /** A request of the host has ended. @param nextAllowed earliest time of its next one */
  finished(host: HostQueue, nextAllowed: number): void {
    this.#freshLast = false;
    host.active--;
    host.domain.places.active--;
    if (host.address) host.address.places.active--;
    this.#active--;
    this.#places.total.active--;
    host.nextAllowed = nextAllowed;
    this.#settle(host);
    this.#unparkBeside(host, null);
    this.#places.total.freed();
  }

  /** May one more request of the host run now? */
  hasPlace(host: HostQueue): boolean {
    if (host.held > 0 || host.parkedAt !== null || host.active >= host.maxActive) return false;
    return !this.#places.total.full && !fullGroup(host);
  }

  /** Sets the time of a host's next turn. */
  allow(host: HostQueue, nextAllowed: number): void {
    host.nextAllowed = nextAllowed;
    if (host.place < 0) return;
    if (host.parkedAt) host.parkedAt.parked.moved(host);
    else {
      this.#heapOf(host).moved(host);
      this.#unparkBeside(host, null);
    }
  }

  /** Keeps a host from getting turns until `release` for the same reason. */
  hold(host: HostQueue, reason: HoldReason): void {
    const before = host.held;
    host.held |= holds[reason];
    if (before > 0) return;
    this.#freshLast = !host.asked; // a look-up is a turn, too
    this.#held++;
    this.#takeOut(host);
  }

  release(host: HostQueue, reason: HoldReason): void {
    if ((host.held & holds[reason]) === 0) return;
    host.held &= ~holds[reason];
    if (host.held > 0) return;
    this.#held--;
    this.#settle(host);
  }

  /** Sets the address that the host's requests reach; hosts of one address share a limit. Only while none runs. */
  setAddress(host: HostQueue, address: string): void {
    if (host.active > 0) return;
    host.address = this.#group(this.#addresses, address, this.#places.address(address));
  }

  /** Sets how many requests the host may have at once. */
  setMaxActive(host: HostQueue, most: number): void {
    host.maxActive = most;
    this.#settle(host);
  }

  #link(item: number, next: number): void {
    if (item >= this.#next.length) {
      const larger = new Int32Array(Math.max(item + 1, this.#next.length * 2));
      larger.set(this.#next);
      this.#next = larger;
    }
    this.#next[item] = next;
  }

  #added(host: HostQueue): void {
    host.waiting++;
    this.#waiting++;
    this.#settle(host);
  }

  /** Puts a host where its state says: into the heap or out of it. A parked host stays parked. */
  #settle(host: HostQueue): void {
    if (host.waiting === 0 || host.held > 0 || host.active >= host.maxActive) this.#takeOut(host);
    else if (host.parkedAt === null) {
      if (host.place < 0) this.#heapOf(host).push(host);
      else this.#heapOf(host).moved(host);
    }
  }

  #takeOut(host: HostQueue): void {
    if (host.place < 0) return;
    if (host.parkedAt) {
      leaveGroup(host, host.parkedAt);
      this.#parked--;
    } else this.#heapOf(host).remove(host);
    // It may have been called for a place that it does not take now: pass it on.
    this.#unparkBeside(host, null);
  }

  #unparkBeside(host: HostQueue, but: HostGroup | null): void {
    if (host.domain !== but) host.domain.places.freed();
    if (host.address && host.address !== but) host.address.places.freed();
  }

  #group(groups: Map<string, HostGroup>, name: string, places: Places): HostGroup {
    let found = groups.get(name);
    if (!found) {
      const parked = new Heap(before);
      const made: HostGroup = {places, parked, unpark: () => this.#unparkFirst(made)};
      found = made;
      groups.set(name, found);
    }
    return found;
  }

  #unparkFirst(group: HostGroup): void {
    const host = group.parked.first;
    if (!host) return;
    leaveGroup(host, group);
    this.#parked--;
    this.#settle(host);
    this.#freed();
  }
}

function leaveGroup(host: HostQueue, {parked, places, unpark}: HostGroup): void {
  parked.remove(host);
  places.leaves(unpark);
  if (parked.size > 0) places.waits(unpark); // behind the other loops that wait here
  host.parkedAt = null;
}

function before(a: HostQueue, b: HostQueue): boolean {
  return a.nextAllowed === b.nextAllowed ? a.order < b.order : a.nextAllowed < b.nextAllowed;
}

function fullGroup(host: HostQueue): HostGroup | undefined {
  if (host.domain.places.full) return host.domain;
  if (host.address?.places.full) return host.address;
  return undefined;
}
