/**
 * Is it them, or is it us? Pure.
 *
 * When many different hosts in a row fail in DNS or connect and none answers in between, it is our own network.
 * A host that fails so is a suspect until somebody answers: only then is the failure charged to it. A failure that
 * is our own by its kind (no descriptors, a proxy that is gone) needs no others beside it.
 */
import type {Reason} from '../schema/reason.ts';

const ofTheWay: ReadonlySet<Reason> = new Set<Reason>(['dns', 'connect', 'connect_timeout', 'own_network']);

/** Failures that an outage of our own network would look like. */
export function failedOnTheWay(reason: Reason | null): boolean {
  return reason !== null && ofTheWay.has(reason);
}

/** First pause before a probe, and the longest, in ms. Chosen: a router restarts within minutes. */
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;

export class OutageWatch<T> {
  readonly #hosts: number;
  readonly #suspects: {readonly host: string; readonly failure: T}[] = [];
  #since: number | null = null;
  #probes = 0;

  /** @param hosts different hosts in a row that make an outage (fetch.outage_hosts) */
  constructor(hosts: number) {
    this.#hosts = hosts;
  }

  /** When the present outage began; null without one. */
  get since(): number | null {
    return this.#since;
  }
  /** Failures that nobody is charged with yet. */
  get suspects(): number {
    return this.#suspects.length;
  }

  /** A host failed on the way. True: this makes it an outage. @param own it is our own failure for certain */
  failed(host: string, failure: T, now: number, own = false): boolean {
    this.#suspects.push({host, failure});
    if (this.#since !== null || !(own || this.#isMany())) return false;
    this.#since = now;
    this.#probes = 0;
    return true;
  }

  #isMany(): boolean {
    if (this.#suspects.length < this.#hosts) return false;
    return new Set(this.#suspects.map((suspect) => suspect.host)).size >= this.#hosts;
  }

  /** Pause before the next probe. */
  pauseMs(): number {
    return Math.min(firstPauseMs * 2 ** Math.min(this.#probes++, 10), longestPauseMs);
  }

  /** Somebody answered, or the fetch ends: the suspects, and whether they are to be charged. */
  settle(): {failures: T[]; charged: boolean} {
    const failures = this.#suspects.splice(0).map((suspect) => suspect.failure);
    const charged = this.#since === null;
    this.#since = null;
    return {failures, charged};
  }

  /** Takes the suspect that failed first, to probe with it. */
  takeOldest(): T | undefined {
    return this.#suspects.shift()?.failure;
  }
}
