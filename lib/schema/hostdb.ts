import {type Row, table} from './table.ts';

/** What is known of hosts, in four tables with one writer each; the view `hostdb` joins them. */

export const robots = table({
  name: 'robots',
  version: 1,
  doc: 'One row for each origin: its robots.txt as last read. Written by fetch.',
  key: ['origin'],
  columns: {
    origin: {type: 'text', doc: 'Scheme, host and port.', example: 'https://example.org'},
    host_key: {type: 'key', doc: 'Key of the host.'},
    fetched_time: {type: 'timestamp', doc: 'Last attempt to read it.'},
    expires_time: {type: 'timestamp', doc: 'When it is read again.'},
    verdict: {
      type: 'text',
      values: ['rules', 'allow_all', 'deny_all'],
      doc: 'What holds: the rules in body, everything, or nothing.',
      source: 'RFC 9309, 2.3.1',
    },
    fetch_status: {type: 'int16', nullable: true, doc: 'HTTP status code of the last attempt.'},
    reason: {type: 'text', nullable: true, doc: 'Why the last attempt failed.'},
    unreachable_since: {type: 'timestamp', nullable: true, doc: 'First failure of the present series.'},
    last_good_time: {type: 'timestamp', nullable: true, doc: 'When body was read.'},
    body: {type: 'bytes', nullable: true, doc: 'Last copy that was read, at most robots.max_size.'},
    crawl_delay_s: {type: 'double', nullable: true, unit: 'seconds', doc: 'Crawl-delay for us.'},
    sitemaps: {type: 'json', nullable: true, doc: 'Array of the Sitemap lines.'},
  },
});
export type RobotsRow = Row<typeof robots>;

/** The terms of the delay, in the order of DESIGN: the largest wins. */
export const delayTerms = ['min_delay', 'latency', 'crawl_delay', 'retry_after', 'backoff'] as const;
export type DelayTerm = (typeof delayTerms)[number];

export const hoststate = table({
  name: 'hoststate',
  version: 2,
  doc: 'One row for each host asked: its politeness. Written by fetch.',
  key: ['host_key'],
  columns: {
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_host_name: {type: 'text', doc: 'Host name.'},
    next_allowed_time: {type: 'timestamp', doc: 'Earliest time of the next request.'},
    last_response_time: {type: 'timestamp', nullable: true, doc: 'When the last answer ended.'},
    delay_ms: {type: 'double', unit: 'milliseconds', doc: 'Delay that holds.'},
    delay_term: {type: 'text', values: delayTerms, doc: 'The term that set it.'},
    min_delay_ms: {type: 'double', unit: 'milliseconds', doc: 'Configured least delay.'},
    latency_ms: {type: 'double', unit: 'milliseconds', doc: 'latency_factor times the last response time.'},
    crawl_delay_ms: {type: 'double', unit: 'milliseconds', doc: 'Crawl-delay of robots.txt; 0 without one.'},
    retry_after_ms: {
      type: 'double',
      unit: 'milliseconds',
      doc: 'Retry-After of the last answer; 0 without one.',
    },
    backoff_ms: {type: 'double', unit: 'milliseconds', doc: 'Back-off after errors; 0 without one.'},
    failures: {type: 'int32', doc: 'Failures charged to the host since its last good answer.'},
    last_reason: {type: 'text', nullable: true, doc: 'Reason of the last of them.'},
    requests: {type: 'count', doc: 'Requests ever sent, robots.txt and hops included.'},
    dns_failures: {type: 'int32', doc: 'Look-ups in a row that failed.'},
    updated_segment: {type: 'text', doc: 'Segment whose fetch wrote this.'},
    soft_404_time: {
      type: 'timestamp',
      nullable: true,
      since: 2,
      doc: 'When the host was last asked for a random path (fetch.soft_404).',
    },
    soft_404_signature: {
      type: 'text',
      nullable: true,
      since: 2,
      doc: 'Signature of the text it answered with; null where it said "not found" by its status.',
    },
  },
});
export type HostStateRow = Row<typeof hoststate>;

export const hoststats = table({
  name: 'hoststats',
  version: 2,
  doc: 'One row for each host: counts and bytes. Written by updatedb.',
  key: ['host_key'],
  columns: {
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_host_name: {type: 'text', doc: 'Host name.'},
    url_host_registered_domain: {type: 'text', doc: 'Registered domain.'},
    urls: {type: 'count', doc: 'Known URLs.'},
    unfetched: {type: 'count', doc: 'URLs with status unfetched.'},
    fetched: {type: 'count', doc: 'URLs with status fetched or notmodified.'},
    duplicates: {type: 'count', doc: 'URLs with status duplicate.'},
    gone: {type: 'count', doc: 'URLs with status gone.'},
    redirects: {type: 'count', doc: 'URLs with a redirect status.'},
    pages_fetched: {
      type: 'count',
      doc: 'Successful pages ever; robots.txt and hops not counted. budget.max_pages_per_host looks at this.',
    },
    body_bytes: {type: 'count', unit: 'bytes', doc: 'Payload bytes ever received.'},
    over_budget: {type: 'count', doc: 'New URLs refused because the budget was used up.'},
    novel_bytes: {
      type: 'count',
      nullable: true,
      unit: 'bytes',
      doc: 'Of body_bytes those of payloads that the crawl did not have yet.',
      since: 2,
    },
    recent_pages: {
      type: 'double',
      nullable: true,
      doc: 'Pages first asked for that the yield looks at: the last 100 or so.',
      since: 2,
    },
    recent_new: {
      type: 'double',
      nullable: true,
      doc: 'Of those the ones with content of their own: no error, not empty, no duplicate or near-duplicate. Links that are dead (404, 410) count a quarter.',
      since: 2,
    },
  },
});
export type HostStatsRow = Row<typeof hoststats>;

export const hostrules = table({
  name: 'hostrules',
  version: 3,
  doc: 'One row for each rule by hand about a host, a domain or a pattern of host names. Written by people, through `crawl host`.',
  key: ['url_host_name'],
  columns: {
    url_host_name: {
      type: 'text',
      doc: 'Who the rule is about: a host name; .example.org for a domain and all hosts below it; a pattern with *.',
    },
    host_key: {type: 'key', doc: 'Key of that text: of a host where the rule is about one.'},
    min_delay_ms: {type: 'double', nullable: true, unit: 'milliseconds', doc: 'Least delay for this host.'},
    blocked: {type: 'boolean', doc: 'Nothing is asked of the host, and no new URL of it is added.'},
    max_connections: {type: 'int32', nullable: true, doc: 'Requests at once.'},
    note: {type: 'text', nullable: true, doc: 'Why, for the next person.'},
    changed_time: {type: 'timestamp', doc: 'When the rule was made.'},
    hours: {
      type: 'text',
      nullable: true,
      doc: 'Hours of the day, UTC, in which the host is asked.',
      example: '22:00-06:00',
      since: 2,
    },
    max_rate: {type: 'double', nullable: true, doc: 'Most requests a second.', since: 2},
    max_bandwidth: {
      type: 'double',
      nullable: true,
      unit: 'bytes',
      doc: 'Most payload bytes a second.',
      since: 2,
    },
    applies_to: {
      type: 'text',
      values: ['host', 'domain', 'pattern'],
      nullable: true,
      doc: 'What url_host_name is; null in older files, where it is a host.',
      since: 3,
    },
    unblocked: {
      type: 'boolean',
      nullable: true,
      doc: 'Asked although a rule about more hosts blocks it; null: that rule decides.',
      since: 3,
    },
  },
});
export type HostRuleRow = Row<typeof hostrules>;

export const pathstats = table({
  name: 'pathstats',
  version: 1,
  doc: 'One row for each first folder of hosts with 1,000 known URLs or more, 100 of a host at most: the yield of its last pages. Written by updatedb.',
  key: ['host_key', 'path'],
  columns: {
    host_key: {type: 'key', doc: 'Key of the host.'},
    url_host_name: {type: 'text', doc: 'Host name.'},
    path: {type: 'text', doc: 'First folder of the path; / for what is in none.', example: '/archive/'},
    recent_pages: {type: 'double', doc: 'As in hoststats, of this folder: the last 100 or so.'},
    recent_new: {type: 'double', doc: 'As in hoststats: of those the ones with content of their own.'},
  },
});
export type PathStatsRow = Row<typeof pathstats>;

export const seedstats = table({
  name: 'seedstats',
  version: 1,
  doc: 'One row for each seed: what was reached from it. Written with the rows of the crawldb.',
  key: ['seed'],
  columns: {
    seed: {type: 'text', doc: 'Normalized URL of the seed.'},
    urls: {type: 'count', doc: 'Known URLs whose seed it is; injected ones are not counted.'},
    pages_fetched: {type: 'count', doc: 'Successful pages ever.'},
    body_bytes: {type: 'count', unit: 'bytes', doc: 'Payload bytes ever received.'},
    novel_bytes: {type: 'count', unit: 'bytes', doc: 'Of those of payloads that the crawl did not have yet.'},
    over_budget: {type: 'count', doc: 'New URLs refused because the budget of the seed was used up.'},
  },
});
export type SeedStatsRow = Row<typeof seedstats>;
