import {join} from 'node:path';
import {toHostState} from '../lib/fetcher/delay.ts';
import type {FetchWork} from '../lib/fetcher/work.ts';
import {type ContentRow, content} from '../lib/schema/content.ts';
import {hoststate, robots} from '../lib/schema/hostdb.ts';
import type {Table} from '../lib/schema/table.ts';
import {DigestSet} from '../lib/store/digest-set.ts';
import {journalFiles, journalNumber} from '../lib/store/journal.ts';
import {
  type JournalPiece,
  journalPieces,
  pieceFileName,
  publishPiece,
  tidyPieces,
} from '../lib/store/journal-pieces.ts';
import {readEntries} from '../lib/store/journal-read.ts';
import {contentRow, type SealOptions, sealFiles, sealJournals} from '../lib/store/journal-seal.ts';
import type {FileRef} from '../lib/store/manifest-types.ts';
import {createTableFile} from '../lib/store/parquet.ts';
import {readTable} from '../lib/store/parquet-read.ts';
import {PayloadRepeats} from '../lib/store/payload-repeats.ts';
import type {TableFile} from '../lib/store/store.ts';
import {type DatabaseParams, databaseParams, openTaskDatabase, rowsTable} from './crawldb-writer.ts';
import type {FetchParams} from './fetch-task.ts';
import type {Task, TaskContext} from './job.ts';

/** Smaller payloads are stored anew: a reference to another segment costs more than they do. DESIGN: 1 KiB. */
const leastShared = 1024;

export interface SealedFetch {
  readonly files: readonly FileRef[];
  readonly stored: number;
  readonly shared: number;
  readonly lost: number;
}

/**
 * Turns the journal of a fetch into the tables fetch and content. Files of the journal that are full are sealed while
 * the fetch goes on, one at a time, into pieces beside it; the rest, and the states of hosts, when all is done. So
 * neither the journal's size, nor the time and memory of the last step, grow with the length of the fetch.
 */
export class FetchSealer {
  readonly #folder: string;
  readonly #task: Task;
  readonly #params: FetchParams;
  readonly #ctx: TaskContext;
  /** Payloads in pieces. 64 to 96 bytes each. */
  readonly #stored = new DigestSet();
  readonly #repeats = new PayloadRepeats();
  readonly #pieces: JournalPiece[] = [];
  #running: Promise<void> = Promise.resolve();
  #failure: {readonly error: unknown} | undefined;

  private constructor(folder: string, task: Task, params: FetchParams, ctx: TaskContext) {
    this.#folder = folder;
    this.#task = task;
    this.#params = params;
    this.#ctx = ctx;
  }

  /** Takes up what earlier processes have sealed. */
  static async open(folder: string, task: Task, params: FetchParams, ctx: TaskContext): Promise<FetchSealer> {
    const sealer = new FetchSealer(folder, task, params, ctx);
    await tidyPieces(folder);
    for (const piece of await journalPieces(folder)) {
      sealer.#pieces.push(piece);
      for (const file of piece.files)
        if (file.table === content.name)
          for await (const rows of readTable(content, join(folder, file.key), {columns: ['content_sha256']}))
            for (const {content_sha256} of rows) sealer.#stored.add(content_sha256);
    }
    return sealer;
  }

  /** A journal file is full: it is sealed in its turn. An error waits for `check`. */
  rotated(path: string): void {
    this.#running = this.#running.then(async () => {
      if (this.#failure !== undefined || this.#ctx.signal.aborted) return;
      try {
        await this.#sealPiece(path);
      } catch (error) {
        // A fetch that is being stopped leaves the file as it is: the next one seals it.
        if (!this.#ctx.signal.aborted) this.#failure = {error};
      }
    });
  }

  /** Throws what sealing a piece has failed with. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Resolves when nothing is being sealed. */
  idle(): Promise<void> {
    return this.#running;
  }

  /** All outcomes are in the journal: seals the rest. */
  async finish(work: FetchWork): Promise<SealedFetch> {
    await this.idle();
    this.check();
    const {segment} = this.#params;
    const place = (table: string) => `segments/${segment}/${table}`;
    const adopted: FileRef[] = [];
    for (const {files} of this.#pieces)
      for (const file of files)
        adopted.push(await this.#ctx.store.adopt(file, join(this.#folder, file.key), place(file.table)));
    const rest = await sealJournals(this.#folder, {
      ...(await this.#sharing(await journalFiles(this.#folder))),
      create: (table) => this.#ctx.store.create(table, place(table.name)),
    });
    const total = (count: (one: Pick<JournalPiece, 'stored' | 'shared' | 'lost'>) => number) =>
      [...this.#pieces, rest].reduce((sum, one) => sum + count(one), 0);
    return {
      files: [...adopted, ...rest.fetch, ...rest.content, ...(await writeHosts(work, segment, this.#ctx))],
      stored: total(({stored}) => stored),
      shared: total(({shared}) => shared),
      lost: total(({lost}) => lost),
    };
  }

  async #sealPiece(path: string): Promise<void> {
    const number = journalNumber(path);
    let files = 0;
    const create = async <T extends Table>(table: T, name = table.name): Promise<TableFile<T>> => {
      const key = pieceFileName(number, name, files++);
      return createTableFile(table, join(this.#folder, key), {key});
    };
    const robots = new Map<string, ContentRow>();
    const sealed = await sealFiles([path], {
      ...(await this.#sharing([path])),
      create: (table) => create(table),
      onEntry: ({row, payload}) => {
        if ((row.kind !== 'robots' && row.kind !== 'probe') || payload === null) return;
        const kept = contentRow(this.#params.segment, row, payload);
        if (kept !== null) robots.set(kept.content_sha256, {...kept, payload: Uint8Array.from(payload)});
      },
    });
    const piece: JournalPiece = {
      number,
      files: [...sealed.fetch, ...sealed.content],
      robots:
        robots.size === 0 ? null : await writeRobots(await create(content, 'robots'), [...robots.values()]),
      stored: sealed.stored,
      shared: sealed.shared,
      lost: sealed.lost,
    };
    await publishPiece(this.#folder, piece);
    this.#pieces.push(piece);
    this.#repeats.forgetSingles();
    this.#ctx.log('debug', 'journal_piece_sealed', {segment: this.#params.segment, number});
  }

  /** Which payloads are not stored again. */
  async #sharing(
    paths: readonly string[],
  ): Promise<Pick<SealOptions, 'segment' | 'stored' | 'repeats' | 'alreadyStored'>> {
    const {segment, config} = this.#params;
    const own = {segment, stored: this.#stored, repeats: this.#repeats};
    if (!config.storage.dedup) return own;
    const held = await heldPayloads(paths, this.#task, this.#ctx, databaseParams(config));
    return {...own, alreadyStored: (sha256) => held.get(sha256)};
  }
}

async function writeRobots(file: TableFile<typeof content>, rows: readonly ContentRow[]): Promise<FileRef> {
  await file.write(rows);
  return file.close();
}

/** Segments that hold payloads of these files already, by SHA-256. Memory: the digests of the files, once. */
async function heldPayloads(
  paths: readonly string[],
  task: Task,
  ctx: TaskContext,
  database: DatabaseParams,
): Promise<Map<string, string>> {
  const held = new Map<string, string>();
  const contents = task.inputs.filter(({table, rows}) => table === 'content' && rows > 0);
  if (contents.length === 0) return held;
  const digests: string[] = [];
  const columns = {withoutLastColumn: true, columns: ['content_sha256', 'content_length']};
  for await (const {entries} of readEntries(paths, columns))
    for (const {row} of entries)
      if (row.content_sha256 !== null && (row.content_length ?? 0) >= leastShared)
        digests.push(row.content_sha256);
  if (digests.length === 0) return held;
  const db = await openTaskDatabase({...task, inputs: contents}, ctx, database, ['content']);
  try {
    const journalled = await rowsTable(db, 'journalled', {content_sha256: {type: 'text'}});
    await journalled.insert(digests.map((content_sha256) => ({content_sha256})));
    const found = await db.all<{content_sha256: string; segment: string}>(
      `SELECT content_sha256, min(segment) AS segment FROM content
       WHERE content_length >= ${leastShared}
         AND content_sha256 IN (SELECT content_sha256 FROM journalled)
       GROUP BY content_sha256`,
    );
    for (const row of found) held.set(row.content_sha256, row.segment);
    return held;
  } finally {
    await db.close();
  }
}

async function writeHosts(work: FetchWork, segment: string, ctx: TaskContext): Promise<FileRef[]> {
  const states = await ctx.store.create(hoststate, 'hosts/hoststate');
  for (const host of work.hosts)
    if (host.changed)
      await states.write([
        toHostState(host.politeness, {
          hostKey: host.hostKey,
          hostName: host.name,
          segment,
          soft404: host.soft404,
        }),
      ]);
  const files = [await states.close()];
  const rows = await ctx.store.create(robots, 'hosts/robots');
  for (const row of work.robots.changed()) await rows.write([row]);
  files.push(await rows.close());
  return files;
}
