import type {Reason} from '../schema/reason.ts';
import type {Truncation} from '../schema/status.ts';
import type {Credentials} from './credentials.ts';
import type {ProxyRule} from './proxy.ts';

/** One HTTP request as the fetcher asks for it. Redirects are never followed here: each hop is an exchange. */
export interface HttpRequest {
  /** Absolute http or https URL without fragment. */
  readonly url: string;
  /** Headers in the order in which they are sent; Host, Connection and User-Agent are the client's own. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Most of the payload that is kept, in bytes. Reaching it exactly and having more sets `truncated: length`. */
  readonly maxBody: number;
  /** Called when status and headers are in, before the body is read; false: close without reading the body. */
  readonly wantBody?: (head: ResponseHead) => boolean;
  /** Called with the size of each piece of the body; reading rests for so many milliseconds after it. */
  readonly pace?: (bytes: number) => number;
  readonly signal?: AbortSignal;
}

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** As received: order, case and duplicates kept; values decoded as latin1. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** What is known of the connection that carried the request. */
export interface ConnectionFacts {
  /** Null through a proxy. */
  readonly ip: string | null;
  readonly protocol: 'http/1.0' | 'http/1.1' | 'h2';
  readonly tlsVersion: string | null;
  readonly tlsCipher: string | null;
  /** The certificate was good; null without TLS. False only on hosts where that is let pass. */
  readonly tlsVerified: boolean | null;
  /** `host:port` of the proxy in between. */
  readonly proxy: string | null;
}

/** Durations in milliseconds. */
export interface Timings {
  /** Null where the address was cached or the connection kept alive. */
  readonly dns: number | null;
  /** TLS included; null where the connection was kept alive. */
  readonly connect: number | null;
  readonly firstByte: number | null;
  readonly total: number;
  /** Of total: time in which we did not read, by `pace`. */
  readonly paced?: number;
}

/** What came of a request. Never thrown: a failure is an exchange with a `reason`. */
export interface Exchange {
  /** Null: a complete (or knowingly truncated) answer. Otherwise why there is none, or why it broke off. */
  readonly reason: Reason | null;
  /** For people: the error's own words. */
  readonly detail: string | null;
  readonly head: ResponseHead | null;
  /** Request line and headers as sent, up to and with the empty line, secrets masked; null if nothing was sent. */
  readonly requestHeader: Uint8Array | null;
  /**
   * Status line and headers as received, up to and with the empty line; without interim answers (1xx). Null
   * without an answer. Over HTTP/2 there are no such bytes: fields as received, below a line `HTTP/2 STATUS`. Where `head` is null and this is not, it is what came of a header that broke off.
   */
  readonly responseHeader: Uint8Array | null;
  /** Payload: transfer coding removed, content coding kept. What came before a break is kept. Null without an answer. */
  readonly body: Uint8Array | null;
  readonly truncated: Truncation | null;
  /**
   * A connection kept from an earlier exchange was closed before the first byte of an answer, as a server may do at any
   * time: it says little of the URL or the host, and the request may be sent once more.
   */
  readonly stale?: boolean;
  /** SHA-1 of body, base32 without padding, upper case. */
  readonly sha1: string | null;
  /** SHA-256 of body, hex, lower case. */
  readonly sha256: string | null;
  readonly connection: ConnectionFacts | null;
  readonly timings: Timings;
}

export interface HttpClient {
  exchange(request: HttpRequest): Promise<Exchange>;
  /** Address (or addresses) that requests to the host would reach, for limits per address; empty if the look-up fails. Cached. */
  addresses(url: string): Promise<readonly string[]>;
  /** Closes the host's connection, when its next turn is later than keep-alive. */
  release(origin: string): void;
  /** Ends all connections; running exchanges end with reason `interrupted`. */
  close(): Promise<void>;
}

export interface HttpClientOptions {
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxHeaderBytes: number;
  /** Address ranges, as 127.0.0.0/8 or ::1/128, that may be reached although private. */
  readonly allow: readonly string[];
  /** `host:port` to `address:port`; `*` for any host or port. */
  readonly connectTo: Readonly<Record<string, string>>;
  readonly dnsServers: readonly string[];
  /** In order; the first that fits decides. */
  readonly proxies?: readonly ProxyRule[];
  readonly credentials?: Credentials;
  /** Host names whose certificate may be wrong. */
  readonly unverifiedHosts?: readonly string[];
  /** Cookies are kept and sent, for the life of the client. */
  readonly cookies?: boolean;
  /** HTTP/2 is offered to servers over TLS. */
  readonly http2?: boolean;
}
