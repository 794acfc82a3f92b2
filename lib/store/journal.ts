import {type FileHandle, mkdir, open, readdir} from 'node:fs/promises';
import {basename, join} from 'node:path';
import {systemCode} from '../errors.ts';
import type {Capture} from '../schema/fetch.ts';
import {syncFolder} from './durable.ts';
import {BatchEncoder} from './journal-arrow.ts';
import {journalTable, journalValues} from './journal-table.ts';
import {fileError} from './table-io.ts';

/**
 * The journal of a fetch. Each outcome is appended, with its payload, before anything else is told of it; what
 * is on disk survives kill -9 and, from the last flush on, a power cut.
 *
 * A folder of Arrow IPC stream files, numbered in the order in which they were begun. A file belongs to one
 * process and is never appended to by another: after a torn tail, more data would be read as garbage (measured
 * 2026-11). `journal-read.ts` reads them back, `journal-seal.ts` turns them into Parquet.
 */
export interface JournalWriter {
  /**
   * Adds an outcome. Null: it is taken over, though not on disk yet. Else it waits for the disk: two batches are
   * being written already. Rejects once a flush has failed.
   */
  append(row: Capture, payload: Uint8Array | null): Promise<void> | null;
  /** Resolves when all that was appended before is on disk, what waited for it included. */
  flush(): Promise<void>;
  /** Flushes and ends the file. */
  close(): Promise<void>;
}

export interface JournalOptions {
  /** Waits for a time, as Effects.sleep. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  readonly flushBytes?: number;
  readonly flushMs?: number;
  readonly rotateBytes?: number;
  /** Told of each file that has been ended at `rotateBytes`. */
  onRotated?(path: string): void;
}

/** Measured 2026-11: a batch of one row costs 2.1 KB and up to 1 ms; at 8 MB or 1 s both vanish. */
const defaults = {
  flushBytes: 8 * 2 ** 20,
  flushMs: 1000,
  /** Files end here, so that what is sealed can be removed piece by piece. */
  rotateBytes: 256 * 2 ** 20,
};

/** Ending of journal files: Arrow's own for streams. */
export const journalEnding = '.arrows';

/** Opens a journal in `dir`, which is made if need be. Its file is begun by the first flush. */
export async function openJournal(dir: string, options: JournalOptions): Promise<JournalWriter> {
  try {
    await mkdir(dir, {recursive: true});
  } catch (error) {
    throw fileError(error, dir);
  }
  return new Journal(dir, options);
}

/** Paths of the journal files in a folder, oldest first. None if there is no folder. */
export async function journalFiles(dir: string): Promise<string[]> {
  try {
    const names = await readdir(dir);
    return names
      .filter((name) => name.endsWith(journalEnding))
      .sort()
      .map((name) => join(dir, name));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw fileError(error, dir);
  }
}

/** Number of a journal file: files of later starts have higher ones. */
export function journalNumber(path: string): number {
  return Number.parseInt(basename(path), 10);
}

/** Highest number of a file in the folder, journals that were sealed included. */
async function lastNumber(dir: string): Promise<number> {
  const names = await readdir(dir).catch((error: unknown) => {
    throw fileError(error, dir);
  });
  const numbers = names.map((name) => Number.parseInt(name, 10));
  return Math.max(0, ...numbers.filter((number) => !Number.isNaN(number)));
}

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly encoder: BatchEncoder;
  bytes: number;
}

class Journal implements JournalWriter {
  readonly #dir: string;
  readonly #sleep: JournalOptions['sleep'];
  readonly #limits: typeof defaults;
  readonly #onRotated: (path: string) => void;
  readonly #stop = new AbortController();
  #columns: unknown[][] = emptyColumns();
  #rows = 0;
  #bytes = 0;
  #file: OpenFile | undefined;
  /** Flushes run one after another; this is the last one. */
  #writing: Promise<void> = Promise.resolve();
  /** Batches that are not on disk yet, and outcomes that wait for them. */
  #batches = 0;
  #waiting = 0;
  #failed: {error: unknown} | undefined;
  #ticking = false;

  constructor(dir: string, options: JournalOptions) {
    this.#dir = dir;
    this.#sleep = (ms, signal) => options.sleep(ms, signal);
    this.#onRotated = (path) => options.onRotated?.(path);
    this.#limits = {
      flushBytes: options.flushBytes ?? defaults.flushBytes,
      flushMs: options.flushMs ?? defaults.flushMs,
      rotateBytes: options.rotateBytes ?? defaults.rotateBytes,
    };
  }

  append(row: Capture, payload: Uint8Array | null): Promise<void> | null {
    if (this.#failed !== undefined) return Promise.reject(this.#failed.error);
    if (this.#batches < 2 && this.#waiting === 0) {
      this.#take(row, payload);
      return null;
    }
    this.#waiting++;
    return this.#writing.then(() => {
      this.#waiting--;
      this.#throwIfFailed();
      this.#take(row, payload);
    });
  }

  #take(row: Capture, payload: Uint8Array | null): void {
    const values = journalValues(row, payload);
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      this.#columns[i]!.push(value);
      if (value instanceof Uint8Array) this.#bytes += value.byteLength;
      else if (typeof value === 'string') this.#bytes += value.length;
    }
    this.#rows++;
    if (this.#bytes >= this.#limits.flushBytes) void this.#flush();
    else this.#tick();
  }

  async flush(): Promise<void> {
    await this.#flush();
    // Outcomes that waited for the disk are taken over meanwhile, and make batches of their own.
    while (this.#failed === undefined && this.#waiting + this.#rows + this.#batches > 0) await this.#flush();
    this.#throwIfFailed();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    try {
      await this.flush();
      await this.#end();
    } finally {
      await this.#file?.handle.close();
      this.#file = undefined;
    }
  }

  /** Flushes `flushMs` after the first row of a batch. */
  #tick(): void {
    if (this.#ticking) return;
    this.#ticking = true;
    this.#sleep(this.#limits.flushMs, this.#stop.signal).then(
      () => {
        this.#ticking = false;
        void this.#flush();
      },
      () => {
        this.#ticking = false;
        // The clock of a fetch that is being stopped no longer runs: what its last requests bring is written at once.
        if (!this.#stop.signal.aborted) void this.#flush();
      },
    );
  }

  /** Never rejects: the error waits for the next call of the owner. */
  #flush(): Promise<void> {
    if (this.#rows > 0) {
      const columns = this.#columns;
      const rows = this.#rows;
      this.#columns = emptyColumns();
      this.#rows = 0;
      this.#bytes = 0;
      this.#batches++;
      this.#writing = this.#writing.then(async () => {
        try {
          if (this.#failed === undefined) await this.#write(columns, rows);
        } catch (error) {
          this.#failed = {error};
        }
        this.#batches--;
      });
    }
    return this.#writing;
  }

  async #write(columns: unknown[][], rows: number): Promise<void> {
    this.#file ??= await this.#begin();
    const file = this.#file;
    try {
      const bytes = file.encoder.encode(columns, rows);
      await writeAll(file.handle, bytes);
      await file.handle.datasync();
      file.bytes += bytes.byteLength;
      if (file.bytes >= this.#limits.rotateBytes) {
        await this.#end();
        await file.handle.close();
        this.#file = undefined;
        this.#onRotated(file.path);
      }
    } catch (error) {
      throw fileError(error, file.path);
    }
  }

  async #begin(): Promise<OpenFile> {
    let number = (await lastNumber(this.#dir)) + 1;
    while (true) {
      const path = join(this.#dir, `${number}`.padStart(6, '0') + journalEnding);
      try {
        const handle = await open(path, 'wx');
        await syncFolder(this.#dir);
        return {path, handle, encoder: new BatchEncoder(journalTable), bytes: 0};
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw fileError(error, path);
        number++;
      }
    }
  }

  async #end(): Promise<void> {
    if (this.#file === undefined) return;
    await writeAll(this.#file.handle, this.#file.encoder.end());
    await this.#file.handle.datasync();
  }

  #throwIfFailed(): void {
    if (this.#failed !== undefined) throw this.#failed.error;
  }
}

function emptyColumns(): unknown[][] {
  return Object.keys(journalTable.columns).map(() => []);
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let done = 0;
  while (done < bytes.byteLength) done += (await handle.write(bytes, done)).bytesWritten;
}
