import type {OptionDeclarations} from '../options.ts';

/** Sections about who asks, what may be reached, and how politely. */
export const fetchSettings = {
  agent: {
    name: {kind: 'text', default: 'crawl', doc: 'Product token: our name in User-Agent and robots.txt.'},
    contact: {
      kind: 'text',
      doc: 'URL or e-mail address at which a webmaster reaches you. Required before anything but loopback is asked.',
    },
  },
  network: {
    allow: {
      kind: 'list',
      default: [],
      doc: 'Address ranges that may be reached although private, as 127.0.0.0/8.',
    },
    connect_to: {
      kind: 'map',
      default: {},
      doc: 'host:port to address:port, as curl’s option: where to connect in place of the host. `*` stands for any host or port.',
    },
    dns_servers: {kind: 'list', default: [], doc: 'Name servers in place of the system’s.'},
    proxy: {
      kind: 'text',
      doc: 'Proxy for all requests, as `http://proxy.example.org:3128`; none if absent. Its user and password are named in credentials.proxy.',
    },
    proxy_rules: {
      kind: 'map',
      default: {},
      doc: 'Host to proxy or `direct`, before network.proxy; `*.example.org` stands for the hosts below it. The first that fits decides.',
    },
    unverified_hosts: {
      kind: 'list',
      default: [],
      doc: 'Hosts whose TLS certificate may be wrong, as intranet.example.org; the column tls_verified tells where it was.',
    },
  },
  credentials: {
    basic: {
      kind: 'map',
      default: {},
      doc: 'Where to where the `user:password` for it stands: `example.org: env:NAME` or `file:PATH`. A host means https at its usual port; others are written out, as http://example.org.',
    },
    headers: {
      kind: 'map',
      default: {},
      doc: 'The same for other headers: the variable or file holds lines of `Name: value`.',
    },
    proxy: {
      kind: 'map',
      default: {},
      doc: 'Proxy, as proxy.example.org:3128, to where the `user:password` for it stands.',
    },
  },
  politeness: {
    min_delay: {
      kind: 'duration',
      default: '1s',
      doc: 'Least pause between the end of an answer and the next request to that host. Below 1s only on loopback.',
    },
    latency_factor: {
      kind: 'number',
      default: 5,
      min: 0,
      max: 100,
      doc: 'Pause at least this many times the last response time.',
    },
    max_latency_delay: {kind: 'duration', default: '30s', doc: 'Most that latency_factor asks for.'},
    max_crawl_delay: {
      kind: 'duration',
      default: '1h',
      doc: 'Most pause by Crawl-delay within a fetch; a host that asks for more gets one URL a fetch.',
    },
    backoff: {kind: 'duration', default: '5m', doc: 'First rest after 429 or 503; it doubles.'},
    max_backoff: {
      kind: 'duration',
      default: '24h',
      doc: 'Longest rest after 429 or 503, and most that Retry-After is believed.',
    },
    error_backoff: {
      kind: 'duration',
      default: '30s',
      doc: 'First rest after other failures of a host; it doubles.',
    },
    max_error_backoff: {kind: 'duration', default: '1h', doc: 'Longest rest after other failures.'},
    jitter: {kind: 'number', default: 0.1, min: 0, max: 1, doc: 'Share of a rest that chance adds.'},
    max_per_host: {kind: 'count', default: 1, min: 1, max: 64, doc: 'Requests at once to one host.'},
    max_per_ip: {kind: 'count', default: 4, min: 1, doc: 'Requests at once to one address.'},
    max_per_domain: {kind: 'count', default: 4, min: 1, doc: 'Requests at once to one registered domain.'},
    max_rate_per_host: {
      kind: 'rate',
      min: 0.001,
      doc: 'Most requests a second to one host, for hosts that may be asked several at once; no limit if absent.',
    },
    max_bandwidth_per_host: {
      kind: 'rate',
      min: 0.001,
      doc: 'Most payload bytes a second from one host, as `500KiB/s`; no limit if absent.',
    },
    max_host_failures: {
      kind: 'count',
      default: 5,
      min: 1,
      doc: 'Failures in a row after which the host rests for the remainder of the fetch.',
    },
    max_rest: {
      kind: 'duration',
      default: '30m',
      doc: 'Longest rest of a host that a fetch waits for; the URLs of a host that rests longer are recorded as skipped.',
    },
  },
  fetch: {
    max_active: {kind: 'count', default: 256, min: 1, max: 100_000, doc: 'Requests at once, in all.'},
    connect_timeout: {kind: 'duration', default: '5s', doc: 'Longest wait for a connection.'},
    idle_timeout: {kind: 'duration', default: '20s', doc: 'Longest wait between two pieces of an answer.'},
    total_timeout: {kind: 'duration', default: '60s', doc: 'Longest time for an answer.'},
    max_body: {kind: 'size', default: '10MiB', doc: 'Most of a payload that is kept.'},
    max_header: {kind: 'size', default: '64KiB', doc: 'Most of response headers.'},
    max_redirects: {kind: 'count', default: 5, doc: 'Redirects followed in a row.'},
    accept: {
      kind: 'text',
      default: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      doc: 'Accept header.',
    },
    accept_language: {kind: 'text', default: 'en,*;q=0.5', doc: 'Accept-Language header.'},
    accept_encoding: {kind: 'text', default: 'gzip', doc: 'Accept-Encoding header.'},
    cookies: {
      kind: 'choice',
      values: ['off', 'run'],
      default: 'off',
      doc: 'Whether cookies are kept and sent: `run` for the length of a fetch, in memory alone.',
    },
    http2: {
      kind: 'choice',
      values: ['off', 'on'],
      default: 'off',
      doc: 'Offer HTTP/2 to servers over TLS. Its headers have no bytes as on the wire to keep.',
    },
    max_rate: {
      kind: 'rate',
      min: 0.001,
      doc: 'Most requests a second over all hosts, as `50/s`; no limit if absent.',
    },
    max_bandwidth: {
      kind: 'rate',
      min: 0.001,
      doc: 'Most payload bytes a second over all hosts, as `5MiB/s`; no limit if absent.',
    },
    window: {kind: 'duration', doc: 'Longest time of a fetch; what is left is recorded as skipped.'},
    hours: {
      kind: 'text',
      doc: 'Hours of the day, UTC, in which requests are sent, as `22:00-06:00`; always if absent.',
    },
    soft_404: {
      kind: 'flag',
      default: false,
      doc: 'Ask each host for a random path, once a week, to know its answers of status 200 that mean "not found".',
    },
    store_errors: {kind: 'flag', default: true, doc: 'Keep the payloads of error answers.'},
    conditional: {
      kind: 'flag',
      default: true,
      doc: 'Send If-None-Match and If-Modified-Since where the payload is held.',
    },
    outage_hosts: {
      kind: 'count',
      default: 20,
      min: 2,
      doc: 'Different hosts in a row that fail in DNS or connect, none succeeding, before it is taken as our own outage.',
    },
  },
  robots: {
    max_age: {
      kind: 'duration',
      default: '24h',
      doc: 'How long a robots.txt is used before it is read again.',
    },
    last_good: {
      kind: 'duration',
      default: '30d',
      doc: 'How long nothing is asked of a host whose robots.txt cannot be read; then its last copy holds.',
    },
    max_size: {kind: 'size', default: '500KiB', doc: 'Most of a robots.txt that is read.'},
    typos: {kind: 'flag', default: false, doc: 'Accept Google’s list of misspelled directives.'},
  },
} as const satisfies Readonly<Record<string, OptionDeclarations>>;
