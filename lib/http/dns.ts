import {promises as dnsPromises} from 'node:dns';
import {readFileSync} from 'node:fs';
import {isIP} from 'node:net';
import {networkInterfaces} from 'node:os';
import {systemCode} from '../errors.ts';
import {ExchangeFailure, wordsOf} from './failure.ts';
import {parseHostsFile} from './hosts-file.ts';

export interface ResolvedAddress {
  readonly address: string;
  /** Seconds. */
  readonly ttl: number;
}

/** Asks name servers for A and AAAA. Rejects when there is no address; tests hand in their own. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>;

export interface DnsOptions {
  readonly resolve: Resolve;
  /** Names that are never asked for, as in a hosts file. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Milliseconds on a clock that never jumps. */
  readonly monotonic: () => number;
}

export interface Lookup {
  /** At least one, in the order in which they are to be tried. */
  readonly addresses: readonly string[];
  /** Milliseconds that the look-up took, told to the first connection that it serves; null: no look-up, or told already. */
  readonly ms: number | null;
  /** Name servers were asked just now. */
  readonly fresh: boolean;
}

const atHand = {ms: null, fresh: false};
const minTtlMs = 60_000;
const maxTtlMs = 300_000;
const failureTtlMs = 30_000;
/** About 300 bytes each. */
const maxEntries = 100_000;

interface Entry {
  readonly addresses: readonly string[];
  readonly failure: string | undefined;
  readonly expires: number;
  turns: number;
  /** What its look-up took, until it is told. */
  ms: number | null;
}

/**
 * Look-ups with a cache of our own: TTLs within 60 s and 5 min, failures for 30 s, several addresses in rotation,
 * IPv4 before IPv6. The hosts file comes first; `localhost` and names below it never leave the machine (RFC 6761).
 * Holds at most 100,000 names; the oldest go first.
 */
export class DnsCache {
  readonly #options: DnsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #running = new Map<string, Promise<Entry>>();

  constructor(options: DnsOptions) {
    this.#options = options;
  }

  /**
   * @param name host name in lower case; a trailing dot is ignored
   * @param why `ahead`: not to connect now; `again`: though an answer is cached, since its addresses did not connect
   * @throws ExchangeFailure with reason `dns`
   */
  async lookup(name: string, why: 'connect' | 'ahead' | 'again' = 'connect'): Promise<Lookup> {
    const key = name.endsWith('.') ? name.slice(0, -1) : name;
    const local = this.#options.hosts.get(key);
    if (local !== undefined) return {...atHand, addresses: local};
    if (key === 'localhost' || key.endsWith('.localhost'))
      return {...atHand, addresses: ['127.0.0.1', '::1']};
    const started = this.#options.monotonic();
    const cached = this.#entries.get(key);
    const usable = cached !== undefined && cached.expires > started && why !== 'again';
    const entry = usable ? cached : await this.#ask(key);
    if (entry.failure !== undefined) throw new ExchangeFailure('dns', entry.failure);
    const turn = entry.turns;
    entry.turns += 1;
    const {ms} = entry;
    if (why !== 'ahead') entry.ms = null;
    return {addresses: rotate(entry.addresses, turn), ms, fresh: !usable};
  }

  #ask(key: string): Promise<Entry> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const asked = this.#resolve(key).then((entry) => {
      this.#running.delete(key);
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      const oldest = this.#entries.size > maxEntries ? this.#entries.keys().next().value : undefined;
      if (oldest !== undefined) this.#entries.delete(oldest);
      return entry;
    });
    this.#running.set(key, asked);
    return asked;
  }

  async #resolve(key: string): Promise<Entry> {
    const started = this.#options.monotonic();
    try {
      const found = await this.#options.resolve(key);
      if (found.length === 0) throw new Error('no address');
      const ttl = Math.min(...found.map((one) => one.ttl)) * 1000;
      const lifetime = Math.min(maxTtlMs, Math.max(minTtlMs, ttl));
      return {
        addresses: found.map((one) => one.address),
        failure: undefined,
        expires: this.#options.monotonic() + lifetime,
        turns: 0,
        ms: this.#options.monotonic() - started,
      };
    } catch (error) {
      const expires = this.#options.monotonic() + failureTtlMs;
      return {addresses: [], failure: `${key}: ${wordsOf(error)}`, expires, turns: 0, ms: null};
    }
  }
}

/** Each family turned by `turn` places; IPv4 first, since it is the one that works from everywhere. */
function rotate(addresses: readonly string[], turn: number): string[] {
  return [4, 6].flatMap((family) => {
    const own = addresses.filter((address) => isIP(address) === family);
    const by = own.length === 0 ? 0 : turn % own.length;
    return [...own.slice(by), ...own.slice(0, by)];
  });
}

/**
 * The real name servers, through c-ares: `dns.lookup` would block one of four threads a name. AAAA is asked
 * where this machine has a global IPv6 address, and where a name has no A.
 *
 * @param servers in place of the system's; as 10.0.0.2 or 127.0.0.1:5353
 */
export function nameServers(servers: readonly string[]): {resolve: Resolve; cancel: () => void} {
  const resolver = new dnsPromises.Resolver({timeout: 2_000, tries: 2});
  if (servers.length > 0) resolver.setServers(servers);
  const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((one) => one.family === 'IPv6' && !one.internal && !one.address.startsWith('fe80:')),
  );
  const resolve = async (name: string): Promise<readonly ResolvedAddress[]> => {
    const v6 = hasIPv6 ? settle(resolver.resolve6(name, {ttl: true})) : undefined;
    const v4 = await settle(resolver.resolve4(name, {ttl: true}));
    const needsV6 = v6 === undefined && v4.found.length === 0 && v4.code === 'ENODATA';
    const late = needsV6 ? settle(resolver.resolve6(name, {ttl: true})) : undefined;
    const six = await (v6 ?? late);
    const found = [...v4.found, ...(six?.found ?? [])];
    if (found.length === 0 && v4.error !== undefined) throw v4.error;
    return found;
  };
  return {resolve, cancel: () => resolver.cancel()};
}

interface Settled {
  readonly found: readonly ResolvedAddress[];
  readonly error?: unknown;
  readonly code?: string | undefined;
}

async function settle(query: Promise<ResolvedAddress[]>): Promise<Settled> {
  try {
    return {found: await query};
  } catch (error) {
    return {found: [], error, code: systemCode(error)};
  }
}

/** The system's hosts file; empty where there is none. */
export function systemHosts(): ReadonlyMap<string, readonly string[]> {
  const windows = process.platform === 'win32';
  const path = windows
    ? `${process.env.SystemRoot ?? 'C:\\Windows'}\\System32\\drivers\\etc\\hosts`
    : '/etc/hosts';
  try {
    return parseHostsFile(readFileSync(path, 'utf8'));
  } catch {
    return new Map();
  }
}
