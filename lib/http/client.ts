import {Client} from 'undici';
import {addressPolicy} from './address.ts';
import {SocketCapture} from './capture.ts';
import {type Attempt, type Connected, Dialer, type Origin, originOf} from './connect.ts';
import {connectToMap} from './connect-to.ts';
import {Cookies} from './cookies.ts';
import type {Credentials} from './credentials.ts';
import {connectionLimit, descriptorLimit} from './descriptors.ts';
import {DnsCache, nameServers, type Resolve, systemHosts} from './dns.ts';
import type {Exchange, HttpClient, HttpClientOptions, HttpRequest, ResponseHead} from './exchange.ts';
import {wordsOf} from './failure.ts';
import {Interrupts} from './interrupts.ts';
import {proxyChoice} from './proxy.ts';
import {RunningExchange, type RunningLimits, type RunningOwner} from './running.ts';
import {TlsDialer, type TlsOptions} from './tls.ts';

/** What tests and unusual networks put in the place of the real thing. */
export interface HttpClientEdges {
  readonly resolve?: Resolve;
  readonly hosts?: ReadonlyMap<string, readonly string[]>;
  readonly monotonic?: () => number;
  readonly tls?: TlsOptions;
  /** Most connections kept open without an exchange; default: half of the process's descriptors, 10,000 at most. */
  readonly maxConnections?: number;
}

/** How long an unused connection is kept where the server does not say. */
const keepAliveMs = 15_000;

/** HTTP/1.1 over undici's Client, one a connection. The only file that imports undici. */
export function createHttpClient(options: HttpClientOptions, edges: HttpClientEdges = {}): HttpClient {
  return new PooledHttpClient(options, edges);
}

/** One undici Client, and with it at most one connection. It carries one exchange at a time. */
interface Lane {
  readonly key: string;
  readonly origin: Origin;
  readonly client: Client;
  running: RunningExchange | undefined;
  connection:
    | {readonly facts: Omit<Connected, 'socket'>; readonly capture: SocketCapture | undefined}
    | undefined;
  attempt: Attempt | undefined;
  /** Its origin was released while an exchange was running. */
  released: boolean;
}

class PooledHttpClient implements HttpClient, RunningOwner {
  readonly #userAgent: string;
  readonly #limits: RunningLimits;
  readonly #credentials: Credentials;
  readonly #cookies: Cookies | undefined;
  readonly #dialer: Dialer;
  readonly #cancelDns: () => void;
  /** Most connections kept without an exchange, and most in all. */
  readonly #maxConnections: number;
  readonly #maxOpen: number;
  /** All lanes by origin. */
  readonly #lanes = new Map<string, Set<Lane>>();
  /** Lanes without an exchange, the one unused for longest first. */
  readonly #idle = new Set<Lane>();
  readonly #busy = new Map<RunningExchange, Lane>();
  readonly #interrupts = new Interrupts<RunningExchange>((running) =>
    running.fail('interrupted', 'stopped by a signal'),
  );
  #closed = false;

  constructor(options: HttpClientOptions, edges: HttpClientEdges) {
    const monotonic = edges.monotonic ?? (() => performance.now());
    const servers = nameServers(options.dnsServers);
    this.#userAgent = options.userAgent;
    this.#cancelDns = servers.cancel;
    this.#maxConnections = edges.maxConnections ?? Math.min(10_000, Math.floor(descriptorLimit() / 2));
    this.#maxOpen = Math.max(this.#maxConnections, connectionLimit());
    this.#credentials = options.credentials ?? new Map();
    this.#cookies = options.cookies ? new Cookies() : undefined;
    this.#limits = {
      idleTimeoutMs: options.idleTimeoutMs,
      totalTimeoutMs: options.totalTimeoutMs,
      maxHeaderBytes: options.maxHeaderBytes,
      monotonic,
    };
    this.#dialer = new Dialer({
      timeoutMs: options.connectTimeoutMs,
      userAgent: options.userAgent,
      refusal: addressPolicy(options.allow),
      connectTo: connectToMap(options.connectTo),
      proxyFor: proxyChoice(options.proxies ?? []),
      dns: new DnsCache({
        resolve: edges.resolve ?? servers.resolve,
        hosts: edges.hosts ?? systemHosts(),
        monotonic,
      }),
      tls: new TlsDialer({
        ...edges.tls,
        protocols: options.http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
        unverified: new Set(options.unverifiedHosts),
      }),
      monotonic,
    });
  }

  exchange(request: HttpRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const running = new RunningExchange(request, this.#limits, this, resolve);
      const url = parsed(request.url);
      if (this.#closed || request.signal?.aborted) running.fail('interrupted', 'stopped before it was sent');
      else if (url === undefined) running.fail('url_invalid', `not a URL: ${request.url}`);
      else if (!/^https?:$/.test(url.protocol)) running.fail('scheme', `not http or https: ${url.protocol}`);
      else this.#start(running, url);
    });
  }

  async addresses(url: string): Promise<readonly string[]> {
    const target = parsed(url);
    return target === undefined ? [] : this.#dialer.addresses(originOf(target)).catch(() => []);
  }

  release(origin: string): void {
    for (const lane of this.#lanes.get(origin) ?? []) {
      if (lane.running === undefined) this.#drop(lane);
      else lane.released = true;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelDns();
    for (const running of [...this.#busy.keys()]) running.fail('interrupted', 'the client was closed');
    const lanes = [...this.#lanes.values()].flatMap((own) => [...own]);
    await Promise.all(lanes.map((lane) => this.#drop(lane)));
  }

  // RunningOwner

  settled(running: RunningExchange, reusable: boolean): void {
    const lane = this.#busy.get(running);
    this.#busy.delete(running);
    if (running.request.signal !== undefined) this.#interrupts.remove(running.request.signal, running);
    if (lane === undefined) return;
    lane.running = undefined;
    lane.attempt?.cancel();
    if (!reusable || lane.released || this.#closed) {
      this.#drop(lane);
      return;
    }
    this.#idle.add(lane);
    const oldest = this.#idle.size > this.#maxConnections ? this.#idle.values().next().value : undefined;
    if (oldest !== undefined) this.#drop(oldest);
  }

  answered(running: RunningExchange, head: ResponseHead): void {
    this.#cookies?.take(new URL(running.request.url), head.headers);
  }

  #start(running: RunningExchange, url: URL): void {
    const lane = this.#idleLane(url.origin) ?? this.#newLane(url);
    this.#idle.delete(lane);
    lane.running = running;
    this.#busy.set(running, lane);
    if (running.request.signal !== undefined) this.#interrupts.add(running.request.signal, running);
    running.reused = lane.connection !== undefined;
    if (lane.connection !== undefined) {
      running.carriedBy(lane.connection.facts, lane.connection.capture);
      lane.connection.capture?.begin(running);
    }
    // Through a proxy http is asked for by the whole URL (RFC 9112, 3.2.2); https has a tunnel.
    const proxy = url.protocol === 'http:' ? this.#dialer.proxyFor(lane.origin) : undefined;
    const {headers, secrets} = this.#headers(running.request, url, proxy?.authorization);
    const path = (proxy === undefined ? '' : url.origin) + url.pathname + url.search;
    running.sent = {path, host: url.host, headers, secrets};
    try {
      lane.client.dispatch({method: 'GET', path, headers}, running);
    } catch (error) {
      running.fail('url_invalid', wordsOf(error));
    }
  }

  /** Names and values in turn, and the names of those that are secret. */
  #headers(
    request: HttpRequest,
    url: URL,
    forProxy: string | undefined,
  ): {readonly headers: string[]; readonly secrets: readonly string[]} {
    const headers = ['User-Agent', this.#userAgent];
    for (const [name, value] of request.headers) headers.push(name, value);
    const cookie = this.#cookies?.headerFor(url);
    const own = this.#credentials.get(url.origin);
    if (own === undefined && forProxy === undefined && cookie === undefined) return {headers, secrets: []};
    const secret = new Map(own);
    if (forProxy !== undefined) secret.set('Proxy-Authorization', forProxy);
    const login = [...secret.keys()].find((name) => name.toLowerCase() === 'cookie');
    if (cookie !== undefined && login === undefined) headers.push('Cookie', cookie);
    // One header, as RFC 6265 wants it, and all of it masked.
    if (cookie !== undefined && login !== undefined) secret.set(login, `${secret.get(login)}; ${cookie}`);
    for (const [name, value] of secret) headers.push(name, value);
    return {headers, secrets: [...secret.keys()]};
  }

  #idleLane(key: string): Lane | undefined {
    for (const lane of this.#lanes.get(key) ?? []) if (lane.running === undefined) return lane;
    return undefined;
  }

  #newLane(url: URL): Lane {
    const origin = originOf(url);
    // A kept connection gives way to one that is needed.
    const full = this.#idle.size + this.#busy.size >= this.#maxOpen;
    const oldest = full ? this.#idle.values().next().value : undefined;
    if (oldest !== undefined) this.#drop(oldest);
    const client = new Client(url.origin, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveTimeoutThreshold: 1_000,
      // Time-outs and limits are RunningExchange's and SocketCapture's.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: 1_048_576,
      connect: (_options, callback) => {
        this.#connect(lane, origin).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        );
      },
    });
    const lane: Lane = {
      key: url.origin,
      origin,
      client,
      running: undefined,
      connection: undefined,
      attempt: undefined,
      released: false,
    };
    const own = this.#lanes.get(lane.key);
    if (own === undefined) this.#lanes.set(lane.key, new Set([lane]));
    else own.add(lane);
    return lane;
  }

  async #connect(lane: Lane, origin: Origin): Promise<Connected['socket']> {
    const {running} = lane;
    const attempt = this.#dialer.dial(origin);
    lane.attempt = attempt;
    if (running !== undefined) {
      running.attempt = attempt;
      // undici found the kept connection dead by itself, and makes a new one for the same request.
      running.reused = false;
    }
    const {socket, ...facts} = await attempt.run();
    const capture = facts.http2 ? undefined : new SocketCapture(socket);
    lane.attempt = undefined;
    lane.connection = {facts, capture};
    socket.on('error', (error) => lane.running?.onSocketError(error));
    socket.once('close', () => {
      lane.connection = undefined;
      // After undici has seen the close as well: a Client destroyed in between never tells that it is.
      queueMicrotask(() => {
        if (lane.running === undefined && lane.connection === undefined) this.#drop(lane);
      });
    });
    if (running !== undefined && !running.settled) {
      running.carriedBy(facts, capture);
      capture?.begin(running);
    }
    return socket;
  }

  #drop(lane: Lane): Promise<void> {
    this.#idle.delete(lane);
    const own = this.#lanes.get(lane.key);
    own?.delete(lane);
    if (own?.size === 0) this.#lanes.delete(lane.key);
    lane.attempt?.cancel();
    return lane.client.destroyed ? Promise.resolve() : lane.client.destroy();
  }
}

/** Parsed once: `URL.canParse` would double the cost. */
function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}
