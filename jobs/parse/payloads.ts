import {content} from '../../lib/schema/content.ts';
import {TableReader} from '../../lib/store/parquet-read.ts';

/** Payloads read at a time, in bytes. Chosen: a few of the file's pages of 1 MiB. */
const readBytes = 2 * 2 ** 20;
/** Rows that nobody wants between two that are read together, at most. */
const maxGap = 8;
/** Row groups to begin before the place where captures say that their payloads are: those of repeats are elsewhere. */
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
 * for next lies near the group that gave most of the last answer: looking begins there and goes once around, until all
 * is found. For captures with payloads of their own that costs the same for every page however long the segment is; for
 * one that repeats the payload of a distant one, digests of all groups on the way are read, once for each question.
 * Memory: the digests of a group and some {@link readBytes} of payloads.
 */
export class PayloadGroups {
  readonly #groups: readonly Group[];
  #next = 0;
  #looked = 0;
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

  /** Row groups that were looked through so far: what a question costs beside the payloads themselves. */
  get looked(): number {
    return this.#looked;
  }

  /**
   * @param share of the segment's captures that lie before the first that will be asked for, 0 to 1
   * @param own files of the segment itself, which lie as its captures do; the others hold what it refers to
   */
  startAt(share: number, own: ReadonlySet<string>): void {
    const first = this.#groups.findIndex(({path}) => own.has(path));
    if (first === -1) return;
    const groups = this.#groups.filter(({path}) => own.has(path));
    const before = share * groups.reduce((sum, {rows}) => sum + rows, 0);
    let at = 0;
    for (let passed = groups[0]!.rows; passed <= before && at < groups.length - 1; at++)
      passed += groups[at + 1]!.rows;
    this.#next = first + Math.max(0, at - backSteps);
  }

  /** Payloads of these digests, each once, until there are no more or `wanted` has become empty. */
  async *read(wanted: Wanted): AsyncGenerator<Payload> {
    const first = this.#next;
    let most = 1;
    try {
      for (let step = 0; step < this.#groups.length && wanted.size > 0; step++) {
        const at = (first + step) % this.#groups.length;
        let found = 0;
        for await (const payload of this.#readGroup(this.#groups[at]!, wanted)) {
          found++;
          yield payload;
        }
        // Not where a repeated payload lay; of equals the last, whose rest belongs to those who ask next.
        if (found >= most) {
          most = found;
          this.#next = at;
        }
      }
    } finally {
      this.#close();
    }
  }

  async *#readGroup({path, index}: Group, wanted: Wanted): AsyncGenerator<Payload> {
    const reader = await this.#reader(path);
    this.#looked++;
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
