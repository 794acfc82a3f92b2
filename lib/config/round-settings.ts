import type {OptionDeclarations} from '../options.ts';
import {fetchOrders} from '../selection/selection.ts';

/** Sections about what is worth a request and when, and about the crawl on disk. */
export const roundSettings = {
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
  traps: {
    quarantine: {
      kind: 'flag',
      default: true,
      doc: 'Quarantine families of URLs that go on without new content; they are watched in any case.',
    },
    min_pages: {
      kind: 'count',
      default: 100,
      min: 10,
      doc: 'Pages of a family before it is judged.',
    },
    min_novel: {
      kind: 'number',
      default: 0.1,
      min: 0,
      max: 1,
      doc: 'Least share of them with a text that is like no other of the family.',
    },
    near_bits: {
      kind: 'count',
      default: 8,
      max: 32,
      doc: 'Texts are alike whose fingerprints differ in no more bits of 64.',
    },
    probe: {
      kind: 'duration',
      default: '30d',
      doc: 'When some URLs of a quarantined family are tried again; it doubles with each trial.',
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
    weights: {
      kind: 'map',
      default: {},
      doc: 'Parts of the priority in generate and their weights, as {seed: 1, inlinks: 0.2}: seed depth inlinks linkrank opic age; the stored score alone if empty.',
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
    text: {
      kind: 'choice',
      values: ['off', 'mark', 'status'],
      default: 'mark',
      doc: 'Pages of equal text: named in similar_to, or duplicates like those of equal content.',
    },
    near: {
      kind: 'choice',
      values: ['off', 'mark', 'status'],
      default: 'mark',
      doc: 'The same for pages of nearly equal text, which crawl dedup looks for.',
    },
    near_bits: {
      kind: 'count',
      default: 3,
      max: 8,
      doc: 'Bits of 64 in which the fingerprints (simhash) of nearly equal texts differ at most.',
    },
  },
  budget: {
    max_pages_per_host: {kind: 'count', doc: 'Most successful pages of a host, ever.'},
    max_bytes_per_host: {kind: 'size', doc: 'Most payload bytes of a host, ever.'},
    max_novel_bytes_per_host: {kind: 'size', doc: 'Most bytes of payloads not seen before of a host, ever.'},
    max_urls_per_host: {kind: 'count', doc: 'Most known URLs of a host.'},
    max_pages_per_domain: {kind: 'count', doc: 'Most successful pages of a registered domain, ever.'},
    max_bytes_per_domain: {kind: 'size', doc: 'Most payload bytes of a registered domain, ever.'},
    max_novel_bytes_per_domain: {
      kind: 'size',
      doc: 'Most bytes of payloads not seen before of a registered domain, ever.',
    },
    max_urls_per_domain: {kind: 'count', doc: 'Most known URLs of a registered domain.'},
    max_pages_per_seed: {kind: 'count', doc: 'Most successful pages of what was reached from a seed, ever.'},
    max_bytes_per_seed: {kind: 'size', doc: 'Most payload bytes of what was reached from a seed, ever.'},
    max_novel_bytes_per_seed: {
      kind: 'size',
      doc: 'Most bytes of payloads not seen before of what was reached from a seed, ever.',
    },
    max_urls_per_seed: {kind: 'count', doc: 'Most known URLs of what was reached from a seed.'},
    yield: {
      kind: 'flag',
      default: true,
      doc: 'Hosts whose last pages had little content of their own get fewer URLs, and links less deep, until they give more.',
    },
  },
  storage: {
    memory: {
      kind: 'size',
      default: '2GB',
      min: 32 << 20, // DuckDB fails in its first query at 8 MB, and does small crawls in 32 MB (measured 2026-11)
      doc: 'Memory limit of DuckDB.',
    },
    threads: {kind: 'count', doc: 'Threads of DuckDB; as many as processors if absent.'},
    spill: {kind: 'text', doc: 'Folder for spill, which must be there; tmp/ of the crawl if absent.'},
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
