import type {Reason} from '../schema/reason.ts';
import type {Truncation} from '../schema/status.ts';
import {BodyCollector} from './body.ts';
import type {CaptureListener, SocketCapture} from './capture.ts';
import type {Attempt, Connected} from './connect.ts';
import {maskHeaders} from './credentials.ts';
import type {ConnectionFacts, Exchange, HttpRequest, ResponseHead} from './exchange.ts';
import {ExchangeFailure, wordsOf} from './failure.ts';
import type {HeaderBlock} from './header-block.ts';
import {http2RequestText, readHttp2Head} from './http2.ts';
import {askedForPassword} from './proxy.ts';

export interface RunningLimits {
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly monotonic: () => number;
}

/** What was handed to undici for it. */
export interface SentRequest {
  /** Or the whole URL, for a proxy. */
  readonly path: string;
  readonly host: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Names of the headers that hold secrets. */
  readonly secrets: readonly string[];
}

/** What the pool does when an exchange is over, or wants another connection. */
export interface RunningOwner {
  /** @param reusable the connection is in a known state; false: it must go */
  settled(running: RunningExchange, reusable: boolean): void;
  /** Status and headers of the final answer are in. */
  answered(running: RunningExchange, head: ResponseHead): void;
}

/**
 * One exchange while it runs. It is undici's handler (the bare object of `dispatch`, its cheapest form), listens to
 * the socket's capture, and holds the time-outs: one timer, since undici's are coarse and a drip resets them.
 * It settles exactly once; whatever comes after that is ignored.
 */
export class RunningExchange implements CaptureListener {
  readonly request: HttpRequest;
  readonly maxHeaderBytes: number;
  readonly #limits: RunningLimits;
  readonly #owner: RunningOwner;
  readonly #resolve: (exchange: Exchange) => void;
  readonly #started: number;
  readonly #body: BodyCollector;
  #timer: NodeJS.Timeout | undefined;
  #settled = false;
  #heardOut = false;
  #stale = false;

  /** The connection was kept from an earlier exchange. */
  reused = false;
  sent: SentRequest | undefined;
  attempt: Attempt | undefined;
  capture: SocketCapture | undefined;
  #facts: Omit<Connected, 'socket'> | undefined;
  #dnsMs: number | null = null;
  #connectMs: number | null = null;

  #sentAt = 0;
  #firstByteMs: number | null = null;
  #lastByteAt = 0;
  #head: ResponseHead | null = null;
  #block: HeaderBlock | undefined;
  #rawHeader: Uint8Array | null = null;
  /** The answer has no body. */
  #empty = false;
  #broken: string | undefined;
  #resume: (() => void) | undefined;
  #pacedMs = 0;

  constructor(
    request: HttpRequest,
    limits: RunningLimits,
    owner: RunningOwner,
    resolve: (exchange: Exchange) => void,
  ) {
    this.request = request;
    this.maxHeaderBytes = limits.maxHeaderBytes;
    this.#limits = limits;
    this.#owner = owner;
    this.#resolve = resolve;
    this.#started = limits.monotonic();
    this.#body = new BodyCollector(request.maxBody);
    this.#arm(Math.min(limits.totalTimeoutMs, limits.idleTimeoutMs));
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** The request goes over this connection. */
  carriedBy(connected: Omit<Connected, 'socket'>, capture: SocketCapture | undefined): void {
    this.capture = capture;
    this.#broken = undefined;
    this.#facts = connected;
    if (!this.reused) {
      this.#dnsMs = connected.dnsMs;
      this.#connectMs = connected.connectMs;
    }
  }

  // The capture's words

  onRequest(): void {
    this.#sentAt = this.#limits.monotonic();
    this.#lastByteAt = this.#sentAt;
  }

  onBytes(): void {
    this.#lastByteAt = this.#limits.monotonic();
    this.#firstByteMs ??= this.#lastByteAt - this.#sentAt;
  }

  onHeader(head: ResponseHead, block: HeaderBlock, raw: Uint8Array, empty: boolean): void {
    const proxy = this.#facts?.proxy ?? null;
    if (head.status === 407 && proxy !== null) {
      this.fail('own_network', askedForPassword(proxy));
      return;
    }
    this.#empty = empty;
    this.#head = head;
    this.#block = block;
    this.#rawHeader = raw;
    this.#owner.answered(this, head);
  }

  onRefused(reason: Reason, detail: string): void {
    this.fail(reason, detail);
  }

  // undici's words

  onConnect(): void {
    if (this.#facts?.http2) this.onRequest();
  }

  onHeaders(status: number, fields: Buffer[], resume: () => void): boolean {
    this.#resume = resume;
    if (this.#facts?.http2 && !this.#settled) this.#headersOfHttp2(status, fields);
    if (this.#settled || this.#head === null) return true;
    if (!this.#empty && this.request.wantBody?.(this.#head) === false)
      this.#finish({truncated: 'length', reusable: false});
    return true;
  }

  #headersOfHttp2(status: number, fields: readonly Buffer[]): void {
    this.onBytes();
    const {head, text} = readHttp2Head(status, fields);
    if (text.length > this.maxHeaderBytes) {
      this.fail('header_limit', `response header larger than ${this.maxHeaderBytes} bytes`);
      return;
    }
    this.#head = head;
    this.#rawHeader = Buffer.from(text, 'latin1');
    this.#empty = status === 204 || status === 304;
    this.#owner.answered(this, head);
  }

  onData(chunk: Buffer): boolean {
    if (this.#settled) return true;
    this.#lastByteAt = this.#limits.monotonic();
    if (!this.#body.push(chunk)) this.#finish({truncated: 'length', reusable: false});
    const restMs = this.#settled ? 0 : (this.request.pace?.(chunk.length) ?? 0);
    if (restMs < 1) return true;
    // A rest that we make is no time that the server takes: both time-outs wait with us.
    this.#pacedMs += restMs;
    this.#lastByteAt += restMs;
    setTimeout(() => {
      if (!this.#settled) this.#resume?.();
    }, restMs);
    return false;
  }

  onComplete(): void {
    // A body that ends with its connection is complete by a FIN; after a reset undici says so as well.
    if (this.#broken !== undefined) this.fail('reset', this.#broken);
    else this.#finish({reusable: true});
  }

  /** The socket reported an error; comes before undici's word about it. */
  onSocketError(error: Error): void {
    this.#broken = wordsOf(error);
  }

  onError(error: unknown): void {
    if (this.#settled) return;
    if (error instanceof ExchangeFailure) {
      this.fail(error.reason, error.message);
      return;
    }
    this.#stale = this.reused && this.#firstByteMs === null;
    const inHeader = this.capture?.partialHeader !== undefined;
    this.fail(reasonOf(error), `${wordsOf(error)}${inHeader ? ', inside the response header' : ''}`);
  }

  /** Ends the exchange without success; what is in of a body is kept. If that is all that may be kept, nothing was lost. */
  fail(reason: Reason, detail: string): void {
    if (this.#body.size > 0 && this.#body.size >= this.request.maxBody) {
      this.#finish({truncated: 'length', reusable: false});
      return;
    }
    const truncated: Truncation = reason === 'timeout' ? 'time' : 'disconnect';
    this.#finish({reason, detail, truncated: this.#head === null ? null : truncated, reusable: false});
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(ms)));
  }

  #check(): void {
    const now = this.#limits.monotonic();
    const {totalTimeoutMs, idleTimeoutMs} = this.#limits;
    const totalLeft = this.#started + this.#pacedMs + totalTimeoutMs - now;
    const idleLeft = this.#sentAt === 0 ? totalLeft : this.#lastByteAt + idleTimeoutMs - now;
    if (totalLeft <= 0) this.#timedOut(`no complete answer within ${totalTimeoutMs} ms`);
    else if (idleLeft > 0) this.#arm(Math.min(totalLeft, idleLeft));
    else if (this.#heardOut) this.#timedOut(`nothing came for ${idleTimeoutMs} ms`);
    else {
      // Our own process may have been busy, and the bytes be waiting: sockets are read once more before the verdict.
      this.#heardOut = true;
      setImmediate(() => {
        if (!this.#settled) this.#check();
        this.#heardOut = false;
      });
    }
  }

  #timedOut(detail: string): void {
    const phase = this.#sentAt === 0 ? this.attempt?.phase : undefined;
    this.fail(phase === 'dns' ? 'dns' : phase === 'connect' ? 'connect_timeout' : 'timeout', detail);
  }

  #finish(end: {
    readonly reason?: Reason;
    readonly detail?: string;
    readonly truncated?: Truncation | null;
    readonly reusable: boolean;
  }): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    const payload = this.#head === null ? undefined : this.#body.finish();
    const partial = this.capture?.partialHeader;
    const exchange: Exchange = {
      reason: end.reason ?? null,
      detail: end.detail ?? this.#notes(),
      head: this.#head,
      requestHeader: this.#requestHeader(),
      responseHeader: this.#rawHeader ?? (partial === undefined ? null : Buffer.from(partial)),
      body: payload?.body ?? null,
      truncated: end.truncated ?? null,
      ...(this.#stale ? {stale: true} : {}),
      sha1: payload?.sha1 ?? null,
      sha256: payload?.sha256 ?? null,
      connection: this.#connection(),
      timings: {
        dns: this.#dnsMs,
        connect: this.#connectMs,
        firstByte: this.#firstByteMs,
        total: this.#limits.monotonic() - this.#started,
        ...(this.#pacedMs > 0 ? {paced: this.#pacedMs} : {}),
      },
    };
    this.capture?.end();
    this.#owner.settled(this, end.reusable);
    this.#resolve(exchange);
  }

  /** What was odd about an answer that is none the less one. */
  #notes(): string | null {
    const repairs = [
      ...(this.#block?.repairs ?? []),
      ...(this.capture?.oddChunks ? ['odd chunk lines'] : []),
    ];
    const problem = this.#facts?.tlsProblem ?? null;
    const notes = [
      ...(problem === null ? [] : [`certificate let pass: ${problem}`]),
      ...(repairs.length === 0 ? [] : [`read leniently: ${repairs.join(', ')}`]),
    ];
    return notes.length === 0 ? null : notes.join('; ');
  }

  #requestHeader(): Uint8Array | null {
    const {sent} = this;
    if (sent === undefined) return null;
    const overHttp2 = this.#facts?.http2 && this.#sentAt > 0;
    const text = overHttp2 ? http2RequestText(sent.path, sent.host, sent.headers) : this.capture?.request;
    return text === undefined ? null : Buffer.from(maskHeaders(text, sent.secrets), 'latin1');
  }

  #connection(): ConnectionFacts | null {
    const facts = this.#facts;
    if (facts === undefined) return null;
    return {
      ip: facts.ip,
      protocol: facts.http2 ? 'h2' : this.#block?.version === '1.0' ? 'http/1.0' : 'http/1.1',
      tlsVersion: facts.tlsVersion,
      tlsCipher: facts.tlsCipher,
      tlsVerified: facts.tlsVersion === null ? null : facts.tlsProblem === null,
      proxy: facts.proxy,
    };
  }
}

/** What undici's and the socket's errors mean once a request is on its way. */
function reasonOf(error: unknown): Reason {
  const name = error instanceof Error ? error.name : '';
  if (name === 'HTTPParserError') return 'http_malformed';
  if (name === 'InvalidArgumentError') return 'url_invalid';
  return 'reset';
}
