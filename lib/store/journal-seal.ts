import {type ContentRow, content} from '../schema/content.ts';
import {type Capture, fetch} from '../schema/fetch.ts';
import type {Row, Table} from '../schema/table.ts';
import {DigestSet} from './digest-set.ts';
import {journalFiles} from './journal.ts';
import {readEntries} from './journal-read.ts';
import type {JournalEntry} from './journal-table.ts';
import type {FileRef} from './manifest-types.ts';
import {PayloadRepeats, repeatColumns} from './payload-repeats.ts';
import type {TableFile} from './store.ts';

export interface SealOptions {
  /** Segment id, for rows of the table content. */
  readonly segment: string;
  /** A new file of a table, as TaskStore.create gives it. */
  create<T extends Table>(table: T): Promise<TableFile<T>>;
  /** Segment that holds a payload already and shall be referred to; undefined: store it here. */
  alreadyStored?(sha256: string, bytes: number): string | undefined;
  /** Payloads of the segment that are stored already; those stored now are added. */
  readonly stored?: DigestSet;
  /** Told of each entry that is kept. */
  onEntry?(entry: JournalEntry): void;
  /** Files end at this size. */
  readonly fileBytes?: number;
}

export interface Sealed {
  readonly fetch: readonly FileRef[];
  readonly content: readonly FileRef[];
  /** Journal rows dropped because a crash had cut them. */
  readonly lost: number;
  /** Outcomes dropped because a later one of the same URL replaces them. */
  readonly superseded: number;
  readonly stored: number;
  /** Payloads that were stored already, in this segment or another. */
  readonly shared: number;
  /** What those would have taken. */
  readonly savedBytes: number;
}

/** DESIGN: a part of a segment has ceil(bytes / 256 MB) files. */
const defaultFileBytes = 256 * 2 ** 20;
/** What a row of `fetch` takes in a file, about. */
const rowBytes = 500;

/**
 * Turns the journals of a folder into files of `fetch` and `content`, in the order of arrival. Of several
 * outcomes of one request (a fetch that was taken up again) the latest stays. A payload is stored once: rows
 * with an equal one refer to it. Memory: one batch, one row group of each table, and some 100 bytes an outcome.
 */
export async function sealJournals(dir: string, options: SealOptions): Promise<Sealed> {
  return sealFiles(await journalFiles(dir), options);
}

/** The same for some of them. */
export async function sealFiles(paths: readonly string[], options: SealOptions): Promise<Sealed> {
  const repeats = new PayloadRepeats();
  const winners = await latestOutcomes(paths, repeats);
  const fetchFiles = new FileSeries(() => options.create(fetch), options.fileBytes ?? defaultFileBytes);
  const contentFiles = new FileSeries(() => options.create(content), options.fileBytes ?? defaultFileBytes);
  const stored = options.stored ?? new DigestSet();
  const storedBefore = stored.size;
  let at = 0;
  let lost = 0;
  let superseded = 0;
  let shared = 0;
  let savedBytes = 0;
  try {
    for await (const batch of readEntries(paths)) {
      lost += batch.lost;
      const rows: Capture[] = [];
      const payloads: ContentRow[] = [];
      for (const entry of batch.entries) {
        const {row, payload} = entry;
        if (winners.get(identity(row)) !== at++) {
          superseded++;
          continue;
        }
        if (repeats.marks(row)) row.soft_404 = 'repeated';
        rows.push(row);
        options.onEntry?.(entry);
        const kept = payload === null ? null : contentRow(options.segment, row, payload);
        if (kept === null) continue;
        const {content_sha256: sha256, content_length: length} = kept;
        const held = stored.has(sha256) ? options.segment : options.alreadyStored?.(sha256, length);
        if (held === undefined) {
          stored.add(sha256);
          payloads.push(kept);
        } else {
          shared++;
          savedBytes += length;
        }
        row.content_segment = held ?? options.segment;
      }
      await contentFiles.write(payloads, ({payload}) => payload.byteLength);
      await fetchFiles.write(rows, () => rowBytes);
    }
    return {
      fetch: await fetchFiles.close(),
      content: await contentFiles.close(),
      lost,
      superseded,
      stored: stored.size - storedBefore,
      shared,
      savedBytes,
    };
  } catch (error) {
    await fetchFiles.discard();
    await contentFiles.discard();
    throw error;
  }
}

/** The row of a payload; null where the capture names no digest. */
export function contentRow(
  segment: string,
  {content_sha256, content_digest}: Pick<Capture, 'content_sha256' | 'content_digest'>,
  payload: Uint8Array,
): ContentRow | null {
  if (content_sha256 === null || content_digest === null) return null;
  return {segment, content_sha256, content_digest, content_length: payload.byteLength, payload};
}

/** SHA-256 of the payloads of journal files that have at least so many bytes. */
export async function payloadDigests(paths: readonly string[], leastBytes: number): Promise<string[]> {
  const digests: string[] = [];
  const columns = {withoutLastColumn: true, columns: ['content_sha256', 'content_length']};
  for await (const {entries} of readEntries(paths, columns))
    for (const {row} of entries)
      if (row.content_sha256 !== null && (row.content_length ?? 0) >= leastBytes)
        digests.push(row.content_sha256);
  return digests;
}

/** Place of the latest outcome of each request, counted over all whole rows of the journals; and their payloads. */
async function latestOutcomes(
  paths: readonly string[],
  repeats: PayloadRepeats,
): Promise<Map<string | bigint, number>> {
  const latest = new Map<string | bigint, number>();
  let at = 0;
  for await (const {entries} of readEntries(paths, {withoutLastColumn: true, columns: firstColumns}))
    for (const {row} of entries) {
      latest.set(identity(row), at++);
      repeats.count(row);
    }
  return latest;
}

/**
 * Which request an outcome is of. Pages are asked for once; hops and robots.txt as often as something leads to
 * them, so what led there belongs to their identity. (Pages as one number, since there are many.)
 */
function identity(row: Pick<Capture, (typeof identityColumns)[number]>): string | bigint {
  return row.kind === 'page' && row.hop === 0
    ? (row.host_key << 64n) | row.url_key
    : `${row.kind} ${row.hop} ${row.host_key} ${row.url_key} ${row.origin_url}`;
}

const identityColumns = ['kind', 'hop', 'host_key', 'url_key', 'origin_url'] as const;
const firstColumns = [...identityColumns, ...repeatColumns];

/** Files of one table, each closed at a size. */
class FileSeries<T extends Table> {
  readonly #create: () => Promise<TableFile<T>>;
  readonly #limit: number;
  readonly #done: FileRef[] = [];
  #file: TableFile<T> | undefined;
  #bytes = 0;

  constructor(create: () => Promise<TableFile<T>>, limit: number) {
    this.#create = create;
    this.#limit = limit;
  }

  async write(rows: readonly Row<T>[], bytesOf: (row: Row<T>) => number): Promise<void> {
    let from = 0;
    for (let to = 1; to <= rows.length; to++) {
      this.#bytes += bytesOf(rows[to - 1]!);
      const full = this.#bytes >= this.#limit;
      if (!full && to < rows.length) continue;
      this.#file ??= await this.#create();
      await this.#file.write(rows.slice(from, to));
      from = to;
      if (full) await this.#end();
    }
  }

  async close(): Promise<readonly FileRef[]> {
    await this.#end();
    return this.#done;
  }

  async discard(): Promise<void> {
    await this.#file?.discard();
  }

  async #end(): Promise<void> {
    if (this.#file !== undefined) this.#done.push(await this.#file.close());
    this.#file = undefined;
    this.#bytes = 0;
  }
}
