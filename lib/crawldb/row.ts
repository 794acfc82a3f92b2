import type {CrawlDatum} from '../schema/crawldb.ts';
import type {HopType} from '../schema/status.ts';

/** Columns that identify a URL; `identify` in lib/url/keys.ts makes them. */
type Identity = Pick<
  CrawlDatum,
  'host_key' | 'url_key' | 'url' | 'url_host_name' | 'url_host_registered_domain'
>;

export interface Discovery {
  readonly score: number;
  readonly depth: number;
  readonly seed: string | null;
  readonly tag: string | null;
  readonly metadata?: string | null;
  readonly hopType: HopType;
  readonly time: Date;
  /** URL of the capture that links to it; null for seeds. */
  readonly from: string | null;
  readonly intervalS: number;
  readonly fixed?: boolean;
  /** Of a sitemap. */
  readonly sitemapDepth?: number | null;
}

/** Due time of rows that are taken out, by upkeep or rekey: they are never asked for. */
export const neverDue = new Date(Date.UTC(9999, 11, 31));

/** The row of a URL that was just found: unfetched, due at once. */
export function newRow(identity: Identity, found: Discovery, revision: number): CrawlDatum {
  return {
    host_key: identity.host_key,
    url_key: identity.url_key,
    url: identity.url,
    url_host_name: identity.url_host_name,
    url_host_registered_domain: identity.url_host_registered_domain,
    score: found.score,
    depth: found.depth,
    seed: found.seed,
    tag: found.tag,
    metadata: found.metadata ?? null,
    hop_type: found.hopType,
    discovered_time: found.time,
    discovered_from: found.from,
    fixed_interval: found.fixed ?? false,
    inlinks: 0,
    ...neverFetched(found.time, found.intervalS),
    revision,
    sitemap_depth: found.sitemapDepth ?? null,
  };
}

/** What fetches write, as it is before the first one. */
function neverFetched(due: Date, intervalS: number) {
  return {
    status: 'unfetched',
    reason: null,
    next_fetch_time: due,
    fetch_interval_s: intervalS,
    retries: 0,
    fetch_time: null,
    fetch_segment: null,
    fetch_status: null,
    fetch_redirect: null,
    last_success_time: null,
    last_success_segment: null,
    modified_time: null,
    content_digest: null,
    signature: null,
    text_signature: null,
    simhash: null,
    etag: null,
    last_modified: null,
    visits: 0,
    changes: 0,
    duplicate_of: null,
    canonical_url: null,
    updated_segment: null,
    visit_history: null,
    change_rate: null,
    hinted_time: null,
    hints_followed: null,
    hints_right: null,
    duplicate_kind: null,
    similar_to: null,
    history_frozen: null,
  } as const satisfies Partial<CrawlDatum>;
}

/** The row without its history: the start of a replay of all its outcomes. A fixed interval stays. */
export function forgetHistory(row: CrawlDatum, firstIntervalS: number): CrawlDatum {
  return {
    ...row,
    ...neverFetched(row.discovered_time, row.fixed_interval ? row.fetch_interval_s : firstIntervalS),
  };
}
