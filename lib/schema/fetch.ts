import {reasonNames} from './reason.ts';
import {captureKinds, fetchStatuses, truncations} from './status.ts';
import {type Row, table} from './table.ts';

export const fetch = table({
  name: 'fetch',
  version: 2,
  doc: 'One row for each outcome of a fetch: pages, redirect hops, robots.txt, sitemaps, and URLs not asked for (Nutch: crawl_fetch).',
  key: ['host_key', 'url_key', 'fetch_time', 'kind', 'hop'],
  columns: {
    segment: {type: 'text', doc: 'Segment id.'},
    capture_id: {
      type: 'text',
      doc: 'Deterministic name of the capture, from segment, kind, url_key, fetch time and hop.',
    },
    kind: {type: 'text', values: captureKinds, doc: 'What it was for.'},
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_key: {type: 'key', doc: 'Key of the URL.'},
    url: {type: 'text', doc: 'URL asked for.', source: 'Common Crawl'},
    url_host_name: {type: 'text', doc: 'Host name.', source: 'Common Crawl'},
    url_host_registered_domain: {type: 'text', doc: 'Registered domain.', source: 'Common Crawl'},
    origin_url: {
      type: 'text',
      doc: 'The fetchlist URL that led to this request: itself for a page, the start of the chain for a hop, the URL that needed it for robots.txt.',
    },
    hop: {type: 'int32', doc: '0 for the first request, 1 and up along a chain of redirects.'},
    depth: {type: 'int32', doc: 'Depth of the fetchlist URL.'},
    seed: {type: 'text', nullable: true, doc: 'Seed of the fetchlist URL.'},
    status: {type: 'text', values: fetchStatuses, doc: 'Outcome.', source: 'Nutch fetch status'},
    reason: {type: 'text', values: reasonNames, nullable: true, doc: 'Why; null for a plain success.'},
    reason_detail: {
      type: 'text',
      nullable: true,
      doc: 'What a person needs to understand the reason: error text, robots rule and line, wait left.',
    },
    fetch_time: {
      type: 'timestamp',
      doc: 'When the request was sent; when it was decided, for a row without request.',
      source: 'Common Crawl',
    },
    fetch_status: {
      type: 'int16',
      nullable: true,
      doc: 'HTTP status code; null without an answer.',
      source: 'Common Crawl',
    },
    fetch_redirect: {
      type: 'text',
      nullable: true,
      doc: 'Absolute redirect target, normalized.',
      source: 'Common Crawl',
    },
    heritrix_status: {
      type: 'int32',
      nullable: true,
      doc: 'Heritrix fetch status code of the same case.',
      source: 'Heritrix',
    },
    request_header: {
      type: 'bytes',
      nullable: true,
      doc: 'Request line and headers as sent (over HTTP/2 as text), credentials masked; null without a request.',
    },
    response_header: {
      type: 'bytes',
      nullable: true,
      doc: 'Status line and headers as received, up to the empty line; over HTTP/2 (protocol h2) the fields as text below a line HTTP/2 STATUS; null without an answer.',
    },
    ip_address: {type: 'text', nullable: true, doc: 'Address that answered; null through a proxy.'},
    protocol: {type: 'text', nullable: true, doc: 'Protocol of the answer: http/1.0, http/1.1, h2.'},
    tls_version: {type: 'text', nullable: true, doc: 'TLS version.', example: 'TLSv1.3'},
    tls_cipher: {type: 'text', nullable: true, doc: 'TLS cipher.'},
    dns_ms: {
      type: 'double',
      nullable: true,
      unit: 'milliseconds',
      doc: 'Time for the name look-up; null if it was cached.',
    },
    connect_ms: {
      type: 'double',
      nullable: true,
      unit: 'milliseconds',
      doc: 'Time to connect, TLS included; null on a connection kept alive.',
    },
    first_byte_ms: {
      type: 'double',
      nullable: true,
      unit: 'milliseconds',
      doc: 'From request sent to first byte of the answer.',
    },
    total_ms: {
      type: 'double',
      nullable: true,
      unit: 'milliseconds',
      doc: 'From request sent to last byte of the answer.',
      source: 'Nutch _rs_',
    },
    content_mime_type: {
      type: 'text',
      nullable: true,
      doc: 'Content-Type as received, without parameters, lower case.',
      source: 'Common Crawl',
    },
    content_encoding: {type: 'text', nullable: true, doc: 'Content-Encoding as received.'},
    content_digest: {
      type: 'text',
      nullable: true,
      doc: 'SHA-1, base32, of the payload as received.',
      source: 'Common Crawl',
    },
    content_sha256: {
      type: 'text',
      nullable: true,
      doc: 'SHA-256, hex, of the payload as received; key of the table content.',
    },
    content_length: {
      type: 'count',
      nullable: true,
      unit: 'bytes',
      doc: 'Length of the payload as received and kept.',
    },
    content_truncated: {
      type: 'text',
      values: truncations,
      nullable: true,
      doc: 'Why the payload ends before its end.',
      source: 'Common Crawl',
    },
    content_segment: {
      type: 'text',
      nullable: true,
      doc: 'Segment whose content table holds the payload; null without a payload.',
    },
    etag: {type: 'text', nullable: true, doc: 'ETag as received.'},
    last_modified: {type: 'text', nullable: true, doc: 'Last-Modified as received.'},
    retry_after_s: {type: 'double', nullable: true, unit: 'seconds', doc: 'Retry-After, as a wait.'},
    delay_ms: {
      type: 'double',
      nullable: true,
      unit: 'milliseconds',
      doc: 'Delay that held for the host before this request.',
    },
    tls_verified: {
      type: 'boolean',
      nullable: true,
      since: 2,
      doc: 'The certificate was good; null without TLS. False only where network.unverified_hosts lets it pass; reason_detail says what was wrong.',
    },
    proxy: {
      type: 'text',
      nullable: true,
      since: 2,
      doc: 'Proxy that the request went through, as host:port; ip_address is null then. Null without one.',
    },
  },
});
/** One recorded exchange, or the decision to make none. */
export type Capture = Row<typeof fetch>;
