import {linkDirectives} from '../robots/directives.ts';
import type {LinkKind, Outlink} from '../schema/outlinks.ts';
import type {Reason} from '../schema/reason.ts';
import type {HopType} from '../schema/status.ts';
import type {Scope, Stay} from '../scope/scope.ts';
import {listing, mayList} from '../sitemap/host-rule.ts';
import {identify} from '../url/keys.ts';
import {normalizeUrl, type ParsedBase, type UrlPolicy} from '../url/normalize.ts';
import {parseUrl} from '../url/parse.ts';
import {maxHref, type RawLink} from './links.ts';

/** What decides about links, made once a task. */
export interface LinkPolicy {
  readonly url: UrlPolicy;
  readonly scope: Scope;
  /** Digest of all of it, kept with each link. */
  readonly digest: string;
  /** `links.follow`. */
  readonly follow: ReadonlySet<string>;
  /** `links.nofollow`: obey it. */
  readonly nofollow: boolean;
  /** How far links may lead from a seed, for seeds whose line says so. */
  readonly seedScopes: Readonly<Record<string, Stay>>;
  /** Origins whose robots.txt answers for the URLs that a sitemap lists of them; absent: none. */
  readonly namedBy?: (sitemapUrl: string) => ReadonlySet<string>;
}

/** The page that links were found in. */
export interface LinkSource {
  readonly segment: string;
  readonly parse_id: string;
  readonly capture_id: string;
  readonly host_key: bigint;
  readonly url_key: bigint;
  /** Normalized. */
  readonly url: string;
  readonly fetch_time: Date;
  readonly depth: number;
  readonly seed: string | null;
  /** Base of relative links. */
  readonly base: ParsedBase;
  /** The page says nofollow. */
  readonly nofollow: boolean;
}

export interface PageLinks {
  readonly rows: readonly Outlink[];
  /** Links beyond the limit. */
  readonly cut: number;
}

/** Base of relative links: the page's `base`, itself relative to the page, if it is http; else the page. */
export function baseOf(url: string, base: string | null): string {
  if (base === null) return url;
  const own = parseUrl(url);
  const resolved = own === undefined ? undefined : parseUrl(base, own);
  return resolved?.protocol === 'http:' || resolved?.protocol === 'https:' ? resolved.href : url;
}

/** Kinds that load something into the page. */
const embeds: ReadonlySet<LinkKind> = new Set([
  'iframe',
  'frame',
  'img',
  'srcset',
  'script',
  'style',
  'media',
  'embed',
  'css',
]);

/** Chosen: language tags are shorter. @see RFC 5646, section 4.4.1 */
const maxHreflang = 64;

/** The letter of Heritrix; a kind that is followed is a link, whatever element it stands in. */
function hopTypeOf(kind: LinkKind, follow: ReadonlySet<string>): HopType {
  if (kind === 'sitemap') return 'S';
  return embeds.has(kind) && !follow.has(kind) ? 'E' : 'L';
}

/**
 * Rows of the links of a page, in the order of the document, the rejected ones with their reason. Of more than
 * `limit`, accepted ones stay before rejected, links before embeds, then in the order of the document.
 */
export function linkRows(
  links: readonly RawLink[],
  limit: number,
  source: LinkSource,
  policy: LinkPolicy,
): PageLinks {
  const rows = links.map((link, position) => linkRow(link, position, source, policy));
  if (rows.length <= limit) return {rows, cut: 0};
  const kept = rows
    .map((row) => ({row, rank: row.accepted ? 0 : row.hop_type === 'E' ? 2 : 1}))
    .sort((a, b) => a.rank - b.rank || a.row.position - b.row.position)
    .slice(0, limit)
    .map(({row}) => row)
    .sort((a, b) => a.position - b.position);
  return {rows: kept, cut: rows.length - kept.length};
}

/** One literal of all columns: spreading parts into one cost six times as much. */
function linkRow(link: RawLink, position: number, source: LinkSource, policy: LinkPolicy): Outlink {
  let hopType = hopTypeOf(link.kind, policy.follow);
  const target = normalizeUrl(link.href, policy.url, source.base);
  const identity = 'url' in target ? identify(target.url) : undefined;
  let verdict =
    'url' in target
      ? decide(link, target.url, hopType, source, policy)
      : {accepted: false, reason: target.reason, rule: target.detail};
  if (!verdict.accepted && hopType === 'L' && embeds.has(link.kind) && 'url' in target) {
    // A frame that leads out of scope as a link is still loaded into a page in scope.
    const loaded = decide(link, target.url, 'E', source, policy);
    if (loaded.accepted) {
      hopType = 'E';
      verdict = loaded;
    }
  }
  return {
    segment: source.segment,
    parse_id: source.parse_id,
    capture_id: source.capture_id,
    position,
    from_host_key: source.host_key,
    from_url_key: source.url_key,
    from_url: source.url,
    fetch_time: source.fetch_time,
    to_host_key: identity?.host_key ?? null,
    to_url_key: identity?.url_key ?? null,
    to_url: identity?.url ?? null,
    to_host_name: identity?.url_host_name ?? null,
    to_registered_domain: identity?.url_host_registered_domain ?? null,
    href: link.href.length > maxHref ? link.href.slice(0, maxHref) : link.href,
    anchor: link.anchor,
    rel: link.rel,
    kind: link.kind,
    hop_type: hopType,
    depth: source.depth + 1,
    seed: source.seed,
    lastmod: link.lastmod ?? null,
    accepted: verdict.accepted,
    reason: verdict.reason,
    rule: verdict.rule,
    rules_digest: policy.digest,
    sitemap_priority: link.priority ?? null,
    sitemap_changefreq: link.changefreq ?? null,
    hreflang:
      link.hreflang === undefined ? null : link.hreflang.trim().toLowerCase().slice(0, maxHreflang) || null,
  };
}

function seedScope(source: LinkSource, policy: LinkPolicy): Stay | null {
  const {seed} = source;
  return seed !== null && Object.hasOwn(policy.seedScopes, seed) ? policy.seedScopes[seed]! : null;
}

/**
 * Whose URLs a sitemap may list comes first, since no other rules make up for it; then the scope, whose reason is
 * about the target; then what the page and the settings say of following it.
 */
function decide(
  link: RawLink,
  url: string,
  hopType: HopType,
  source: LinkSource,
  policy: LinkPolicy,
): Pick<Outlink, 'accepted' | 'reason' | 'rule'> {
  if (link.kind === 'sitemap') {
    const namedBy = policy.namedBy?.(source.url);
    if (!mayList(listing(source.url, url, namedBy && {namedBy}))) return rejected('sitemap_host', source.url);
  }
  const verdict = policy.scope.check({
    url,
    depth: source.depth + 1,
    hopType,
    from: source.url,
    // A sitemap is no page: what it lists is held against the seed.
    seed: link.kind === 'sitemap' && link.rel !== null ? null : source.seed,
    seedScope: seedScope(source, policy),
  });
  const rule = verdict.rule ?? null;
  if (!verdict.accepted) return {accepted: false, reason: verdict.reason, rule};
  if (hopType !== 'E' && !policy.follow.has(link.kind)) return rejected('not_followed', 'links.follow');
  if (policy.nofollow) {
    if (source.nofollow) return rejected('nofollow', 'page');
    if (link.rel !== null && linkDirectives(link.rel).nofollow) return rejected('nofollow', 'rel');
  }
  return {accepted: true, reason: null, rule};
}

function rejected(reason: Reason, rule: string): Pick<Outlink, 'accepted' | 'reason' | 'rule'> {
  return {accepted: false, reason, rule};
}

/** The one link of a capture that was a redirect: it keeps the depth of the page. */
export function redirectRow(target: string, source: LinkSource, policy: LinkPolicy): Outlink {
  const {accepted, rule, ...verdict} = policy.scope.check({
    url: target,
    depth: source.depth,
    hopType: 'R',
    from: source.url,
    seed: source.seed,
    seedScope: seedScope(source, policy),
  });
  return {
    ...linkRow({href: target, kind: 'header', rel: null, anchor: null}, 0, source, policy),
    hop_type: 'R',
    depth: source.depth,
    accepted,
    reason: 'reason' in verdict ? verdict.reason : null,
    rule: rule ?? null,
  };
}
