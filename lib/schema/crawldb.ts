import {reasonNames} from './reason.ts';
import {dbStatuses, hopTypes} from './status.ts';
import {type Row, table} from './table.ts';

/** By what a page repeats another one: equal content, equal text, nearly equal text. */
const duplicateKinds = ['exact', 'text', 'near'] as const;

export const crawldb = table({
  name: 'crawldb',
  version: 5,
  doc: 'One row for each URL known to the crawl: its state after the last updatedb.',
  key: ['host_key', 'url_key'],
  columns: {
    host_key: {type: 'key', doc: 'XXH64 of the host name. Top bits name the bucket.'},
    url_key: {type: 'key', doc: 'XXH64 of the normalized URL. (host_key, url_key) is the identity of a URL.'},
    url: {type: 'text', doc: 'Normalized URL.', example: 'https://example.org/a', source: 'Common Crawl'},
    url_host_name: {type: 'text', doc: 'Host name, IP addresses included.', source: 'Common Crawl'},
    url_host_registered_domain: {
      type: 'text',
      doc: 'One label below the public suffix; the host itself where there is none.',
      source: 'Common Crawl',
    },
    status: {type: 'text', values: dbStatuses, doc: 'State of the URL.', source: 'Nutch CrawlDatum'},
    reason: {
      type: 'text',
      values: reasonNames,
      nullable: true,
      doc: 'Why it is in this state; null after a plain success or before any fetch.',
    },
    score: {type: 'double', doc: 'Priority in generate; higher is sooner.', source: 'Nutch score'},
    depth: {type: 'int32', doc: 'Fewest links from a seed; a redirect target has the depth of its source.'},
    seed: {type: 'text', nullable: true, doc: 'Normalized URL of the seed that it was reached from.'},
    tag: {type: 'text', nullable: true, doc: 'Tag of that seed.'},
    metadata: {
      type: 'json',
      nullable: true,
      doc: 'Object of the key=value pairs of the seed line.',
      source: 'Nutch metadata',
    },
    hop_type: {
      type: 'text',
      values: hopTypes,
      doc: 'How it was first reached: I seed, L link, E embed, R redirect, S sitemap.',
      source: 'Heritrix',
    },
    discovered_time: {
      type: 'timestamp',
      doc: 'When it was first seen: time of the inject, or of the capture that links to it.',
    },
    discovered_from: {type: 'text', nullable: true, doc: 'URL of that capture; null for seeds.'},
    next_fetch_time: {
      type: 'timestamp',
      doc: 'Earliest time of the next fetch.',
      source: 'Nutch fetchTime in crawldb',
    },
    fetch_interval_s: {
      type: 'int32',
      unit: 'seconds',
      doc: 'Time between two fetches.',
      source: 'Nutch fetchInterval',
    },
    fixed_interval: {
      type: 'boolean',
      doc: 'The schedule leaves fetch_interval_s alone.',
      source: 'Nutch fixedInterval',
    },
    retries: {
      type: 'int32',
      doc: 'Failures charged to the URL since the last success.',
      source: 'Nutch retries',
    },
    fetch_time: {
      type: 'timestamp',
      nullable: true,
      doc: 'Time of the last fetch that got an answer or failed at the URL.',
      source: 'Common Crawl',
    },
    fetch_segment: {type: 'text', nullable: true, doc: 'Segment of that fetch.'},
    fetch_status: {
      type: 'int16',
      nullable: true,
      doc: 'HTTP status code of that fetch.',
      source: 'Common Crawl',
    },
    fetch_redirect: {
      type: 'text',
      nullable: true,
      doc: 'Normalized redirect target, where the last fetch was a redirect.',
      source: 'Common Crawl',
    },
    last_success_time: {
      type: 'timestamp',
      nullable: true,
      doc: 'Time of the last success; failures never erase it.',
    },
    last_success_segment: {
      type: 'text',
      nullable: true,
      doc: 'Segment of the last success with a payload: a 304 refers to it.',
    },
    modified_time: {
      type: 'timestamp',
      nullable: true,
      doc: 'Fetch time of the last visit whose content had changed.',
      source: 'Nutch modifiedTime',
    },
    content_digest: {
      type: 'text',
      nullable: true,
      doc: 'SHA-1, base32, of the last payload as received.',
      source: 'Common Crawl',
    },
    signature: {
      type: 'bytes',
      nullable: true,
      doc: 'Signature of the last content-decoded body; duplicates share it.',
      source: 'Nutch signature',
    },
    text_signature: {type: 'bytes', nullable: true, doc: 'Signature of the last normalized text.'},
    simhash: {type: 'key', nullable: true, doc: 'Similarity fingerprint of the last text.'},
    etag: {type: 'text', nullable: true, doc: 'ETag of the last success, as received.'},
    last_modified: {type: 'text', nullable: true, doc: 'Last-Modified of the last success, as received.'},
    visits: {type: 'int32', doc: 'Successful visits, unchanged ones included.'},
    changes: {type: 'int32', doc: 'Visits on which the content had changed.'},
    duplicate_of: {
      type: 'text',
      nullable: true,
      doc: 'URL whose equal content is kept, for status duplicate.',
    },
    inlinks: {type: 'int32', doc: 'Number of distinct pages that link to it, set by invertlinks.'},
    updated_segment: {type: 'text', nullable: true, doc: 'Newest segment whose outcome this row holds.'},
    revision: {type: 'count', doc: 'Version of the crawldb that wrote this row; the newest wins.'},
    canonical_url: {
      type: 'text',
      nullable: true,
      doc: 'rel=canonical of the last parsed content; among duplicates the page it names is kept.',
    },
    sitemap_depth: {
      type: 'int32',
      nullable: true,
      since: 2,
      doc: 'For a sitemap: index files on the way to it, 0 for one named by robots.txt or by hand. Null for pages.',
    },
    visit_history: {
      type: 'bytes',
      nullable: true,
      since: 3,
      doc: 'A byte for each of the last 32 visits that could be compared, oldest first: the high bit is set where the page had changed, the others are the interval, 60 s × 2^(code / 6).',
    },
    change_rate: {
      type: 'double',
      nullable: true,
      since: 3,
      unit: 'changes a day',
      doc: 'Estimate from the visit history, by Cho and Garcia-Molina; null before a visit could be compared.',
    },
    hinted_time: {
      type: 'timestamp',
      nullable: true,
      since: 3,
      doc: 'When a sitemap or feed was seen that moved the coming visit up; null after that visit.',
    },
    hints_followed: {type: 'int32', nullable: true, since: 3, doc: 'Visits that were moved up so.'},
    hints_right: {
      type: 'int32',
      nullable: true,
      since: 3,
      doc: 'Those of them that found a change; what hints are worth is read off the two.',
    },
    duplicate_kind: {
      type: 'text',
      values: duplicateKinds,
      nullable: true,
      since: 4,
      doc: 'By what it repeats the page of duplicate_of or similar_to: equal content, equal text, nearly equal text.',
    },
    similar_to: {
      type: 'text',
      nullable: true,
      since: 4,
      doc: 'URL whose text is equal or nearly equal, where dedup.text or dedup.near only marks.',
    },
    history_frozen: {
      type: 'boolean',
      nullable: true,
      since: 5,
      doc: 'True where an older visit came to be known after newer ones, and the fetch rows of these were kept no more: visits, changes, visit_history and interval leave it out. Else null.',
    },
  },
});
/** One row of the crawldb. Nutch's word. */
export type CrawlDatum = Row<typeof crawldb>;
