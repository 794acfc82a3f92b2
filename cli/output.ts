import Table from 'cli-table3';
import picocolors from 'picocolors';
import {visible} from './words.ts';

/** Thrown by {@link Output.write} once the reader of a pipe has gone: no error, there is just nobody to write for. */
export class PipeClosed extends Error {}

/** stdout or stderr with back-pressure and quiet ends. */
export class Output {
  readonly isTerminal: boolean;
  /** Functions that colour text, or leave it where colour is not wanted. */
  readonly colours: ReturnType<typeof picocolors.createColors>;
  readonly #stream: NodeJS.WritableStream;
  /** What any further write fails with. */
  #ended: Error | undefined;

  constructor(
    stream: NodeJS.WritableStream & {readonly isTTY?: boolean},
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#stream = stream;
    this.isTerminal = stream.isTTY === true;
    // https://no-color.org: any value but the empty one means no colour
    this.colours = picocolors.createColors(this.isTerminal && !env.NO_COLOR && env.TERM !== 'dumb');
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const gone = error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED';
      this.#ended ??= gone ? new PipeClosed('nobody reads the output any more') : error;
      stream.emit('drain'); // wakes a write that waits
    });
  }

  /** Writes and waits until the stream wants more. Throws {@link PipeClosed}, or what the system says of a full disk. */
  async write(data: string | Uint8Array): Promise<void> {
    if (this.#ended) throw this.#ended;
    if (!this.#stream.write(data)) await new Promise((resolve) => this.#stream.once('drain', resolve));
    if (this.#ended) throw this.#ended;
  }

  async line(text: string): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** Writes without waiting, and without an error where nobody reads: for messages. */
  tell(text: string): void {
    if (!this.#ended) this.#stream.write(text);
  }

  /** Resolves when all is handed to the system. Throws what {@link write} would, but for a closed pipe. */
  async flush(): Promise<void> {
    if (this.#ended === undefined)
      await new Promise<void>((resolve) => this.#stream.write('', () => resolve()));
    if (this.#ended !== undefined && !(this.#ended instanceof PipeClosed)) throw this.#ended;
  }
}

export const rowFormats = ['table', 'json', 'jsonl', 'csv'] as const;
export type RowFormat = (typeof rowFormats)[number];
export type OutputRow = Readonly<Record<string, unknown>>;

const tableRows = 1000; // chosen: rows whose widths are looked at together; a longer table gets its header again

/** Writes rows as they come. A table of nothing is its header alone; JSON is one array, `jsonl` one object a line. */
export async function writeRows(
  out: Pick<Output, 'write' | 'colours'>,
  format: RowFormat,
  columns: readonly string[],
  batches: AsyncIterable<readonly OutputRow[]> | Iterable<readonly OutputRow[]>,
): Promise<number> {
  let rows = 0;
  let waiting: OutputRow[] = [];
  if (format === 'csv') await out.write(`${columns.map(csvCell).join(',')}\n`);
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    if (format === 'table') {
      waiting.push(...batch);
      while (waiting.length >= tableRows) {
        await out.write(tableText(out.colours, columns, waiting.slice(0, tableRows)));
        waiting = waiting.slice(tableRows);
      }
    } else if (format === 'csv') {
      await out.write(
        batch.map((row) => `${columns.map((name) => csvCell(row[name])).join(',')}\n`).join(''),
      );
    } else {
      const lines = batch.map((row) => JSON.stringify(jsonRow(columns, row)));
      if (format === 'jsonl') await out.write(`${lines.join('\n')}\n`);
      else await out.write(`${rows === 0 ? '[\n' : ',\n'}${lines.join(',\n')}`);
    }
    rows += batch.length;
  }
  if (format === 'table' && (waiting.length > 0 || rows === 0))
    await out.write(tableText(out.colours, columns, waiting));
  if (format === 'json') await out.write(rows === 0 ? '[]\n' : '\n]\n');
  return rows;
}

/** Columns without lines around them; numbers to the right. */
export function tableText(
  colours: Output['colours'],
  columns: readonly string[],
  rows: readonly OutputRow[],
): string {
  const numeric = columns.map((name) => rows.length > 0 && rows.every(({[name]: value}) => isNumeric(value)));
  const table = new Table({
    head: columns.map((name) => colours.bold(visible(name))),
    chars: Object.fromEntries(
      [
        'top',
        'top-mid',
        'top-left',
        'top-right',
        'bottom',
        'bottom-mid',
        'bottom-left',
        'bottom-right',
        'left',
        'left-mid',
        'mid',
        'mid-mid',
        'right',
        'right-mid',
      ]
        .map((name) => [name, ''])
        .concat([['middle', '  ']]),
    ),
    style: {'padding-left': 0, 'padding-right': 0, head: [], border: []},
    colAligns: numeric.map((is) => (is ? 'right' : 'left')),
  });
  for (const row of rows) table.push(columns.map((name) => tableCell(row[name])));
  return `${table.toString().replaceAll(/ +$/gm, '')}\n`;
}

function isNumeric(value: unknown): boolean {
  return value === null || value === undefined || typeof value === 'number' || typeof value === 'bigint';
}

function tableCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Uint8Array) {
    const hex = Buffer.from(value.subarray(0, 20)).toString('hex');
    return value.length > 20 ? `${hex}… (${value.length} bytes)` : hex;
  }
  return visible(plainText(value));
}

/** RFC 4180; null is nothing, an empty text is `""`; bytes in base64. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = plainText(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'object') {
    const data = jsonValue(value);
    return typeof data === 'string' ? data : JSON.stringify(data);
  }
  return String(value);
}

function jsonRow(columns: readonly string[], row: OutputRow): Record<string, unknown> {
  return Object.fromEntries(columns.map((name) => [name, jsonValue(row[name] ?? null)]));
}

/**
 * A value as JSON can hold it: times in ISO 8601 UTC, bytes in base64, and 64-bit keys as text, since JSON's
 * readers cut numbers above 2^53.
 */
export function jsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return value.map(jsonValue);
  if (value instanceof Map)
    return [...value].map(([key, item]) => ({key: jsonValue(key), value: jsonValue(item)}));
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, jsonValue(item)]));
  return value;
}
