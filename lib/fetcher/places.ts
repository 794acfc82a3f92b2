/**
 * Requests that may run at once in one place: at an address, in a registered domain, in all. Counted over all
 * fetch loops of a process, since tasks of one fetch share addresses and the machine, if not domains.
 */
import type {Heap, HeapEntry} from './heap.ts';

/** A limit, and the loops that wait for a place below it. */
export class Places {
  active = 0;
  readonly most: number;
  /** Made when somebody waits: there are two objects like this for each host of a fetch. */
  #waiting: Set<() => void> | undefined;

  constructor(most: number) {
    this.most = most;
  }

  get full(): boolean {
    return this.active >= this.most;
  }

  /** `freed` is called each time that a place may be free, until `leaves`. */
  waits(freed: () => void): void {
    this.#waiting ??= new Set();
    this.#waiting.add(freed);
  }

  leaves(freed: () => void): void {
    this.#waiting?.delete(freed);
  }

  /**
   * A place may be free. Each loop is told, since the first in line may have ended meanwhile; who does not get it
   * waits again, behind the others.
   */
  freed(): void {
    if (!this.#waiting?.size || this.full) return;
    for (const freed of [...this.#waiting]) freed();
  }
}

/** The hosts of one loop that share a limit: those of one address, or of one registered domain. */
export interface Group<T extends HeapEntry> {
  readonly places: Places;
  /** Hosts parked here, the one whose turn came first on top. */
  readonly parked: Heap<T>;
  /** Takes the first one back among those that may be asked. */
  readonly unpark: () => void;
}

/** Limits that several fetch loops hold together. */
export class SharedPlaces {
  readonly total: Places;
  readonly #domains = new Map<string, Places>();
  readonly #addresses = new Map<string, Places>();
  readonly #limits: PlaceLimits;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
    this.total = new Places(limits.maxActive);
  }

  domain(name: string): Places {
    return placesOf(this.#domains, name, this.#limits.maxPerDomain);
  }

  address(name: string): Places {
    return placesOf(this.#addresses, name, this.#limits.maxPerAddress);
  }
}

export interface PlaceLimits {
  /** Requests at once, in all. */
  readonly maxActive: number;
  readonly maxPerAddress: number;
  readonly maxPerDomain: number;
}

function placesOf(all: Map<string, Places>, name: string, most: number): Places {
  let found = all.get(name);
  if (!found) {
    found = new Places(most);
    all.set(name, found);
  }
  return found;
}
