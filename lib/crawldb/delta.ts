import type {FileRef} from '../store/manifest-types.ts';

/**
 * How the crawldb lies on disk: a base, in buckets by the top bits of host_key, where a URL stands once, and
 * deltas, the rows that one commit changed. A round writes deltas only; when there are too many, the base is
 * written anew. Pure: this file decides over lists of files.
 */

/** The crawldb with the rows of one more commit. */
export function applyDelta(files: readonly FileRef[], delta: readonly FileRef[]): readonly FileRef[] {
  return [...files, ...delta.filter((file) => file.rows > 0)];
}

/** Facts of a delta file; `revision` is the version of the crawldb that the commit makes. */
export function deltaFacts(revision: number): NonNullable<FileRef['facts']> {
  return {kind: 'delta', revision};
}

export interface CompactionRule {
  /** Most rows in deltas, as a share of the rows of the base. */
  readonly maxShare: number;
  /** Below so many rows in deltas the share does not matter. */
  readonly minRows: number;
  /** Most delta files: each costs 0.3 ms a query (measured), and the newest-wins merge reads all of them. */
  readonly maxFiles: number;
  /** Most rows of a bucket: it is sorted in memory. */
  readonly bucketRows: number;
}

/** With deltas at share s a round of D bytes costs about D / (2 s) bytes of compaction (measured: 4.3 D at 20 %). */
export const compactionRule: CompactionRule = {
  maxShare: 0.4,
  minRows: 200_000,
  maxFiles: 24,
  bucketRows: 1_000_000,
};

export function needsCompaction(files: readonly FileRef[], rule: CompactionRule = compactionRule): boolean {
  const deltas = files.filter(isDelta);
  const rows = sumRows(deltas);
  const base = sumRows(files) - rows;
  return deltas.length > rule.maxFiles || (rows >= rule.minRows && rows > rule.maxShare * base);
}

export interface BucketPlan {
  readonly bucket: number;
  /** Number of buckets, a power of two. */
  readonly buckets: number;
  /** First host_key of the bucket, and the last, both of it. */
  readonly first: bigint;
  readonly last: bigint;
  /** Files that can hold rows of the bucket. */
  readonly files: readonly FileRef[];
}

/** The buckets of a whole new base. A bucket holds whole hosts. */
export function compactionPlan(
  files: readonly FileRef[],
  rule: CompactionRule = compactionRule,
): readonly BucketPlan[] {
  const bits = Math.max(0, Math.ceil(Math.log2(sumRows(files) / rule.bucketRows)));
  const buckets = 2 ** bits;
  const width = 2n ** BigInt(64 - bits);
  return Array.from({length: buckets}, (_, bucket) => {
    const first = BigInt(bucket) * width;
    const last = first + width - 1n;
    return {bucket, buckets, first, last, files: files.filter((file) => overlaps(file, first, last))};
  });
}

function overlaps(file: FileRef, first: bigint, last: bigint): boolean {
  return file.range === undefined || (BigInt(file.range[0]) <= last && BigInt(file.range[1]) >= first);
}

function isDelta(file: FileRef): boolean {
  return file.facts?.kind === 'delta';
}

function sumRows(files: readonly FileRef[]): number {
  return files.reduce((sum, file) => sum + file.rows, 0);
}
