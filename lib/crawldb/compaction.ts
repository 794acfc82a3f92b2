import type {FileRef} from '../store/manifest-types.ts';
import {type Bucket, bucketsOf, isDelta, type Range, revisionOf, sumRows} from './layout.ts';

/**
 * When a bucket takes up its share of the deltas. Incremental: a commit that makes the deltas too large writes a few
 * buckets anew, those where deltas weigh most; the others wait for later rounds. Pure: decides over lists of files.
 */
export interface CompactionRule {
  /** Most rows in deltas, as a share of the rows of the base. */
  readonly maxShare: number;
  /** Below so many rows in deltas the share does not matter. */
  readonly minRows: number;
  /** Most revisions in deltas: each costs two files, at 0.3 ms a query and file (measured 2026-10). */
  readonly maxRevisions: number;
  /** A crawldb of fewer rows is written anew as a whole: that is less work than to think about it. */
  readonly smallRows: number;
  /** Most rows of a bucket: its rows are sorted in memory. A larger one is split. */
  readonly bucketRows: number;
  /** Most buckets that one commit writes, as a share of all. */
  readonly maxBuckets: number;
}

/**
 * With deltas at share s a round of D rows costs about D / (2 s) rows of compaction (measured 2026-10: 4.3 D at 20 %),
 * and each query that joins all rows holds the keys of the deltas in memory: 32 bytes each.
 */
export const compactionRule: CompactionRule = {
  maxShare: 0.25,
  minRows: 200_000,
  maxRevisions: 24,
  smallRows: 500_000,
  bucketRows: 1_000_000,
  maxBuckets: 0.25,
};

/**
 * A crawldb of up to so many rows is written anew after fewer revisions: jobs read all of it, which takes some 5 ms of
 * processor time a delta and job (by a profile of rounds of ten pages), and to write 5,000 rows anew 0.5 s, the start of
 * DuckDB included (measured 2026-11).
 */
export const tinyCrawldb = {rows: 20_000, maxRevisions: 8};

export interface CompactionPlan {
  /** Buckets to write anew. */
  readonly buckets: readonly BucketPlan[];
  /** Delta files, of all buckets, that become one. */
  readonly merge: readonly FileRef[];
}

/** A bucket to write anew; plain data, so that a plan can be kept. */
export interface BucketPlan {
  readonly bucket: number;
  readonly buckets: number;
  /** Its files of the base. */
  readonly files: readonly FileRef[];
  /** Live rows in deltas, by estimate. */
  readonly live: number;
  /** Buckets that it becomes: 1, or a power of two. */
  readonly parts: number;
}

/** What a commit that leaves these files has to do besides; undefined for nothing. */
export function compactionPlan(
  files: readonly FileRef[],
  rule: CompactionRule = compactionRule,
): CompactionPlan | undefined {
  const deltas = files.filter(isDelta);
  if (deltas.length === 0) return undefined;
  const buckets = bucketsOf(files).map((bucket) => ({bucket, live: liveRows(bucket, deltas)}));
  const total = sumRows(files);
  const revisions = new Set(deltas.map(revisionOf)).size;
  const small = total <= rule.smallRows;
  const most = Math.min(
    rule.maxRevisions,
    total <= tinyCrawldb.rows ? tinyCrawldb.maxRevisions : Number.POSITIVE_INFINITY,
  );
  const wanted = small && revisions > most ? buckets.filter(({live}) => live > 0) : heavy(buckets, rule);
  const chosen = wanted.map(({bucket, live}) => planOf(bucket, live, total, rule));
  const merge = small ? [] : toMerge(deltas, rule);
  return chosen.length === 0 && merge.length === 0 ? undefined : {buckets: chosen, merge};
}

interface Weighed {
  readonly bucket: Bucket;
  readonly live: number;
}

/** Buckets with the greatest share of deltas first, until the deltas are within the limit. */
function heavy(buckets: readonly Weighed[], rule: CompactionRule): Weighed[] {
  const base = buckets.reduce((sum, {bucket}) => sum + bucket.rows, 0);
  let live = buckets.reduce((sum, one) => sum + one.live, 0);
  const most = Math.max(2, Math.ceil(buckets.length * rule.maxBuckets));
  const share = (one: Weighed) => one.live / Math.max(1, one.bucket.rows + one.live);
  const chosen: Weighed[] = [];
  for (const one of buckets.toSorted((a, b) => share(b) - share(a) || a.bucket.bucket - b.bucket.bucket)) {
    if (live < rule.minRows || live <= rule.maxShare * base || chosen.length >= most || one.live === 0) break;
    chosen.push(one);
    live -= one.live;
  }
  return chosen.sort((a, b) => (a.bucket.first < b.bucket.first ? -1 : 1));
}

function planOf(bucket: Bucket, live: number, total: number, rule: CompactionRule): BucketPlan {
  const need = 2 ** Math.max(0, Math.ceil(Math.log2((bucket.rows + live) / rule.bucketRows)));
  // A bucket with one great host gets no smaller however often it is split.
  const most = Math.max(1, (4 * bucketsFor(total, rule)) / bucket.buckets);
  const {bucket: at, buckets, files} = bucket;
  return {bucket: at, buckets, files, live, parts: Math.min(need, most)};
}

/** How many buckets so many rows need, all of one size. */
export function bucketsFor(rows: number, rule: CompactionRule = compactionRule): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(rows / rule.bucketRows)));
}

/** Of too many deltas the smaller half becomes one: so each row is copied a few times at most. */
function toMerge(deltas: readonly FileRef[], rule: CompactionRule): readonly FileRef[] {
  const revisions = new Map<number, number>();
  for (const file of deltas)
    revisions.set(revisionOf(file), (revisions.get(revisionOf(file)) ?? 0) + file.rows);
  if (revisions.size <= rule.maxRevisions) return [];
  const smaller = [...revisions]
    .sort(([a, n], [b, m]) => n - m || a - b)
    .slice(0, Math.ceil(revisions.size / 2))
    .map(([revision]) => revision);
  return deltas.filter((file) => smaller.includes(revisionOf(file)));
}

/** Every bucket that has live rows in deltas, at most so many, the heaviest first: what `crawl compact` does. */
export function compactSome(
  files: readonly FileRef[],
  rule: CompactionRule = compactionRule,
): CompactionPlan | undefined {
  return compactionPlan(files, {...rule, maxShare: 0, minRows: 1, maxRevisions: 1, smallRows: 0});
}

const slots = 64;

/** Rows of deltas that stand in a bucket and are not taken up. Exact where the bucket is no smaller than a slot. */
function liveRows(bucket: Bucket, deltas: readonly FileRef[]): number {
  return deltas
    .filter((file) => revisionOf(file) > bucket.seq)
    .reduce((sum, file) => sum + Math.round(rowsIn(file, bucket)), 0);
}

function rowsIn(file: FileRef, {bucket, buckets}: Range): number {
  const text = file.facts?.slots;
  if (typeof text !== 'string') return file.rows / buckets;
  const counts = text.split(' ').map(Number);
  if (buckets >= slots) return (counts[Math.floor((bucket * slots) / buckets)] ?? 0) / (buckets / slots);
  const width = slots / buckets;
  return counts.slice(bucket * width, (bucket + 1) * width).reduce((sum, n) => sum + n, 0);
}

/** Which part of the rows of a delta is not taken up; 0 for a file of the base. */
export function liveShare(file: FileRef, buckets: readonly Bucket[]): number {
  if (!isDelta(file) || file.rows === 0) return 0;
  const waiting = buckets.filter(({seq}) => revisionOf(file) > seq);
  return Math.min(1, waiting.reduce((sum, bucket) => sum + rowsIn(file, bucket), 0) / file.rows);
}

/** Rows of a delta by the top six bits of host_key, as the facts of the file keep them. */
export function slotsText(counts: readonly {readonly slot: number; readonly rows: number}[]): string {
  const all = new Array<number>(slots).fill(0);
  for (const {slot, rows} of counts) all[slot] = rows;
  return all.join(' ');
}

export const slotBits = Math.log2(slots);

/** The files after a compaction: what was written in place of what was taken up or merged. */
export function afterCompaction(
  files: readonly FileRef[],
  replaced: readonly FileRef[],
  written: readonly FileRef[],
): readonly FileRef[] {
  const gone = new Set(replaced.map(({key}) => key));
  const base = [...files, ...written].filter((file) => !isDelta(file) && !gone.has(file.key));
  const deltas = [...files, ...written].filter((file) => isDelta(file) && !gone.has(file.key));
  const passed = Math.min(...bucketsOf(base).map(({seq}) => seq));
  return [...base.sort(byRange), ...deltas.filter((file) => file.rows > 0 && revisionOf(file) > passed)];
}

function byRange(a: FileRef, b: FileRef): number {
  const place = ({facts}: FileRef) => Number(facts?.bucket ?? 0) / Number(facts?.buckets ?? 1);
  return place(a) - place(b) || (String(a.facts?.list) < String(b.facts?.list) ? -1 : 1);
}
