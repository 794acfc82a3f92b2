import {content} from '../../lib/schema/content.ts';
import {TableReader} from '../../lib/store/parquet-read.ts';

/** Payloads read at a time, in bytes. Chosen: a few of the file's pages of 1 MiB. */
const readBytes = 2 * 2 ** 20;
/** Rows that nobody wants between two that are read together, at most. */
const maxGap = 8;
/** Row groups to begin before the place where captures say that their payloads are: those of copies are elsewhere. */
const backSteps = 2;

interface Group {
  readonly path: string;
  readonly index: number;
  readonly rows: number;
}

/** What is asked for of a payload: how long it is. */
type Wanted = ReadonlyMap<string, readonly {readonly content_length: number | null}[]>;

interface Payload {
  readonly content_sha256: string;
  readonly payload: Uint8Array;
}

/**
 * The payloads of a segment, row group by row group. Captures and payloads lie in the order of arrival, so what is asked
 * for next lies where the last answer ended: looking begins there and goes once around, which costs the same for every
 * page however long the segment is. Memory: the digests of a group and some {@link readBytes} of payloads.
 */
export class PayloadGroups {
  readonly #groups: readonly Group[];
  #next = 0;
  #open: {readonly path: string; readonly reader: TableReader<typeof content>} | undefined;

  private constructor(groups: readonly Group[]) {
    this.#groups = groups;
  }

  static async open(paths: readonly string[]): Promise<PayloadGroups> {
    const groups: Group[] = [];
    for (const path of paths) {
      const reader = await TableReader.open(content, path);
      reader.close();
      groups.push(...reader.groups.map(({index, rows}) => ({path, index, rows})));
    }
    return new PayloadGroups(groups);
  }

  /** @param share of all rows that lie before the first that will be asked for, 0 to 1 */
  startAt(share: number): void {
    const before = share * this.#groups.reduce((sum, {rows}) => sum + rows, 0);
    let at = 0;
    for (let passed = 0; at < this.#groups.length; at++) {
      passed += this.#groups[at]!.rows;
      if (passed > before) break;
    }
    this.#next = Math.max(0, Math.min(at, this.#groups.length - 1) - backSteps);
  }

  /** Payloads of these digests, each once, until there are no more or `wanted` has become empty. */
  async *read(wanted: Wanted): AsyncGenerator<Payload> {
    const first = this.#next;
    try {
      for (let step = 0; step < this.#groups.length && wanted.size > 0; step++) {
        const at = (first + step) % this.#groups.length;
        let found = false;
        for await (const payload of this.#readGroup(this.#groups[at]!, wanted)) {
          found = true;
          yield payload;
        }
        if (found) this.#next = at; // the rest of this group belongs to those who ask next
      }
    } finally {
      this.#close();
    }
  }

  async *#readGroup({path, index}: Group, wanted: Wanted): AsyncGenerator<Payload> {
    const reader = await this.#reader(path);
    const digests = await reader.rows(index, {columns: ['content_sha256']});
    const columns = ['content_sha256', 'payload'] as const;
    for (const [from, to] of payloadRanges(digests, wanted))
      for (const row of await reader.rows(index, {columns, from, to}))
        if (wanted.has(row.content_sha256)) yield row;
  }

  async #reader(path: string): Promise<TableReader<typeof content>> {
    if (this.#open?.path === path) return this.#open.reader;
    this.#close();
    this.#open = {path, reader: await TableReader.open(content, path)};
    return this.#open.reader;
  }

  #close(): void {
    this.#open?.reader.close();
    this.#open = undefined;
  }
}

/** Ranges of rows that hold wanted payloads, each of some {@link readBytes}, in order. */
function* payloadRanges(
  digests: readonly {readonly content_sha256: string}[],
  wanted: Wanted,
): Generator<readonly [from: number, to: number]> {
  let from = -1;
  let last = -1;
  let bytes = 0;
  for (const [index, {content_sha256}] of digests.entries()) {
    const captures = wanted.get(content_sha256);
    if (captures === undefined) continue;
    if (from !== -1 && (bytes >= readBytes || index - last > maxGap)) {
      yield [from, last + 1];
      from = -1;
    }
    if (from === -1) {
      from = index;
      bytes = 0;
    }
    last = index;
    bytes += captures[0]?.content_length ?? 0;
  }
  if (from !== -1) yield [from, last + 1];
}
