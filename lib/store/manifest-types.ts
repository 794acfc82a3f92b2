import type {Selection} from '../selection/selection.ts';

/**
 * What a crawl consists of, as data. A manifest names slots; a slot points at an immutable list of
 * files; so manifests stay small (a flat one of 10,000 segments was 133 MB and 2.3 s a commit).
 */

/** Version of the folder's layout; readers refuse later ones. */
export const layoutVersion = 1;

/** A file of a table. `key` is its path in the crawl folder, with `/` on every system. */
export interface FileRef {
  readonly table: string;
  /** Version of the table that wrote it; absent means 1. */
  readonly version?: number;
  readonly key: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Least and greatest host_key (or first key column), as decimal strings, where rows have one. */
  readonly range?: readonly [string, string];
  /** What a table's own code keeps with its files, as the crawldb its revision and bucket. */
  readonly facts?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * Slot names: `crawldb`, `crawldbstats`, `linkdb`, `linkrank`, `seeds`, `robots`, `hoststate`, `hoststats`, `hostrules`, `runs`,
 * `segments/ID/fetchlist`, `segments/ID/fetch`, `segments/ID/content`, `segments/ID/parse/PARSE`,
 * `segments/ID/outlinks/PARSE`, `segments/ID/extract/EXTRACTOR/PARSE`, `segments/ID/extractions/EXTRACTOR/PARSE`,
 * `segments/ID/refusals`.
 */
export interface Slot {
  /** Raised by each write. */
  readonly version: number;
  /** Path of the list in the crawl folder. */
  readonly ref: string;
  /** SHA-256 of the list. */
  readonly sha256: string;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
}

/** An immutable list of files, at `Slot.ref`. */
export interface FileList {
  readonly files: readonly FileRef[];
}

export type SegmentState = 'generated' | 'fetching' | 'fetched';

/** What is known of a segment as a whole. Its `version` is checked like a slot's, as `segments/ID`. */
export interface SegmentInfo {
  readonly version: number;
  /** `fetching`: begun and not complete; the journal, or the fetch slot, holds what is done. */
  readonly state: SegmentState;
  readonly urls: number;
  readonly hosts: number;
  readonly partitions: number;
  readonly generated_time: string;
  /** What generate decided by. */
  readonly selection?: Selection;
  readonly fetched_time?: string;
  /** The parse that `parse` and `outlinks` show. */
  readonly current?: string;
  /** The parse that updatedb has applied (`null`: applied unparsed). Absent: the segment is open, and its URLs are locked. */
  readonly applied?: string | null;
  /** The parse that invertlinks has applied; null: one that was removed since. */
  readonly inverted?: string | null;
  /** Where its captures came from another crawl or other segments: hashes of the lists that they were committed with. */
  readonly merged_from?: string | readonly string[];
}

export interface Manifest {
  readonly layout_version: number;
  readonly number: number;
  readonly parent: {readonly number: number; readonly sha256: string} | null;
  readonly created_time: string;
  readonly run: string;
  readonly job: string;
  /** Version of the list of open segments: raised when one opens. generate reads and writes it. */
  readonly open_version: number;
  readonly slots: Readonly<Record<string, Slot>>;
  readonly segments: Readonly<Record<string, SegmentInfo>>;
  /** Digests of the policies that stored data depends on, as `url`. */
  readonly policies: Readonly<Record<string, string>>;
  /** Counts for `status`, by name. */
  readonly summary: Readonly<Record<string, number>>;
  /** Files of this commit: renamed from where the attempt wrote them to their place, by whoever comes next if need be. */
  readonly placements: readonly {readonly from: string; readonly to: string}[];
}

/** What a job changes. It is rebased onto a newer manifest if and only if all that it reads and writes is unchanged there. */
export interface Edit {
  /** Slot names, `segments/ID`, or `open` (the list of open segments), as they were in the base. */
  readonly reads: readonly string[];
  /** New content of slots: all their files. Null removes the slot. */
  readonly writes: Readonly<Record<string, readonly FileRef[] | null>>;
  /** Files added to slots, whatever else was added meanwhile. */
  readonly appends?: Readonly<Record<string, readonly FileRef[]>>;
  /** New facts of segments, merged into what is there; null drops the segment with all its slots. */
  readonly segments?: Readonly<Record<string, Partial<Omit<SegmentInfo, 'version'>> | null>>;
  /** The edit opens segments, so `open_version` is raised. */
  readonly opens?: boolean;
  readonly policies?: Readonly<Record<string, string>>;
  readonly summary?: Readonly<Record<string, number>>;
  /**
   * In place of those of the base, for good: what is not in them goes. Such an edit depends on everything, so it is
   * never rebased.
   */
  readonly restores?: Pick<Manifest, 'segments' | 'policies' | 'summary'>;
}
