import {connect as connectTcp, isIP, type Socket} from 'node:net';
import {TLSSocket} from 'node:tls';
import type {Connected, DialerParts, Origin} from './connect.ts';
import type {ConnectTarget} from './connect-to.ts';
import {ExchangeFailure, isOwnFault, wordsOf} from './failure.ts';
import {noTls, tlsFacts} from './tls.ts';

/** Least time an address gets while others wait behind it. */
const minAttemptMs = 250;
/** Most addresses tried for a connection. */
const maxAddresses = 8;
/** One connection in the making: look-up, then one address after the other. */
export class Dialing {
  readonly #parts: DialerParts;
  readonly #origin: Origin;
  readonly #target: ConnectTarget;
  readonly #http1: boolean;
  phase: 'dns' | 'connect' = 'connect';
  #cancelled = false;
  #socket: Socket | undefined;
  #dnsMs: number | null = null;
  /** Its addresses come from name servers that were asked for it. */
  #asked = false;
  #deadline = 0;

  /**
   * @param origin whose certificate is wanted, and whether over TLS
   * @param target where to connect
   * @param http1 no other protocol is spoken there
   */
  constructor(parts: DialerParts, origin: Origin, target: ConnectTarget, http1 = false) {
    this.#parts = parts;
    this.#origin = origin;
    this.#target = target;
    this.#http1 = http1;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#socket?.destroy(new ExchangeFailure('interrupted', 'given up'));
  }

  async run(): Promise<Connected> {
    const {host} = this.#target;
    const literal = isIP(host) !== 0;
    const first = literal ? [host] : await this.#lookup('connect');
    const started = this.#parts.monotonic();
    this.#deadline = started + this.#parts.timeoutMs;
    this.phase = 'connect';
    try {
      return this.#finish(await this.#tryAll(first), started);
    } catch (error) {
      const again = literal || this.#asked || !mayTryOther(error) || this.#cancelled;
      if (again) throw error;
      const fresh = (await this.#lookup('again')).filter((address) => !first.includes(address));
      this.phase = 'connect';
      if (fresh.length === 0 || this.#cancelled) throw error;
      return this.#finish(await this.#tryAll(fresh), started);
    }
  }

  async #lookup(why: 'connect' | 'again'): Promise<readonly string[]> {
    this.phase = 'dns';
    const {addresses, ms, fresh} = await this.#parts.dns.lookup(this.#target.host, why);
    this.#dnsMs = ms;
    this.#asked = fresh;
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
    const {pinned, host} = this.#target;
    if (pinned === 'any' || (pinned && ip === host)) return undefined;
    return this.#parts.refusal(ip);
  }

  #open(ip: string, timeoutMs: number): Promise<Socket> {
    const {port} = this.#target;
    const {secure, host} = this.#origin;
    const socket = secure
      ? this.#parts.tls.connect(ip, port, host, this.#http1)
      : connectTcp({host: ip, port, noDelay: true, ...{highWaterMark: 65_536}});
    socket.once('connect', () => {
      // The last line: the address that the socket is really connected to.
      const refusal = this.#refusal(socket.remoteAddress ?? ip);
      if (refusal !== undefined) socket.destroy(new ExchangeFailure('address_refused', refusal));
    });
    this.#socket = socket;
    return opened(socket, secure, `${ip}:${port}`, timeoutMs);
  }

  #finish(socket: Socket, started: number): Connected {
    return {
      socket,
      ip: socket.remoteAddress ?? '',
      proxy: null,
      http2: socket instanceof TLSSocket && socket.alpnProtocol === 'h2',
      dnsMs: this.#dnsMs,
      connectMs: this.#parts.monotonic() - started,
      ...(socket instanceof TLSSocket ? tlsFacts(socket) : noTls),
    };
  }
}

/**
 * Resolves with the socket when it is connected, and TLS agreed upon.
 *
 * @param place for messages
 * @param reached the connection is there, TLS is still to come
 */
export function opened(
  socket: Socket,
  secure: boolean,
  place: string,
  timeoutMs: number,
  reached = false,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let connected = reached;
    // An Error costs its stack: none is made for what nobody waits for any more.
    let pending = true;
    const timer = setTimeout(() => {
      const what = connected ? 'no TLS handshake' : 'no connection';
      const detail = `${what} to ${place} within ${Math.round(timeoutMs)} ms`;
      socket.destroy(new ExchangeFailure('connect_timeout', detail));
    }, timeoutMs);
    socket.once('connect', () => {
      connected = true;
    });
    // Stays for the socket's life: undici removes its own, and an error without a listener would end the process.
    socket.on('error', (error) => {
      if (!pending) return;
      pending = false;
      clearTimeout(timer);
      if (error instanceof ExchangeFailure) reject(error);
      else if (isOwnFault(error)) reject(new ExchangeFailure('own_network', wordsOf(error)));
      else reject(new ExchangeFailure(connected && secure ? 'tls' : 'connect', wordsOf(error)));
    });
    socket.once('close', () => {
      if (!pending) return;
      pending = false;
      clearTimeout(timer);
      reject(new ExchangeFailure('connect', `connection to ${place} closed`));
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      if (socket.destroyed) return;
      pending = false;
      clearTimeout(timer);
      resolve(socket);
    });
  });
}

/** Another address may help where no connection came about; it does not against a bad certificate. */
function mayTryOther(error: unknown): boolean {
  return (
    error instanceof ExchangeFailure && (error.reason === 'connect' || error.reason === 'connect_timeout')
  );
}
