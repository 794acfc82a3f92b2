/**
 * The one closed list of reasons: why a URL was not added, not asked for, not followed, or did not
 * end in success. A row that is not a plain success carries one of these names, and nothing else.
 *
 * `by` is who decided, `charge` whom updatedb charges for it (the URL's retries, the host's back-off,
 * or nobody), `heritrix` the fetch status code that Heritrix writes for the same case, where it has one.
 */
export interface ReasonFacts {
  readonly by:
    | 'url'
    | 'scope'
    | 'inject'
    | 'robots'
    | 'generate'
    | 'fetch'
    | 'http'
    | 'parse'
    | 'updatedb'
    | 'host';
  readonly charge: 'url' | 'host' | 'nobody';
  readonly heritrix?: number;
  readonly doc: string;
}

export const reasons = {
  // A URL that is none, or that may not be crawled at all
  url_invalid: {by: 'url', charge: 'nobody', heritrix: -7, doc: 'Not a URL by the WHATWG standard.'},
  url_too_long: {by: 'scope', charge: 'nobody', doc: 'Longer than url.max_length.'},
  scheme: {by: 'scope', charge: 'nobody', heritrix: -7, doc: 'A scheme that is not crawled.'},
  key_clash: {
    by: 'updatedb',
    charge: 'nobody',
    doc: 'Another known URL has the same key pair; the known one stays.',
  },

  // A seed line
  seed_malformed: {
    by: 'inject',
    charge: 'nobody',
    doc: 'A seed line that cannot be read: a bad key=value or number.',
  },
  seed_known: {
    by: 'inject',
    charge: 'nobody',
    doc: 'The seed was in the crawldb already and was left as it was.',
  },

  // Scope
  scope_rule: {
    by: 'scope',
    charge: 'nobody',
    heritrix: -5000,
    doc: 'Rejected by a rule; rule, file and line are named.',
  },
  scope_no_rule: {
    by: 'scope',
    charge: 'nobody',
    heritrix: -5000,
    doc: 'No rule accepted it, and the last word is to reject.',
  },
  scope_seed: {
    by: 'scope',
    charge: 'nobody',
    heritrix: -5000,
    doc: 'Outside what its seed allows (host, domain or path).',
  },
  depth: {by: 'scope', charge: 'nobody', heritrix: -5000, doc: 'Further from its seed than scope.max_depth.'},
  path_segments: {by: 'scope', charge: 'nobody', doc: 'More path segments than scope.max_path_segments.'},
  query_parameters: {
    by: 'scope',
    charge: 'nobody',
    doc: 'More query parameters than scope.max_query_parameters.',
  },
  content_type: {by: 'scope', charge: 'nobody', doc: 'A content type that the scope rejects.'},
  embed_off: {by: 'scope', charge: 'nobody', doc: 'An embedded resource, and scope.embeds is off.'},
  not_followed: {by: 'parse', charge: 'nobody', doc: 'A kind of link that is recorded but not followed.'},
  internal_off: {by: 'scope', charge: 'nobody', doc: 'A link inside one host, and links.internal is off.'},
  external_off: {by: 'scope', charge: 'nobody', doc: 'A link to another host, and links.external is off.'},
  nofollow: {by: 'robots', charge: 'nobody', doc: 'The page or the link says nofollow.'},
  sitemap_host: {
    by: 'parse',
    charge: 'nobody',
    doc: 'A sitemap lists a URL of another host, whose robots.txt does not name the sitemap.',
  },
  sitemap_limit: {
    by: 'updatedb',
    charge: 'nobody',
    doc: 'More index files in a row, or more sitemaps of a host, than are followed.',
  },
  link_limit: {by: 'parse', charge: 'nobody', doc: 'Beyond links.max_per_page.'},
  over_budget: {
    by: 'updatedb',
    charge: 'nobody',
    doc: 'The host, domain or seed has as many URLs as its budget allows.',
  },
  low_yield: {
    by: 'updatedb',
    charge: 'nobody',
    doc: 'The host has given little content of its own of late, and the link lies deeper than it may go then; or its folder of a large host has, and others of the folder came first.',
  },
  trap: {
    by: 'updatedb',
    charge: 'nobody',
    doc: 'Its family of URLs goes on without new content and is quarantined, or is blocked by hand; crawl traps shows it.',
  },
  no_additions: {by: 'updatedb', charge: 'nobody', doc: 'updatedb ran with --no-additions.'},
  duplicate_source: {by: 'updatedb', charge: 'nobody', doc: 'Found only on pages that duplicate others.'},

  // robots.txt
  robots_denied: {by: 'robots', charge: 'nobody', heritrix: -9998, doc: 'A rule of robots.txt forbids it.'},
  robots_unreachable: {
    by: 'robots',
    charge: 'host',
    heritrix: -61,
    doc: 'robots.txt could not be read (5xx, 429 or network), so nothing may be asked.',
  },

  // Decided without a request
  window: {by: 'fetch', charge: 'nobody', doc: 'The time window ended before its turn came.'},
  closed: {by: 'fetch', charge: 'nobody', doc: 'The segment was closed by hand before its turn came.'},
  disk: {by: 'fetch', charge: 'nobody', doc: 'The disk is nearly full.'},
  own_network: {by: 'fetch', charge: 'nobody', doc: 'Our own network was down.'},
  interrupted: {by: 'fetch', charge: 'nobody', doc: 'The fetch was stopped by a signal in the middle of it.'},
  host_resting: {
    by: 'host',
    charge: 'nobody',
    doc: 'The host may not be asked before this fetch would end: it rests after errors, or its delay is longer.',
  },
  host_blocked: {by: 'host', charge: 'nobody', doc: 'The host is blocked by hand.'},
  host_limit: {by: 'generate', charge: 'nobody', doc: 'The host has reached its cap for this fetchlist.'},
  domain_limit: {
    by: 'generate',
    charge: 'nobody',
    doc: 'The registered domain has reached its cap for this fetchlist.',
  },
  seed_limit: {
    by: 'generate',
    charge: 'nobody',
    doc: 'What was reached from the seed has reached its cap for this fetchlist.',
  },
  open_segment: {
    by: 'generate',
    charge: 'nobody',
    doc: 'It stands in the fetchlist of an open segment already.',
  },
  list_full: {by: 'generate', charge: 'nobody', doc: 'The fetchlist was full before its turn came.'},
  budget: {
    by: 'host',
    charge: 'nobody',
    heritrix: -5003,
    doc: 'The budget of the host, domain or seed (pages or bytes) is used up.',
  },
  hop_target: {
    by: 'fetch',
    charge: 'nobody',
    doc: 'Asked already in this segment, as the target of a redirect or by another name.',
  },

  // Network
  dns: {
    by: 'fetch',
    charge: 'host',
    heritrix: -6,
    doc: 'The host name has no address, or the name servers failed.',
  },
  address_refused: {
    by: 'fetch',
    charge: 'nobody',
    heritrix: -7,
    doc: 'The address is private, loopback or otherwise not to be reached (network.allow).',
  },
  connect: {
    by: 'fetch',
    charge: 'host',
    heritrix: -2,
    doc: 'No connection: refused, unreachable, or closed at once.',
  },
  connect_timeout: {
    by: 'fetch',
    charge: 'host',
    heritrix: -2,
    doc: 'No connection within fetch.connect_timeout.',
  },
  tls: {by: 'fetch', charge: 'host', heritrix: -2, doc: 'The TLS handshake or the certificate failed.'},
  timeout: {
    by: 'fetch',
    charge: 'url',
    heritrix: -4,
    doc: 'No complete answer within fetch.idle_timeout or fetch.total_timeout.',
  },
  reset: {
    by: 'fetch',
    charge: 'url',
    heritrix: -3,
    doc: 'The connection was lost before the answer was complete.',
  },

  // HTTP
  http_malformed: {by: 'http', charge: 'url', heritrix: -3, doc: 'An answer that is not HTTP.'},
  header_limit: {
    by: 'http',
    charge: 'url',
    heritrix: -3,
    doc: 'Response headers larger than fetch.max_header.',
  },
  http_4xx: {by: 'http', charge: 'url', doc: 'A client error other than 404, 410 and 429.'},
  http_404: {by: 'http', charge: 'url', doc: 'Not found.'},
  http_410: {by: 'http', charge: 'url', doc: 'Gone.'},
  http_429: {by: 'http', charge: 'host', doc: 'Too many requests.'},
  http_503: {by: 'http', charge: 'host', doc: 'Service unavailable.'},
  http_5xx: {by: 'http', charge: 'url', doc: 'A server error other than 503.'},
  http_other: {
    by: 'http',
    charge: 'url',
    doc: 'A status code without a meaning here (1xx alone, 304 unasked, 6xx and more).',
  },
  challenge: {by: 'http', charge: 'host', doc: 'An answer known as a bot challenge.'},
  redirect: {
    by: 'http',
    charge: 'nobody',
    doc: 'A redirect whose target was followed or handed on; fetch_redirect names it.',
  },
  redirect_limit: {by: 'http', charge: 'url', doc: 'More redirects in a row than fetch.max_redirects.'},
  redirect_loop: {by: 'http', charge: 'url', doc: 'A redirect to a URL of its own chain.'},
  redirect_malformed: {by: 'http', charge: 'url', doc: 'A redirect without a usable Location.'},
  redirect_out_of_scope: {by: 'scope', charge: 'nobody', doc: 'A redirect to a URL that the scope rejects.'},

  // Parse
  parse_failed: {by: 'parse', charge: 'nobody', doc: 'The parser failed; the error is in the row.'},
  parse_timeout: {by: 'parse', charge: 'nobody', doc: 'The parser was stopped after parse.timeout.'},
  type_unsupported: {by: 'parse', charge: 'nobody', doc: 'No parser for this content type.'},
  empty: {by: 'parse', charge: 'nobody', doc: 'No payload to parse.'},
  extract_failed: {
    by: 'parse',
    charge: 'nobody',
    doc: 'An extractor failed on the page; the error is in the row.',
  },
  extract_timeout: {
    by: 'parse',
    charge: 'nobody',
    doc: 'An extractor was stopped after parse.extractor_timeout.',
  },
  extract_type: {by: 'parse', charge: 'nobody', doc: 'The extractor does not read this content type.'},
  extract_limit: {by: 'parse', charge: 'nobody', doc: 'The page gave more rows than are kept of one page.'},
  extract_stopped: {
    by: 'parse',
    charge: 'nobody',
    doc: 'The extractor had to be stopped on too many pages before this one, and was not run any more.',
  },

  // States of the crawldb
  retry_limit: {by: 'updatedb', charge: 'nobody', doc: 'Failed as often as schedule.max_retries allows.'},
  duplicate: {
    by: 'updatedb',
    charge: 'nobody',
    doc: 'Equal content under another URL, named in duplicate_of.',
  },
  orphan: {by: 'updatedb', charge: 'nobody', doc: 'No page links to it any more.'},
} as const satisfies Readonly<Record<string, ReasonFacts>>;

export type Reason = keyof typeof reasons;
export const reasonNames = Object.keys(reasons) as readonly Reason[];
/** The facts of a reason, for code that handles them as data. */
export function reasonFacts(reason: Reason): ReasonFacts {
  return reasons[reason];
}
