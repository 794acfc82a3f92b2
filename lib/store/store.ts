import type {Row, Table} from '../schema/table.ts';
import type {TableName} from '../schema/tables.ts';
import type {Edit, FileRef, Manifest, SegmentInfo} from './manifest-types.ts';

/** A crawl folder, opened. Implemented in crawl.ts; the only way to the disk for jobs. */
export interface CrawlStore {
  /** Absolute path of the crawl folder. */
  readonly dir: string;
  /** The present: the highest whole manifest, its files in their place. */
  head(): Promise<Snapshot>;
  /** The crawl as of manifest `number`. Throws MANIFEST_INVALID where it is not kept any more. */
  at(number: number): Promise<Snapshot>;
  /** Absolute path of a file of the crawl; looks where a commit in progress or a drop may have left it. */
  path(file: FileRef): string;
  commit(request: CommitRequest): Promise<Snapshot>;
}

/** A crawl as of one manifest. Immutable. */
export interface Snapshot {
  readonly manifest: Manifest;
  readonly store: CrawlStore;
  /** Files of a slot; none if there is no such slot. */
  files(slot: string): Promise<readonly FileRef[]>;
  /** Files of a table over all segments (or those given), in order of segment; `parse` and `outlinks`: the current ones. */
  tableFiles(table: TableName, segments?: readonly string[]): Promise<readonly FileRef[]>;
  segment(id: string): SegmentInfo;
  /** Ids of all segments, oldest first. */
  readonly segments: readonly string[];
}

export interface CommitRequest {
  readonly base: Snapshot;
  readonly edit: Edit;
  readonly run: string;
  readonly job: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What a task may do with the disk: read its inputs, write files of its own attempt. */
export interface TaskStore {
  readonly dir: string;
  /** Absolute path of an input. */
  path(file: FileRef): string;
  /**
   * A new file of `table`, under an attempt-unique name in the run's folder. `place` is the folder in the crawl
   * where the commit will put it, as `segments/ID/fetch`.
   */
  create<T extends Table>(table: T, place: string): Promise<TableFile<T>>;
  /**
   * Makes a finished file, whose key is ignored, one of the attempt's files as `create` would; `path` stays, by a
   * hard link where the file system has them.
   */
  adopt(file: FileRef, path: string, place: string): Promise<FileRef>;
  /** Folder of the attempt for spill; removed when the task ends. */
  scratch(): Promise<string>;
  /** Journal folder of a segment: the one place that a task writes to directly. */
  journalDir(segment: string): string;
}

/**
 * A file being written. For rows: `write` and `close`. For DuckDB's COPY: hand `path` to COPY, then `finish`.
 * Either way the file is fsynced, hashed and described.
 */
export interface TableFile<T extends Table> {
  readonly table: T;
  /** Absolute path, for COPY … TO. */
  readonly path: string;
  /** Adds rows; resolves when they are out of memory. */
  write(rows: readonly Row<T>[]): Promise<void>;
  /** Ends a file written by `write`. */
  close(facts?: FileRef['facts']): Promise<FileRef>;
  /** Ends a file written by COPY: checks it against the table, counts its rows, finds its key range. */
  finish(facts?: FileRef['facts']): Promise<FileRef>;
  /** Removes the file. */
  discard(): Promise<void>;
}
