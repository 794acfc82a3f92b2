import {stat} from 'node:fs/promises';
import {join} from 'node:path';
import {toHostState} from '../../lib/fetcher/delay.ts';
import type {FetchWork} from '../../lib/fetcher/work.ts';
import {content} from '../../lib/schema/content.ts';
import {hoststate, robots} from '../../lib/schema/hostdb.ts';
import {journalFiles} from '../../lib/store/journal.ts';
import {journalPieces, tidyPieces} from '../../lib/store/journal-pieces.ts';
import {payloadDigests, sealFiles} from '../../lib/store/journal-seal.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {SealThread} from '../../lib/store/sealing.ts';
import {databaseParams, openTaskDatabase, rowsTable} from '../crawldb/writer.ts';
import type {Task, TaskContext} from '../job.ts';
import type {FetchParams} from './task.ts';

/** Smaller payloads are stored anew: a reference to another segment costs more than they do. DESIGN: 1 KiB. */
const leastShared = 1024;
/** Chosen: some milliseconds of work. */
const insertedAtOnce = 2000;

export interface SealedFetch {
  readonly files: readonly FileRef[];
  readonly stored: number;
  readonly shared: number;
  readonly savedBytes: number;
  readonly lost: number;
}

/**
 * Chosen: a journal up to this size is sealed here, in 0.2 s or less, in which requests of other partitions wait for at
 * most a row group; to start a thread for it would take as long.
 */
const threadBytes = 32 * 2 ** 20;

/**
 * Turns the journal of a fetch into the tables fetch and content. Files of the journal that are full are sealed while
 * the fetch goes on, one at a time, into pieces beside it, in a thread of its own; the rest, and the states of hosts,
 * when all is done. So neither the journal's size, nor the time and memory of the last step, grow with the length of
 * the fetch, and no request waits for either.
 */
export class FetchSealer {
  readonly #folder: string;
  readonly #task: Task;
  readonly #params: FetchParams;
  readonly #ctx: TaskContext;
  #hasPieces: boolean;
  #thread: SealThread | undefined;
  #running: Promise<void> = Promise.resolve();
  #failure: {readonly error: unknown} | undefined;

  private constructor(folder: string, task: Task, params: FetchParams, ctx: TaskContext, hasPieces: boolean) {
    this.#folder = folder;
    this.#task = task;
    this.#params = params;
    this.#ctx = ctx;
    this.#hasPieces = hasPieces;
  }

  /** Takes up what earlier processes have sealed. To be closed. */
  static async open(folder: string, task: Task, params: FetchParams, ctx: TaskContext): Promise<FetchSealer> {
    await tidyPieces(folder);
    return new FetchSealer(folder, task, params, ctx, (await journalPieces(folder)).length > 0);
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

  async close(): Promise<void> {
    await this.idle();
    await this.#thread?.close();
    this.#thread = undefined;
  }

  /** All outcomes are in the journal: seals the rest. */
  async finish(work: FetchWork): Promise<SealedFetch> {
    await this.idle();
    this.check();
    const sealed = (await this.#wantsThread()) ? await this.#finishPieces() : await this.#sealAtOnce();
    const hosts = await writeHosts(work, this.#params.segment, this.#ctx);
    return {...sealed, files: [...sealed.files, ...hosts]};
  }

  /** Whatever is left becomes pieces as well, and the files of all pieces those of the segment. */
  async #finishPieces(): Promise<SealedFetch> {
    for (const path of await journalFiles(this.#folder)) await this.#sealPiece(path);
    const pieces = await this.#sealing().ask({type: 'mark'});
    const files: FileRef[] = [];
    for (const file of pieces.flatMap((piece) => piece.files))
      files.push(await this.#ctx.store.adopt(file, join(this.#folder, file.key), this.#place(file.table)));
    const total = (name: 'stored' | 'shared' | 'savedBytes' | 'lost') =>
      pieces.reduce((sum, piece) => sum + piece[name], 0);
    return {
      files,
      stored: total('stored'),
      shared: total('shared'),
      savedBytes: total('savedBytes'),
      lost: total('lost'),
    };
  }

  async #sealAtOnce(): Promise<SealedFetch> {
    const paths = await journalFiles(this.#folder);
    const held = await this.#held(await this.#wanted(() => payloadDigests(paths, leastShared)));
    const {fetch, content, ...counts} = await sealFiles(paths, {
      segment: this.#params.segment,
      alreadyStored: (sha256) => held.get(sha256),
      create: (table) => this.#ctx.store.create(table, this.#place(table.name)),
    });
    return {...counts, files: [...fetch, ...content]};
  }

  async #sealPiece(path: string): Promise<void> {
    const thread = this.#sealing();
    const digests = await this.#wanted(() => thread.ask({type: 'digests', path, leastBytes: leastShared}));
    const {number} = await thread.ask({type: 'seal', path, held: await this.#held(digests)});
    this.#hasPieces = true;
    this.#ctx.log('debug', 'journal_piece_sealed', {segment: this.#params.segment, number});
  }

  async #wantsThread(): Promise<boolean> {
    if (this.#hasPieces) return true;
    if (this.#params.partitions === 1) return false;
    const sizes = await Promise.all(
      (await journalFiles(this.#folder)).map(async (path) => (await stat(path)).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0) > threadBytes;
  }

  #sealing(): SealThread {
    this.#thread ??= new SealThread(this.#folder, this.#params.segment);
    return this.#thread;
  }

  #place(table: string): string {
    return `segments/${this.#params.segment}/${table}`;
  }

  /** Files of payloads that other segments hold, if they are to be referred to. */
  get #contents(): readonly FileRef[] {
    if (!this.#params.config.storage.dedup) return [];
    return this.#task.inputs.filter(({table, rows}) => table === content.name && rows > 0);
  }

  /** Digests to look for; none where there is nothing to look in. */
  async #wanted(read: () => Promise<readonly string[]>): Promise<readonly string[]> {
    return this.#contents.length === 0 ? [] : read();
  }

  /** Segments that hold payloads of these digests already, by digest. */
  async #held(digests: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const held = new Map<string, string>();
    if (digests.length === 0) return held;
    const task = {...this.#task, inputs: this.#contents};
    const db = await openTaskDatabase(task, this.#ctx, databaseParams(this.#params.config), ['content']);
    try {
      const journalled = await rowsTable(db, 'journalled', {content_sha256: {type: 'text'}});
      for (let from = 0; from < digests.length; from += insertedAtOnce) {
        const some = digests.slice(from, from + insertedAtOnce);
        await journalled.insert(some.map((content_sha256) => ({content_sha256})));
        await new Promise(setImmediate); // requests of this fetch come first
      }
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
