/**
 * Is it them, or is it us? Pure.
 *
 * When many different hosts in a row fail in DNS or connect and none answers in between, it is our own network.
 * A host that fails so is a suspect until somebody answers: only then is the failure charged to it. A failure that
 * is our own by its kind (no descriptors, a proxy that is gone) needs no others beside it. Dead hosts may follow one
 * another in a list: those that fail again after an outage in which somebody answered make no new one.
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
/** Most hosts asked in one probe. Chosen: with it a thousand dead hosts hide a living one for a quarter of an hour at most. */
const mostProbed = 64;

export class OutageWatch<T> {
  readonly #hosts: number;
  readonly #suspects: {readonly host: string; readonly failure: T}[] = [];
  /** Hosts that failed in an outage and have not answered since. */
  readonly #askedAgain = new Set<string>();
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
    const hosts = new Set(this.#suspects.map(({host}) => host).filter((host) => !this.#askedAgain.has(host)));
    return hosts.size >= this.#hosts;
  }

  /** Pause before the next probe. */
  pauseMs(): number {
    return Math.min(firstPauseMs * 2 ** Math.min(this.#probes++, 10), longestPauseMs);
  }

  /** How many hosts to ask in this probe, where none is known to have answered before: twice as many each time. */
  probeHosts(): number {
    return Math.min(2 ** Math.max(0, this.#probes - 1), mostProbed);
  }

  /** A host has answered: the next time that it fails counts again. */
  answered(host: string): void {
    this.#askedAgain.delete(host);
  }

  /** Somebody answered, or the fetch ends: the suspects, and whether they are to be charged. */
  settle(): {failures: T[]; charged: boolean} {
    const suspects = this.#suspects.splice(0);
    const charged = this.#since === null;
    this.#since = null;
    if (!charged) for (const {host} of suspects) this.#askedAgain.add(host);
    return {failures: suspects.map(({failure}) => failure), charged};
  }

  /** Takes the suspect that failed first, to probe with it. */
  takeOldest(): T | undefined {
    const oldest = this.#suspects.shift();
    if (oldest !== undefined) this.#askedAgain.add(oldest.host);
    return oldest?.failure;
  }
}
