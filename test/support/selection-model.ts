import type {CrawlDatum} from '../../lib/schema/crawldb.ts';
import type {SelectionRules} from '../../lib/selection/selection.ts';

/** The selection of generate told in plain TypeScript, queue by queue, for tests to compare with the SQL. */

type Rules = Pick<
  SelectionRules,
  'topN' | 'maxPerHost' | 'maxPerDomain' | 'maxPerSeed' | 'order' | 'refetchShare' | 'shares'
> & {
  /** Where known pages are selected by lateness: the time of the selection, ms. */
  readonly lateAt?: number;
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
  const share = (refetch: boolean) => Math.max(refetch ? rules.refetchShare : 1 - rules.refetchShare, 1e-9);
  const ranked: Waiting[] = [];
  for (const host of groups(rows, (row) => row.url_host_name)) {
    const queues = [false, true].map((refetch) =>
      host
        .filter(({status}) => (status !== 'unfetched') === refetch)
        .toSorted(
          (a, b) =>
            stepOf(a, rules) - stepOf(b, rules) || standingOf(b, rules) - standingOf(a, rules) || byKey(a, b),
        )
        .slice(0, rules.maxPerHost)
        .map((row, at): Waiting => ({row, refetch, nth: at + 1, hostNth: 0, standing: 0})),
    );
    const merged = queues
      .flat()
      .toSorted((a, b) => a.nth / share(a.refetch) - b.nth / share(b.refetch) || +a.refetch - +b.refetch)
      .slice(0, rules.maxPerHost);
    for (const [at, one] of merged.entries()) one.hostNth = at + 1;
    for (const one of merged)
      one.standing = Math.max(
        ...merged
          .filter((o) => o.refetch === one.refetch && o.nth >= one.nth)
          .map((o) => standingOf(o.row, rules)),
      );
    ranked.push(...merged);
  }
  const inDomain = capped(
    ranked,
    (one) => one.row.url_host_registered_domain,
    rules.maxPerDomain,
    (a, b) => a.hostNth - b.hostNth || b.standing - a.standing || byKey(a.row, b.row),
  );
  const inSeed = capped(
    inDomain,
    (one) => one.row.seed ?? '',
    rules.maxPerSeed,
    (a, b) => b.standing - a.standing || a.nth - b.nth || byKey(a.row, b.row),
  );
  const groupOf = ({row}: Waiting) => (row.tag !== null && row.tag in rules.shares ? row.tag : '*');
  const shared = groups(inSeed, groupOf).flatMap((group) => {
    const kinds = [false, true].flatMap((refetch) =>
      group
        .filter((one) => one.refetch === refetch)
        .toSorted((a, b) => b.standing - a.standing || a.nth - b.nth || byKey(a.row, b.row))
        .map((one, at) => ({one, time: (at + 1) / share(refetch)})),
    );
    const name = groupOf(group[0]!);
    return kinds
      .toSorted((a, b) => a.time - b.time || +a.one.refetch - +b.one.refetch)
      .map(({one}, at) => ({one, name, time: (at + 1) / (rules.shares[name] ?? 1)}));
  });
  return shared
    .toSorted((a, b) => a.time - b.time || (a.name < b.name ? -1 : 1))
    .slice(0, rules.topN)
    .map(({one}) => one.row.url);
}

function isLate({status}: CrawlDatum, {lateAt}: Rules): boolean {
  return lateAt !== undefined && status !== 'unfetched';
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
): readonly Waiting[] {
  if (most === null) return list;
  return groups(list, key).flatMap((group) => group.toSorted(order).slice(0, most));
}

function groups<V>(values: readonly V[], key: (value: V) => string): V[][] {
  const found = new Map<string, V[]>();
  for (const value of values) {
    const group = found.get(key(value));
    if (group === undefined) found.set(key(value), [value]);
    else group.push(value);
  }
  return [...found.values()];
}
