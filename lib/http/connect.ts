import {isIP, type Socket} from 'node:net';
import type {AddressPolicy} from './address.ts';
import type {ConnectTarget} from './connect-to.ts';
import {Dialing} from './dialing.ts';
import type {DnsCache} from './dns.ts';
import type {HttpProxy, ProxyChoice} from './proxy.ts';
import {ProxyDialing} from './proxy-dialing.ts';
import type {TlsDialer, TlsFacts} from './tls.ts';

/** Where a URL leads. `host` is without brackets. */
export interface Origin {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

export function originOf(url: URL): Origin {
  const secure = url.protocol === 'https:';
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  return {secure, host, port: url.port === '' ? (secure ? 443 : 80) : Number(url.port)};
}

/** An open connection. Durations in milliseconds. */
export interface Connected extends TlsFacts {
  readonly socket: Socket;
  /** Null through a proxy: only that knows. */
  readonly ip: string | null;
  /** `host:port` of the proxy in between; null without one. */
  readonly proxy: string | null;
  /** Both sides agreed on HTTP/2. */
  readonly http2: boolean;
  readonly dnsMs: number | null;
  /** All attempts and TLS; without DNS. */
  readonly connectMs: number;
}

/** A connection in the making. */
export interface Attempt {
  /** Called once. @throws ExchangeFailure */
  run(): Promise<Connected>;
  /** Gives it up: `run` rejects, no socket is left. */
  cancel(): void;
  /** Where it is. */
  readonly phase: 'dns' | 'connect';
}

export interface DialerParts {
  readonly timeoutMs: number;
  /** For CONNECT. */
  readonly userAgent: string;
  readonly refusal: AddressPolicy;
  readonly connectTo: (host: string, port: number) => ConnectTarget | undefined;
  readonly proxyFor: ProxyChoice;
  readonly dns: DnsCache;
  readonly tls: TlsDialer;
  readonly monotonic: () => number;
}

/**
 * Makes connections. Every address is checked where it is used: a literal of the URL before anything is sent, what
 * DNS said before connecting, and the socket's own remote address after. All addresses of a host are tried, and
 * when cached ones fail DNS is asked once more, before the host is blamed. Node's own trying of several addresses
 * (autoSelectFamily) is not used: it gives up on each after 250 ms.
 */
export class Dialer {
  readonly #parts: DialerParts;

  constructor(parts: DialerParts) {
    this.#parts = parts;
  }

  /** Addresses that a connection would try; those that may not be reached are left out. None through a proxy. */
  async addresses(origin: Origin): Promise<readonly string[]> {
    if (this.proxyFor(origin) !== undefined) return [];
    const target = this.#target(origin);
    if (isIP(target.host) !== 0) return this.#permitted([target.host], target);
    return this.#permitted((await this.#parts.dns.lookup(target.host, 'ahead')).addresses, target);
  }

  proxyFor({host}: Origin): HttpProxy | undefined {
    return this.#parts.proxyFor(host);
  }

  dial(origin: Origin): Attempt {
    const proxy = this.proxyFor(origin);
    if (proxy !== undefined) return new ProxyDialing(this.#parts, origin, proxy);
    return new Dialing(this.#parts, origin, this.#target(origin));
  }

  #target(origin: Origin): ConnectTarget {
    const {host, port} = origin;
    return this.#parts.connectTo(host, port) ?? {host, port, pinned: false};
  }

  #permitted(addresses: readonly string[], target: ConnectTarget): readonly string[] {
    return target.pinned ? addresses : addresses.filter((ip) => this.#parts.refusal(ip) === undefined);
  }
}
