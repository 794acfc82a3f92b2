import type {FileRef} from '../store/manifest-types.ts';

/**
 * How the crawldb lies on disk: a base, in buckets by the top bits of host_key, where a URL stands once, and
 * deltas, the rows that one commit changed. Both lie in two lists, each in files of its own: `frontier`, URLs never
 * fetched, best score first, and `visited`, all others, by the week they are due in. A round writes deltas only;
 * `compaction.ts` says when a bucket takes up its share of them. Pure: this file reads lists of files.
 *
 * A bucket knows the last revision that it has taken up (`seq`): a row of a delta is live while its revision is
 * greater. Live rows win over the base; of several the one of the greatest revision wins.
 */

/** The lists of a file; `mixed` for files from before there were lists. */
export type ListName = 'frontier' | 'visited';

/** Never fetched and nothing but its score to wait for. As SQL over the columns of a row. */
export const inFrontier = `status = 'unfetched' AND fetch_time IS NULL`;

const weekS = 604_800;
/**
 * Order of the rows of a list. None depends on the clock: what generate reads stands at the head of each file, or of
 * each week, and equal rows make equal files.
 */
export const listOrder: Readonly<Record<ListName, string>> = {
  frontier: 'score DESC, url_key, host_key',
  visited: `epoch_ms(next_fetch_time) // ${weekS * 1000}, score DESC, url_key, host_key`,
};

/** Measured 2026-10: groups of 20,480 rows keep what generate reads short, and cost 2 % of space. */
export const rowGroupRows = 20_480;

/** A range of host keys, `bucket` of `buckets` equal ones; their number is a power of two. */
export interface Range {
  readonly bucket: number;
  readonly buckets: number;
  /** First host_key of the range, and the last, both of it. */
  readonly first: bigint;
  readonly last: bigint;
}

export interface Bucket extends Range {
  /** Files of the base; none where the base has no rows. */
  readonly files: readonly FileRef[];
  readonly rows: number;
  /** Last revision of the crawldb taken up; 0 for none. */
  readonly seq: number;
  /** Last version of `inlinks` taken up; 0 for none. */
  readonly links: number;
}

export function rangeOf(bucket: number, buckets: number): Range {
  const width = 2n ** 64n / BigInt(buckets);
  const first = BigInt(bucket) * width;
  return {bucket, buckets, first, last: first + width - 1n};
}

/** Facts of a file of the base. Those of a delta: kind, list, revision, slots, and `oldest` where it was made of several. */
export function baseFacts(
  {bucket, buckets}: Range,
  list: ListName,
  seq: number,
  links: number,
): NonNullable<FileRef['facts']> {
  return {kind: 'base', list, bucket, buckets, seq, links};
}

export function isDelta(file: FileRef): boolean {
  return file.facts?.kind === 'delta';
}

/** Greatest revision in a delta file. */
export function revisionOf(file: FileRef): number {
  return Number(file.facts?.revision ?? 0);
}

/** Least revision in a delta file; one that was made of several says so. */
export function oldestOf(file: FileRef): number {
  return Number(file.facts?.oldest ?? revisionOf(file));
}

/** The crawldb with the rows of one more commit. */
export function applyDelta(files: readonly FileRef[], delta: readonly FileRef[]): readonly FileRef[] {
  return [...files, ...delta.filter((file) => file.rows > 0)];
}

/**
 * The buckets, in order of key, without gap: where the base has no files, an empty bucket that has taken up nothing.
 * Files whose ranges overlap, which no compaction leaves, are one bucket.
 */
export function bucketsOf(files: readonly FileRef[]): readonly Bucket[] {
  const groups = new Map<string, FileRef[]>();
  for (const file of files) {
    if (isDelta(file)) continue;
    const key = `${file.facts?.bucket ?? 0}/${file.facts?.buckets ?? 1}`;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const found = [...groups.values()]
    .map((group) => bucketOf(group))
    .sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : b.buckets - a.buckets));
  if (found.some((bucket, at) => at > 0 && bucket.first <= found[at - 1]!.last))
    return [{...bucketOf(found.flatMap((bucket) => bucket.files)), ...rangeOf(0, 1)}];
  return withoutGaps(found);
}

function bucketOf(files: readonly FileRef[]): Bucket {
  const {bucket = 0, buckets = 1} = files[0]?.facts ?? {};
  const least = (fact: 'seq' | 'links') => Math.min(...files.map((file) => Number(file.facts?.[fact] ?? 0)));
  const rows = sumRows(files);
  return {...rangeOf(Number(bucket), Number(buckets)), files, rows, seq: least('seq'), links: least('links')};
}

function withoutGaps(found: readonly Bucket[]): readonly Bucket[] {
  const finest = Math.max(1, ...found.map(({buckets}) => buckets));
  const all: Bucket[] = [];
  for (let slot = 0; slot < finest; ) {
    const range = rangeOf(slot, finest);
    const bucket = found.find(({first}) => first === range.first);
    all.push(bucket ?? {...range, files: [], rows: 0, seq: 0, links: 0});
    slot += finest / (bucket?.buckets ?? finest);
  }
  return all;
}

/** Hosts by their keys, from `first` to `last`, both included: one host, or those of a bucket. */
export type Hosts = Pick<Range, 'first' | 'last'>;

export function oneHost(key: bigint): Hosts {
  return {first: key, last: key};
}

/** The files that can hold rows of some hosts: of their buckets, and deltas that one of these has not taken up. */
export function filesOfHosts(files: readonly FileRef[], {first, last}: Hosts): readonly FileRef[] {
  const buckets = bucketsOf(files).filter((bucket) => bucket.first <= last && first <= bucket.last);
  const seq = Math.min(...buckets.map((bucket) => bucket.seq));
  const deltas = files.filter((file) => isDelta(file) && revisionOf(file) > seq);
  const meets = ({range}: FileRef) =>
    range === undefined || (BigInt(range[0]) <= last && first <= BigInt(range[1]));
  return [...buckets.flatMap((bucket) => bucket.files), ...deltas.filter(meets)];
}

export function sumRows(files: readonly FileRef[]): number {
  return files.reduce((sum, file) => sum + file.rows, 0);
}

/** What each of `2 ** bits` equal ranges has taken up. */
export interface SeqTable {
  readonly bits: number;
  readonly seqs: readonly number[];
}

export function seqTable(buckets: readonly Bucket[], which: 'seq' | 'links' = 'seq'): SeqTable {
  const finest = Math.max(...buckets.map((bucket) => bucket.buckets));
  const seqs = buckets.flatMap((bucket) =>
    Array.from({length: finest / bucket.buckets}, () => bucket[which]),
  );
  return new Set(seqs).size === 1 ? {bits: 0, seqs: [seqs[0]!]} : {bits: Math.log2(finest), seqs};
}

/** SQL that is true for live rows with a host_key and a revision. */
export function liveCondition({bits, seqs}: SeqTable, host = 'host_key', revision = 'revision'): string {
  if (bits === 0) return `${revision} > ${seqs[0]}`;
  return `${revision} > list_extract([${seqs.join(', ')}], ((${host} >> ${64 - bits}) + 1)::INTEGER)`;
}
