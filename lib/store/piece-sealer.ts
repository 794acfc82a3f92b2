import {join} from 'node:path';
import {type ContentRow, content} from '../schema/content.ts';
import type {Table} from '../schema/table.ts';
import {DigestSet} from './digest-set.ts';
import {journalNumber} from './journal.ts';
import {type JournalPiece, journalPieces, pieceFileName, publishPiece} from './journal-pieces.ts';
import {contentRow, sealFiles} from './journal-seal.ts';
import type {FileRef} from './manifest-types.ts';
import {createTableFile} from './parquet.ts';
import {readTable} from './parquet-read.ts';
import type {TableFile} from './store.ts';

/**
 * Turns files of a fetch's journal into pieces, one after another, while the fetch goes on. Payloads are stored once
 * over all pieces. Knows files alone, no database, so that it can run in a thread (`seal-thread.ts`). Memory: one batch,
 * one row group of each table, and 64 to 96 bytes a stored payload.
 */
export class PieceSealer {
  readonly #folder: string;
  readonly #segment: string;
  readonly #stored = new DigestSet();

  private constructor(folder: string, segment: string) {
    this.#folder = folder;
    this.#segment = segment;
  }

  /** Takes up what earlier processes have sealed. @param folder of the journal */
  static async open(folder: string, segment: string): Promise<PieceSealer> {
    const sealer = new PieceSealer(folder, segment);
    for (const {files} of await journalPieces(folder))
      for (const file of files)
        if (file.table === content.name)
          for await (const rows of readTable(content, join(folder, file.key), {columns: ['content_sha256']}))
            for (const {content_sha256} of rows) sealer.#stored.add(content_sha256);
    return sealer;
  }

  /**
   * Makes a piece of a journal file.
   *
   * @param held segments that hold payloads of it already, by SHA-256
   */
  async seal(path: string, held: ReadonlyMap<string, string>): Promise<JournalPiece> {
    const number = journalNumber(path);
    let files = 0;
    const create = async <T extends Table>(table: T, name = table.name): Promise<TableFile<T>> => {
      const key = pieceFileName(number, name, files++);
      return createTableFile(table, join(this.#folder, key), {key});
    };
    const robots = new Map<string, ContentRow>();
    const sealed = await sealFiles([path], {
      segment: this.#segment,
      stored: this.#stored,
      alreadyStored: (sha256) => held.get(sha256),
      create: (table) => create(table),
      onEntry: ({row, payload}) => {
        if ((row.kind !== 'robots' && row.kind !== 'probe') || payload === null) return;
        const kept = contentRow(this.#segment, row, payload);
        if (kept !== null) robots.set(kept.content_sha256, {...kept, payload: Uint8Array.from(payload)});
      },
    });
    const piece: JournalPiece = {
      number,
      files: [...sealed.fetch, ...sealed.content],
      robots:
        robots.size === 0 ? null : await writeRows(await create(content, 'robots'), [...robots.values()]),
      stored: sealed.stored,
      shared: sealed.shared,
      savedBytes: sealed.savedBytes,
      lost: sealed.lost,
    };
    await publishPiece(this.#folder, piece);
    return piece;
  }
}

async function writeRows(file: TableFile<typeof content>, rows: readonly ContentRow[]): Promise<FileRef> {
  await file.write(rows);
  return file.close();
}
