import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {SelectionRules} from '../../lib/selection/selection.ts';

/** The selection of generate told in plain TypeScript, queue by queue, for tests to compare with the SQL. */

type Rules = Pick<
  SelectionRules,
  'topN' | 'maxPerHost' | 'maxPerDomain' | 'maxPerSeed' | 'order' | 'refetchShare' | 'shares'
> & {
  /** Where known pages are selected by lateness: the time of the selection, ms. */
  readonly lateAt?: number;
  /** Most pages of a host, domain or seed; of none has anything been fetched. */
  readonly budgets?: Partial<Record<'host' | 'domain' | 'seed', number | null>>;
};

interface Waiting {
  readonly row: CrawlDatum;
  readonly refetch: boolean;
  nth: number;
  hostNth: number;
  standing: number;
}

/** URLs of one fetchlist in their order, of rows that are all due. A row's group is its tag, where that has a weight. */
export function plainSelection(rows: readonly CrawlDatum[], rules: Rules): string[] {
  const ranked = groups(withinBudgets(rows, rules), (row) => row.url_host_name).flatMap((host) => {
    const ofHost = inTurn(host, isKnown, byOrder(rules), rules.refetchShare)
      .slice(0, rules.maxPerHost)
      .map(
        ({one, nth}, at): Waiting => ({row: one, refetch: isKnown(one), nth, hostNth: at + 1, standing: 0}),
      );
    for (const one of ofHost)
      one.standing = Math.max(
        ...ofHost
          .filter((o) => o.refetch === one.refetch && o.nth >= one.nth)
          .map((o) => standingOf(o.row, rules)),
      );
    return ofHost;
  });
  const byStanding = (a: Waiting, b: Waiting) =>
    b.standing - a.standing || a.nth - b.nth || byKey(a.row, b.row);
  const inDomain = capped(
    ranked,
    (one) => one.row.url_host_registered_domain,
    rules.maxPerDomain,
    (a, b) => a.hostNth - b.hostNth || b.standing - a.standing || byKey(a.row, b.row),
    rules,
  );
  const inSeed = capped(inDomain, (one) => one.row.seed ?? '', rules.maxPerSeed, byStanding, rules);
  const groupOf = ({row}: Waiting) => (row.tag !== null && row.tag in rules.shares ? row.tag : '*');
  const shared = groups(inSeed, groupOf).flatMap((group) => {
    const name = groupOf(group[0]!);
    return inTurn(group, ({refetch}) => refetch, byStanding, rules.refetchShare).map(({one}, at) => ({
      one,
      name,
      time: (at + 1) / (rules.shares[name] ?? 1),
    }));
  });
  return shared
    .toSorted((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1))
    .slice(0, rules.topN)
    .map(({one}) => one.row.url);
}

/** New and known ones, each kind in its order, in turn by their shares. */
function inTurn<V>(
  list: readonly V[],
  refetch: (one: V) => boolean,
  order: (a: V, b: V) => number,
  refetchShare: number,
): {readonly one: V; readonly nth: number}[] {
  const kinds = [false, true].flatMap((known) => {
    const share = Math.max(known ? refetchShare : 1 - refetchShare, 1e-9);
    return list
      .filter((one) => refetch(one) === known)
      .toSorted(order)
      .map((one, at) => ({one, nth: at + 1, time: (at + 1) / share, known}));
  });
  return kinds.toSorted((a, b) => a.time - b.time || +a.known - +b.known);
}

/** What hosts, then domains, then seeds have left. */
function withinBudgets(rows: readonly CrawlDatum[], rules: Rules): readonly CrawlDatum[] {
  const {host, domain, seed} = rules.budgets ?? {};
  const within = (list: readonly CrawlDatum[], key: (row: CrawlDatum) => string | null, most = Infinity) =>
    groups(list, key).flatMap((group) =>
      key(group[0]!) === null
        ? group
        : inTurn(group, isKnown, byOrder(rules), rules.refetchShare)
            .slice(0, most)
            .map(({one}) => one),
    );
  const inHost = within(rows, (row) => row.url_host_name, host ?? undefined);
  const inDomain = within(inHost, (row) => row.url_host_registered_domain, domain ?? undefined);
  return within(inDomain, (row) => row.seed, seed ?? undefined);
}

function isKnown({status}: CrawlDatum): boolean {
  return status !== 'unfetched';
}

/** A host's own order. */
function byOrder(rules: Rules): (a: CrawlDatum, b: CrawlDatum) => number {
  return (a, b) =>
    stepOf(a, rules) - stepOf(b, rules) || standingOf(b, rules) - standingOf(a, rules) || byKey(a, b);
}

function isLate(row: CrawlDatum, {lateAt}: Rules): boolean {
  return lateAt !== undefined && isKnown(row);
}

/** What a row stands by in its queue. */
function standingOf(row: CrawlDatum, rules: Rules): number {
  if (!isLate(row, rules)) return row.score;
  return 1 + (rules.lateAt! - row.next_fetch_time.getTime()) / 1000 / row.fetch_interval_s;
}

function stepOf(row: CrawlDatum, rules: Rules): number {
  if (isLate(row, rules)) return 0;
  const {depth} = row;
  const {order} = rules;
  return order === 'breadth' ? depth : order === 'depth' ? -depth : 0;
}

function byKey(a: CrawlDatum, b: CrawlDatum): number {
  return a.url_key < b.url_key ? -1 : a.url_key > b.url_key ? 1 : a.host_key < b.host_key ? -1 : 1;
}

function capped(
  list: readonly Waiting[],
  key: (one: Waiting) => string,
  most: number | null,
  order: (a: Waiting, b: Waiting) => number,
  {refetchShare}: Rules,
): readonly Waiting[] {
  if (most === null) return list;
  return groups(list, key).flatMap((group) =>
    inTurn(group, ({refetch}) => refetch, order, refetchShare)
      .slice(0, most)
      .map(({one}) => one),
  );
}

function groups<V, K>(values: readonly V[], key: (value: V) => K): V[][] {
  const found = new Map<K, V[]>();
  for (const value of values) {
    const group = found.get(key(value));
    if (group === undefined) found.set(key(value), [value]);
    else group.push(value);
  }
  return [...found.values()];
}
