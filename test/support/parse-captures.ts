import {createHash} from 'node:crypto';
import {captureId} from '../../lib/fetcher/capture-id.ts';
import type {ContentRow} from '../../lib/schema/content.ts';
import type {Capture} from '../../lib/schema/fetch.ts';
import {identify} from '../../lib/url/keys.ts';
import {commitRows, type JobHarness} from './job-harness.ts';

/** A capture for tests: what is not said is a plain success. */
export interface SampleCapture extends Partial<Capture> {
  readonly url: string;
  readonly body?: string | Uint8Array;
  /** Header lines after the status line. */
  readonly headers?: readonly string[];
}

export function captureRow(segment: string, sample: SampleCapture, index: number): Capture {
  const {body, headers = [], ...given} = sample;
  const identity = identify(sample.url);
  const time = new Date(Date.UTC(2026, 0, 1) + index * 1000);
  const payload = payloadOf(body);
  return {
    segment,
    capture_id: captureId(segment, given.kind ?? 'page', identity.url_key, time.getTime(), given.hop ?? 0),
    kind: 'page',
    ...identity,
    origin_url: sample.url,
    hop: 0,
    depth: 0,
    seed: null,
    status: 'success',
    reason: null,
    reason_detail: null,
    fetch_time: time,
    fetch_status: 200,
    fetch_redirect: null,
    heritrix_status: null,
    request_header: null,
    response_header: Buffer.from(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n'), 'latin1'),
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
    content_sha256: payload === undefined ? null : sha256(payload),
    content_length: payload?.length ?? null,
    content_truncated: null,
    content_segment: payload === undefined ? null : segment,
    etag: null,
    last_modified: null,
    retry_after_s: null,
    delay_ms: null,
    tls_verified: null,
    proxy: null,
    soft_404: null,
    ...given,
  };
}

/** A fetched segment, committed. */
export async function commitFetched(
  crawl: JobHarness,
  segment: string,
  samples: readonly SampleCapture[],
): Promise<void> {
  const rows = samples.map((sample, index) => captureRow(segment, sample, index));
  const payloads = new Map<string, ContentRow>();
  for (const {body} of samples) {
    const payload = payloadOf(body);
    if (payload === undefined) continue;
    const digest = sha256(payload);
    payloads.set(digest, {
      segment,
      content_sha256: digest,
      content_digest: '',
      content_length: payload.length,
      payload,
    });
  }
  await commitRows(
    crawl,
    [
      {slot: `segments/${segment}/fetch`, table: 'fetch', rows},
      {slot: `segments/${segment}/content`, table: 'content', rows: [...payloads.values()]},
    ],
    {
      [segment]: {
        state: 'fetched',
        urls: rows.length,
        hosts: 1,
        partitions: 1,
        generated_time: '2026-01-01T00:00:00.000Z',
        fetched_time: '2026-01-01T01:00:00.000Z',
      },
    },
  );
}

function payloadOf(body: string | Uint8Array | undefined): Uint8Array | undefined {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
