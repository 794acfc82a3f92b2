import {connect as connectTcp, isIP, type Socket} from 'node:net';
import {TLSSocket} from 'node:tls';
import type {AddressPolicy} from './address.ts';
import type {ConnectTarget} from './connect-to.ts';
import type {DnsCache} from './dns.ts';
import {ExchangeFailure, wordsOf} from './failure.ts';
import {type TlsDialer, type TlsFacts, tlsFacts} from './tls.ts';

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
  readonly ip: string;
  readonly dnsMs: number | null;
  /** All attempts and TLS; without DNS. */
  readonly connectMs: number;
}

/** A connection in the making. */
export interface Attempt {
  readonly connected: Promise<Connected>;
  /** Gives it up: `connected` rejects, no socket is left. */
  cancel(): void;
  /** Where it is. */
  readonly phase: 'dns' | 'connect';
}

export interface DialerParts {
  readonly timeoutMs: number;
  readonly refusal: AddressPolicy;
  readonly connectTo: (host: string, port: number) => ConnectTarget | undefined;
  readonly dns: DnsCache;
  readonly tls: TlsDialer;
  readonly monotonic: () => number;
}

/** Least time an address gets while others wait behind it. */
const minAttemptMs = 250;
/** Most addresses tried for a connection. */
const maxAddresses = 8;

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

  /** Addresses that a connection would try; those that may not be reached are left out. */
  async addresses(origin: Origin): Promise<readonly string[]> {
    const target = this.#target(origin);
    if (isIP(target.host) !== 0) return this.#permitted([target.host], target);
    return this.#permitted((await this.#parts.dns.lookup(target.host)).addresses, target);
  }

  dial(origin: Origin): Attempt {
    const dialing = new Dialing(this.#parts, origin, this.#target(origin));
    return {
      connected: dialing.run(),
      cancel: () => dialing.cancel(),
      get phase() {
        return dialing.phase;
      },
    };
  }

  #target(origin: Origin): ConnectTarget {
    const {host, port} = origin;
    return this.#parts.connectTo(host, port) ?? {host, port, pinned: false};
  }

  #permitted(addresses: readonly string[], target: ConnectTarget): readonly string[] {
    return target.pinned ? addresses : addresses.filter((ip) => this.#parts.refusal(ip) === undefined);
  }
}

class Dialing {
  readonly #parts: DialerParts;
  readonly #origin: Origin;
  readonly #target: ConnectTarget;
  phase: 'dns' | 'connect' = 'connect';
  #cancelled = false;
  #socket: Socket | undefined;
  #dnsMs: number | null = null;
  #deadline = 0;

  constructor(parts: DialerParts, origin: Origin, target: ConnectTarget) {
    this.#parts = parts;
    this.#origin = origin;
    this.#target = target;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#socket?.destroy(new ExchangeFailure('interrupted', 'given up'));
  }

  async run(): Promise<Connected> {
    const {host} = this.#target;
    const literal = isIP(host) !== 0;
    const first = literal ? [host] : await this.#lookup(false);
    const started = this.#parts.monotonic();
    this.#deadline = started + this.#parts.timeoutMs;
    this.phase = 'connect';
    try {
      return this.#finish(await this.#tryAll(first), started);
    } catch (error) {
      const again = literal || this.#dnsMs !== null || !mayTryOther(error) || this.#cancelled;
      if (again) throw error;
      const fresh = (await this.#lookup(true)).filter((address) => !first.includes(address));
      this.phase = 'connect';
      if (fresh.length === 0 || this.#cancelled) throw error;
      return this.#finish(await this.#tryAll(fresh), started);
    }
  }

  async #lookup(fresh: boolean): Promise<readonly string[]> {
    this.phase = 'dns';
    const {addresses, ms} = await this.#parts.dns.lookup(this.#target.host, fresh);
    this.#dnsMs = ms;
    return addresses;
  }

  async #tryAll(addresses: readonly string[]): Promise<Socket> {
    const refused = addresses.map((ip) => this.#refusal(ip));
    const permitted = addresses.filter((_, i) => refused[i] === undefined).slice(0, maxAddresses);
    let failure: unknown = new ExchangeFailure(
      'address_refused',
      refused.find((one) => one !== undefined) ?? '',
    );
    for (const [i, ip] of permitted.entries()) {
      const left = this.#deadline - this.#parts.monotonic();
      if (this.#cancelled || (i > 0 && left <= 0)) break;
      const share = Math.max(left / (permitted.length - i), Math.min(minAttemptMs, left));
      try {
        return await this.#open(ip, share);
      } catch (error) {
        failure = error;
        if (!mayTryOther(error)) break;
      }
    }
    throw failure;
  }

  #refusal(ip: string): string | undefined {
    if (this.#target.pinned && ip === this.#target.host) return undefined;
    return this.#parts.refusal(ip);
  }

  #open(ip: string, timeoutMs: number): Promise<Socket> {
    const {port} = this.#target;
    const {secure, host} = this.#origin;
    const socket = secure
      ? this.#parts.tls.connect(ip, port, host)
      : connectTcp({host: ip, port, noDelay: true, ...{highWaterMark: 65_536}});
    this.#socket = socket;
    return new Promise((resolve, reject) => {
      let reached = false;
      // An Error costs its stack: none is made for what nobody waits for any more.
      let pending = true;
      const timer = setTimeout(() => {
        const what = reached ? 'no TLS handshake' : 'no connection';
        socket.destroy(
          new ExchangeFailure(
            'connect_timeout',
            `${what} to ${ip}:${port} within ${Math.round(timeoutMs)} ms`,
          ),
        );
      }, timeoutMs);
      socket.once('connect', () => {
        reached = true;
        // The last line: the address that the socket is really connected to.
        const refusal = this.#refusal(socket.remoteAddress ?? ip);
        if (refusal !== undefined) socket.destroy(new ExchangeFailure('address_refused', refusal));
      });
      // Stays for the socket's life: undici removes its own, and an error without a listener would end the process.
      socket.on('error', (error) => {
        if (!pending) return;
        pending = false;
        clearTimeout(timer);
        if (error instanceof ExchangeFailure) reject(error);
        else reject(new ExchangeFailure(reached && secure ? 'tls' : 'connect', wordsOf(error)));
      });
      socket.once('close', () => {
        if (!pending) return;
        pending = false;
        clearTimeout(timer);
        reject(new ExchangeFailure('connect', `connection to ${ip}:${port} closed`));
      });
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        if (socket.destroyed) return;
        pending = false;
        clearTimeout(timer);
        resolve(socket);
      });
    });
  }

  #finish(socket: Socket, started: number): Connected {
    const facts = socket instanceof TLSSocket ? tlsFacts(socket) : {tlsVersion: null, tlsCipher: null};
    return {
      socket,
      ip: socket.remoteAddress ?? '',
      dnsMs: this.#dnsMs,
      connectMs: this.#parts.monotonic() - started,
      ...facts,
    };
  }
}

/** Another address may help where no connection came about; it does not against a bad certificate. */
function mayTryOther(error: unknown): boolean {
  return (
    error instanceof ExchangeFailure && (error.reason === 'connect' || error.reason === 'connect_timeout')
  );
}
