/** Rows of the table fetch, made from what was asked and what came back. Pure. */
import type {Exchange} from '../http/exchange.ts';
import type {Capture} from '../schema/fetch.ts';
import {reasonFacts} from '../schema/reason.ts';
import {captureId} from './capture-id.ts';
import {header, type Outcome} from './outcome.ts';
import type {WorkItem} from './worklist.ts';

/** Whose URL it is. */
export interface CaptureHost {
  readonly hostKey: bigint;
  readonly name: string;
  readonly domain: string;
}

export interface CaptureFacts {
  readonly segment: string;
  readonly item: WorkItem;
  readonly host: CaptureHost;
  readonly outcome: Outcome;
  readonly detail: string | null;
  /** When the request was sent, or when it was decided to send none; ms since the epoch, whole. */
  readonly time: number;
}

export interface AnsweredFacts extends CaptureFacts {
  readonly exchange: Exchange;
  readonly redirect: string | null;
  readonly retryAfterMs: number | null;
  /** Delay that held for the host before; 0 for its first request. */
  readonly delayMs: number;
  /** Whether the answer says what the host says to a random path. */
  readonly soft404: boolean;
  /** The payload is kept. */
  readonly stored: boolean;
}

/** The row of a URL that was not asked for. */
export function unaskedCapture(facts: CaptureFacts): Capture {
  const {segment, item, host, outcome, time} = facts;
  return {
    segment,
    capture_id: captureId(segment, item.kind, item.urlKey, time, item.hop),
    kind: item.kind,
    host_key: host.hostKey,
    url_key: item.urlKey,
    url: item.url,
    url_host_name: host.name,
    url_host_registered_domain: host.domain,
    origin_url: item.originUrl,
    hop: item.hop,
    depth: item.depth,
    seed: item.seed,
    status: outcome.status,
    reason: outcome.reason,
    reason_detail: facts.detail,
    fetch_time: new Date(time),
    fetch_status: null,
    fetch_redirect: null,
    heritrix_status: outcome.reason === null ? null : (reasonFacts(outcome.reason).heritrix ?? null),
    request_header: null,
    response_header: null,
    ip_address: null,
    protocol: null,
    tls_version: null,
    tls_cipher: null,
    dns_ms: null,
    connect_ms: null,
    first_byte_ms: null,
    total_ms: null,
    content_mime_type: null,
    content_encoding: null,
    content_digest: null,
    content_sha256: null,
    content_length: null,
    content_truncated: null,
    content_segment: null,
    etag: null,
    last_modified: null,
    retry_after_s: null,
    delay_ms: null,
    soft_404: null,
    tls_verified: null,
    proxy: null,
  };
}

/** The row of a request. */
export function answeredCapture(facts: AnsweredFacts): Capture {
  const {exchange, item, outcome} = facts;
  const {head, body, connection, timings} = exchange;
  const row = unaskedCapture(facts);
  row.request_header = exchange.requestHeader;
  row.response_header = exchange.responseHeader;
  row.fetch_redirect = facts.redirect;
  row.retry_after_s = facts.retryAfterMs === null ? null : facts.retryAfterMs / 1000;
  row.delay_ms = facts.delayMs;
  if (facts.soft404) row.soft_404 = 'probe';
  row.dns_ms = timings.dns;
  row.connect_ms = timings.connect;
  row.first_byte_ms = timings.firstByte;
  row.total_ms = exchange.requestHeader === null ? null : timings.total;
  row.content_truncated = exchange.truncated;
  if (connection) {
    row.ip_address = connection.ip;
    row.protocol = connection.protocol;
    row.tls_version = connection.tlsVersion;
    row.tls_cipher = connection.tlsCipher;
    row.tls_verified = connection.tlsVerified;
    row.proxy = connection.proxy;
  }
  if (head) {
    row.fetch_status = head.status;
    row.heritrix_status ??= head.status;
    row.content_mime_type = mimeOf(header(head, 'content-type'));
    row.content_encoding = header(head, 'content-encoding');
    row.etag = header(head, 'etag');
    row.last_modified = header(head, 'last-modified');
  }
  if (outcome.status === 'notmodified') {
    // The row speaks of the payload that is held.
    row.content_digest = item.held?.contentDigest ?? null;
    row.content_segment = item.held?.contentSegment ?? null;
    row.etag ??= item.held?.etag ?? null;
    row.last_modified ??= item.held?.lastModified ?? null;
  } else if (body) {
    row.content_digest = exchange.sha1;
    row.content_sha256 = exchange.sha256;
    row.content_length = body.length;
    if (facts.stored) row.content_segment = facts.segment;
  }
  return row;
}

/** Media type without parameters, lower case; null where there is none. */
export function mimeOf(contentType: string | null): string | null {
  if (contentType === null) return null;
  const semicolon = contentType.indexOf(';');
  return (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase() || null;
}
