import {request as httpRequest} from 'node:http';
import {isIP, type Socket} from 'node:net';
import {TLSSocket} from 'node:tls';
import type {Attempt, Connected, DialerParts, Origin} from './connect.ts';
import {Dialing, opened} from './dialing.ts';
import {ExchangeFailure, wordsOf} from './failure.ts';
import {askedForPassword, type HttpProxy, hostAndPort, proxyTarget} from './proxy.ts';
import {noTls, tlsFacts} from './tls.ts';

/**
 * A connection through a proxy in the making. http needs no more than the proxy; https a tunnel (CONNECT), in which
 * the certificate is checked as it is without a proxy.
 *
 * The name is looked up by the proxy, so that rules about addresses hold for those that stand in the URL, and for
 * the names of this machine, only. A proxy that cannot be reached, or wants a password, is our own fault:
 * `own_network`, charged to nobody. What it says of the host (403, 502, 504) is charged to the host.
 */
export class ProxyDialing implements Attempt {
  readonly #parts: DialerParts;
  readonly #origin: Origin;
  readonly #proxy: HttpProxy;
  readonly #dialing: Dialing;
  #socket: Socket | undefined;
  #cancelled = false;

  constructor(parts: DialerParts, origin: Origin, proxy: HttpProxy) {
    this.#parts = parts;
    this.#origin = origin;
    this.#proxy = proxy;
    this.#dialing = new Dialing(parts, proxy, proxyTarget(proxy), true);
  }

  readonly phase = 'connect';

  cancel(): void {
    this.#cancelled = true;
    this.#dialing.cancel();
    this.#socket?.destroy(new ExchangeFailure('interrupted', 'given up'));
  }

  async run(): Promise<Connected> {
    const {monotonic} = this.#parts;
    const started = monotonic();
    this.#checkAddress();
    const {socket: toProxy} = await this.#reachProxy();
    this.#socket = toProxy;
    if (this.#cancelled) throw new ExchangeFailure('interrupted', 'given up');
    const socket = this.#origin.secure ? await this.#tunnel(toProxy) : toProxy;
    return {
      socket,
      ip: null,
      proxy: this.#proxy.name,
      http2: this.#origin.secure && socket instanceof TLSSocket && socket.alpnProtocol === 'h2',
      dnsMs: null,
      connectMs: monotonic() - started,
      ...(this.#origin.secure && socket instanceof TLSSocket ? tlsFacts(socket) : noTls),
    };
  }

  /** What can be known without a look-up. */
  #checkAddress(): void {
    const {host} = this.#origin;
    const local = /(^|\.)localhost\.?$/.test(host);
    const refusal = isIP(host) !== 0 || local ? this.#parts.refusal(local ? '127.0.0.1' : host) : undefined;
    if (refusal !== undefined) throw new ExchangeFailure('address_refused', refusal);
  }

  async #reachProxy(): Promise<Connected> {
    try {
      return await this.#dialing.run();
    } catch (error) {
      if (error instanceof ExchangeFailure && error.reason === 'interrupted') throw error;
      throw new ExchangeFailure('own_network', `proxy ${this.#proxy.name}: ${wordsOf(error)}`);
    }
  }

  async #tunnel(toProxy: Socket): Promise<Socket> {
    const {timeoutMs, tls} = this.#parts;
    const {host, port} = this.#origin;
    const place = hostAndPort(host, port);
    await this.#askForTunnel(toProxy, place);
    const socket = tls.over(toProxy, host, port);
    this.#socket = socket;
    return opened(socket, true, `${place} through proxy ${this.#proxy.name}`, timeoutMs, true);
  }

  /** CONNECT, by Node's own client: the answer has no body, whatever its headers say. @see RFC 9110, 9.3.6 */
  #askForTunnel(toProxy: Socket, place: string): Promise<void> {
    const {name, authorization} = this.#proxy;
    return new Promise((resolve, reject) => {
      const fail = (error: ExchangeFailure) => {
        clearTimeout(timer);
        toProxy.destroy();
        reject(error);
      };
      const timer = setTimeout(
        () =>
          fail(
            new ExchangeFailure(
              'connect_timeout',
              `proxy ${name}: no connection to ${place} within ${this.#parts.timeoutMs} ms`,
            ),
          ),
        this.#parts.timeoutMs,
      );
      const request = httpRequest({
        createConnection: () => toProxy,
        method: 'CONNECT',
        path: place,
        setHost: false,
        headers: [
          ['Host', place],
          ['User-Agent', this.#parts.userAgent],
          ...(authorization === undefined ? [] : [['Proxy-Authorization', authorization]]),
        ].flat(),
      });
      request.once('error', (error) => {
        fail(
          error instanceof ExchangeFailure
            ? error
            : new ExchangeFailure('own_network', `proxy ${name}: ${wordsOf(error)}`),
        );
      });
      request.once('connect', (response, _socket, head) => {
        const status = response.statusCode ?? 0;
        if (status === 407) fail(new ExchangeFailure('own_network', askedForPassword(name)));
        else if (status < 200 || status > 299)
          fail(
            new ExchangeFailure(
              'connect',
              `proxy ${name} does not connect to ${place}: ${status} ${response.statusMessage ?? ''}`.trim(),
            ),
          );
        else {
          clearTimeout(timer);
          if (head.length > 0) toProxy.unshift(head);
          resolve();
        }
      });
      request.end();
    });
  }
}
