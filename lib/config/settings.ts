import type {OptionDeclarations, OptionValues} from '../options.ts';
import {fetchOrders} from '../selection/selection.ts';

/**
 * All settings of crawl.yaml, declared once. Sections in the file are the keys here; a setting is written
 * `politeness.min_delay` in messages, CRAWL_POLITENESS_MIN_DELAY in the environment.
 */
export const settings = {
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
  url: {
    max_length: {kind: 'count', default: 2000, min: 16, doc: 'Longest URL.'},
    strip_tracking: {
      kind: 'flag',
      default: true,
      doc: 'Remove tracking parameters (utm_source and the like).',
    },
    strip_session_ids: {
      kind: 'flag',
      default: true,
      doc: 'Remove session ids (;jsessionid, PHPSESSID and the like).',
    },
    strip_parameters: {kind: 'list', default: [], doc: 'Further query parameters to remove.'},
    keep_parameters: {kind: 'list', default: [], doc: 'Query parameters never to remove.'},
    sort_parameters: {kind: 'flag', default: false, doc: 'Sort query parameters by name.'},
    collapse_slashes: {kind: 'flag', default: false, doc: 'Make repeated slashes of a path one.'},
    strip_www: {kind: 'flag', default: false, doc: 'Remove a leading www. of hosts.'},
    rules: {kind: 'text', doc: 'File of regex rules for URLs, one a line: PATTERN<tab>REPLACEMENT.'},
  },
  scope: {
    schemes: {kind: 'list', default: ['http', 'https'], doc: 'Schemes that are crawled.'},
    stay: {
      kind: 'choice',
      values: ['any', 'domain', 'host', 'path'],
      default: 'any',
      doc: 'How far links may lead from their seed, where the seed line does not say.',
    },
    embeds: {
      kind: 'flag',
      default: false,
      doc: 'Fetch images, styles, scripts and frames of pages in scope, off-host ones too, for one hop.',
    },
    max_depth: {kind: 'count', default: 20, doc: 'Most links from a seed.'},
    max_path_segments: {kind: 'count', default: 20, doc: 'Most path segments.'},
    max_query_parameters: {kind: 'count', default: 50, doc: 'Most query parameters.'},
    rules: {
      kind: 'list',
      default: [],
      doc: 'Rules in order, the first match decides: `+ domain example.org`, `- regex \\.zip$`, `- surt org,example)/private`.',
    },
    files: {
      kind: 'list',
      default: [],
      doc: 'Rule files, read after rules; Nutch’s regex-urlfilter form too.',
    },
    otherwise: {
      kind: 'choice',
      values: ['accept', 'reject'],
      default: 'accept',
      doc: 'Where no rule matches.',
    },
    sitemaps: {
      kind: 'flag',
      default: false,
      doc: 'crawl run adds the sitemaps that robots.txt files name, in each round.',
    },
    reject_types: {kind: 'list', default: [], doc: 'Content types whose payload is not fetched, as video/*.'},
  },
  parse: {
    max_body: {kind: 'size', default: '20MiB', doc: 'Most of a decoded body that is read.'},
    max_ratio: {kind: 'number', default: 200, min: 1, doc: 'Most that a content coding may expand.'},
    timeout: {kind: 'duration', default: '30s', doc: 'Longest time for one page.'},
    pdf_memory: {kind: 'size', default: '256MiB', doc: 'Most memory for reading one PDF.'},
    max_text: {kind: 'size', default: '1MiB', doc: 'Most text kept of a page.'},
    default_charset: {kind: 'text', default: 'windows-1252', doc: 'Encoding where nothing tells.'},
    workers: {kind: 'count', doc: 'Worker threads; as many as processors if absent.'},
    extractors: {
      kind: 'list',
      default: [],
      doc: 'Extractors that run at every parse: .ts, .js, .mjs or .yaml files, relative to this folder. See docs/extractors.md.',
    },
    extractor_timeout: {
      kind: 'duration',
      default: '10s',
      min: 1000,
      doc: 'Longest time of one extractor for one page.',
    },
  },
  links: {
    follow: {
      kind: 'list',
      default: [
        'a',
        'area',
        'link',
        'iframe',
        'frame',
        'meta_refresh',
        'canonical',
        'alternate',
        'amphtml',
        'next',
        'prev',
        'feed',
        'sitemap',
        'header',
        'pdf',
      ],
      doc: 'Kinds of links that are followed; others are recorded.',
    },
    nofollow: {kind: 'flag', default: true, doc: 'Obey nofollow of pages and links.'},
    internal: {kind: 'flag', default: true, doc: 'Follow and count links inside a host.'},
    external: {kind: 'flag', default: true, doc: 'Follow and count links between hosts.'},
    max_per_page: {kind: 'count', default: 1000, doc: 'Most links recorded of a page.'},
    max_anchor: {kind: 'count', default: 200, doc: 'Most characters of an anchor.'},
    max_inlinks: {
      kind: 'count',
      default: 10_000,
      doc: 'Most links to one page kept in the linkdb; the best stay.',
    },
    duplicates: {kind: 'flag', default: false, doc: 'Follow links of pages that duplicate others.'},
    sitemap_hints: {
      kind: 'flag',
      default: false,
      doc: 'Let priority and changefreq of sitemaps set score and first interval of the URLs they bring.',
    },
  },
  generate: {
    top_n: {kind: 'count', default: 50_000, doc: 'Most URLs in a fetchlist.'},
    max_per_host: {kind: 'count', default: 1000, doc: 'Most URLs of one host in a fetchlist.'},
    max_per_domain: {
      kind: 'count',
      min: 1,
      doc: 'Most URLs of one registered domain in a fetchlist; no end if absent.',
    },
    max_per_seed: {
      kind: 'count',
      min: 1,
      doc: 'Most URLs reached from one seed in a fetchlist; no end if absent.',
    },
    order: {
      kind: 'choice',
      values: fetchOrders,
      default: 'breadth',
      doc: 'Order of the URLs of a host: breadth by links from the seed, best by score, depth the deepest first.',
    },
    refetch_share: {
      kind: 'number',
      default: 0.25, // chosen: what is known stays fresh while a crawl still grows
      min: 0,
      max: 1,
      doc: 'Share of a fetchlist kept for pages fetched before; what one side does not use goes to the other.',
    },
    shares: {
      kind: 'map',
      default: {},
      doc: 'Weights of seed groups and tags in a fetchlist, as {news: 3}; `*` is all others, 1 if absent.',
    },
    partitions: {
      kind: 'count',
      default: 1,
      min: 1,
      max: 1000,
      doc: 'Fetch tasks that a segment is cut into.',
    },
    lapse: {
      kind: 'duration',
      default: '7d',
      doc: 'After this a segment that was never applied no longer locks its URLs.',
    },
  },
  schedule: {
    kind: {
      kind: 'choice',
      values: ['fixed', 'adaptive', 'change_rate'],
      default: 'adaptive',
      doc: 'Rule that sets the next fetch time: the same interval, shorter and longer by what visits find, or by estimated rate of change and the visits that there are.',
    },
    interval: {kind: 'duration', default: '30d', doc: 'First interval of a page.'},
    min_interval: {kind: 'duration', default: '1h', doc: 'Shortest interval.'},
    max_interval: {kind: 'duration', default: '90d', doc: 'Longest interval.'},
    changed: {
      kind: 'number',
      default: 0.5,
      min: 0.01,
      max: 1,
      doc: 'Factor of the interval after a visit that found a change.',
    },
    unchanged: {
      kind: 'number',
      default: 2,
      min: 1,
      max: 100,
      doc: 'Factor of the interval after a visit that found none.',
    },
    sync_delta: {
      kind: 'number',
      default: 0,
      min: 0,
      max: 1,
      doc: 'Nutch’s sync_delta, for kind adaptive: share of the time since the last change by which a visit is moved up; 0 for none.',
    },
    budget: {
      kind: 'rate',
      doc: 'Visits to known pages that all of the crawl may take, as `50_000/d`, for kind change_rate; one an interval of each page if absent.',
    },
    importance: {
      kind: 'number',
      default: 1,
      min: 0,
      max: 4,
      doc: 'How much a score counts, for kind change_rate: freshness weighs as the score to this power; 0 for all pages alike.',
    },
    min_change_bits: {
      kind: 'count',
      default: 3,
      max: 64,
      doc: 'Bits of 64 in which the fingerprints of two texts must differ for the page to count as changed.',
    },
    rules: {
      kind: 'list',
      default: [],
      doc: 'Intervals for some pages, the first match decides: `host news.example.org min 15m max 1d`, `type application/pdf every 30d`, `regex /archive/ min 30d`.',
    },
    redirect: {
      kind: 'number',
      default: 1.5,
      min: 1,
      max: 100,
      doc: 'Factor of the interval of a permanent redirect that leads where it led before.',
    },
    duplicate: {
      kind: 'number',
      default: 1.5,
      min: 1,
      max: 100,
      doc: 'Factor of the interval of a page that repeated another one and has not changed.',
    },
    gone: {
      kind: 'number',
      default: 1.5,
      min: 1,
      max: 100,
      doc: 'Factor of the interval of a page that is gone.',
    },
    max_retries: {kind: 'count', default: 3, doc: 'Failures in a row after which a URL is gone.'},
    retry: {
      kind: 'duration',
      default: '1d',
      doc: 'Wait after the first failure charged to a URL; it doubles.',
    },
    refused: {
      kind: 'duration',
      default: '7d',
      doc: 'When a URL that robots.txt or the scope forbids is looked at again.',
    },
  },
  score: {
    injected: {kind: 'number', default: 1, doc: 'Score of a seed.'},
    decay: {
      kind: 'number',
      default: 0.85,
      min: 0,
      max: 1,
      doc: 'Factor of the score from a page to what it links to.',
    },
  },
  dedup: {
    exact: {kind: 'flag', default: true, doc: 'Mark pages of equal content as duplicates.'},
    group: {
      kind: 'choice',
      values: ['none', 'domain', 'host'],
      default: 'none',
      doc: 'Look for duplicates in the whole crawl, or only within a domain or host.',
    },
  },
  budget: {
    max_pages_per_host: {kind: 'count', doc: 'Most successful pages of a host, ever.'},
    max_urls_per_host: {kind: 'count', doc: 'Most known URLs of a host.'},
    max_urls_per_domain: {kind: 'count', doc: 'Most known URLs of a registered domain.'},
  },
  storage: {
    memory: {kind: 'size', default: '2GB', doc: 'Memory limit of DuckDB.'},
    threads: {kind: 'count', doc: 'Threads of DuckDB; as many as processors if absent.'},
    spill: {kind: 'text', doc: 'Folder for spill; tmp/ of the crawl if absent.'},
    min_free: {kind: 'size', default: '1GiB', doc: 'A fetch stops cleanly below this much free space.'},
    journal_file: {
      kind: 'size',
      default: '256MiB',
      min: 1,
      doc: 'A fetch seals its journal in pieces of this size while it goes on.',
    },
    dedup: {kind: 'flag', default: true, doc: 'Store a payload once; later equal ones refer to it.'},
    keep_manifests: {
      kind: 'duration',
      default: '7d',
      doc: 'How long old manifests and the files only they name are kept.',
    },
    min_manifests: {kind: 'count', default: 20, min: 1, doc: 'Manifests kept however old.'},
  },
} as const satisfies Readonly<Record<string, OptionDeclarations>>;

export type SectionName = keyof typeof settings;
/** The whole configuration, all values parsed: durations in ms, sizes in bytes. */
export type Config = {readonly [S in SectionName]: OptionValues<(typeof settings)[S]>};
