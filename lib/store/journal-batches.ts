import {type FileHandle, open} from 'node:fs/promises';
import {
  Message,
  type RecordBatch,
  RecordBatchReader,
  type RecordBatchStreamReader,
  type Schema,
  type Vector,
} from 'apache-arrow';
import {CrawlError} from '../errors.ts';
import type {Column, ColumnType, Table} from '../schema/table.ts';
import {fileError} from './table-io.ts';
import {tableMetadata} from './table-schema.ts';

/**
 * Reading Arrow IPC stream files that a crash may have cut. The heads of the messages are looked through first, so
 * that it is known which batch is the last whole one, and what lies where; then each batch is read by itself.
 */

/** A batch of a stream file. */
export interface ReadBatch {
  readonly rows: number;
  /** Last whole batch of its file: the one that a crash may have left half written. */
  readonly last: boolean;
  /** Values of a row by column. Columns unknown to the file are null. Bytes are views. Throws where the batch is garbage. */
  row(index: number): Record<string, unknown>;
}

export interface ReadBatchesOptions {
  /**
   * Leaves the table's last column, the payload, on the disk, and out of the rows. Batches that may be half
   * written are read whole.
   */
  readonly withoutLastColumn?: boolean;
  /** Only these columns are in the rows; batches that may be half written have all. */
  readonly columns?: readonly string[];
}

/** All whole batches of a stream file; ends in silence where the file is torn. */
export async function* readBatches(
  table: Table,
  path: string,
  options: ReadBatchesOptions = {},
): AsyncGenerator<ReadBatch> {
  const handle = await openForReading(path);
  try {
    const {schema, batches} = await scan(handle);
    if (schema === undefined) return;
    checkVersion(table, schema, path);
    for (const place of batches) {
      const last = place === batches.at(-1);
      const short = options.withoutLastColumn === true && !last;
      const all = Object.keys(table.columns);
      const names = last ? all : (options.columns ?? (short ? all.slice(0, -1) : all));
      const batch = await readBatchAt(handle, schema, place, short);
      yield {rows: place.rows, last, row: rowReader(table, names, batch)};
    }
  } catch (error) {
    throw fileError(error, path);
  } finally {
    await handle.close();
  }
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw fileError(error, path);
  }
}

/** Where a message lies: its head (prefix and metadata) at `at`, its body behind that. */
interface Place {
  readonly at: number;
  readonly headBytes: number;
  readonly bodyBytes: number;
  /** Bytes of the body before the values of the last column, which are its last buffer. */
  readonly shortBytes: number;
  readonly rows: number;
  readonly isSchema: boolean;
}

interface Scan {
  /** Bytes of the schema's message, with which each batch is read. */
  readonly schema: Uint8Array | undefined;
  readonly batches: readonly Place[];
}

/** Prefix of a message: the mark of continuation, and the length of the metadata. */
const prefixBytes = 8;
/** Chosen: a schema or batch of a table takes some kilobytes; what says more is garbage. */
const maxHeadBytes = 2 ** 20;

/** Finds the whole messages of a file by their heads alone. */
async function scan(handle: FileHandle): Promise<Scan> {
  const {size} = await handle.stat();
  let schema: Uint8Array | undefined;
  const batches: Place[] = [];
  for (let at = 0; at + prefixBytes <= size; ) {
    const prefix = await readAt(handle, at, prefixBytes);
    const view = new DataView(prefix.buffer);
    const headBytes = prefixBytes + view.getInt32(4, true);
    if (view.getInt32(0, true) !== -1 || headBytes <= prefixBytes || headBytes > maxHeadBytes) break;
    if (at + headBytes > size) break;
    const head = await readAt(handle, at, headBytes);
    const place = messagePlace(head, at);
    if (place === undefined || at + headBytes + place.bodyBytes > size) break;
    if (place.isSchema !== (schema === undefined)) break;
    if (place.isSchema) schema = head;
    else batches.push(place);
    at += headBytes + place.bodyBytes;
  }
  return {schema, batches};
}

/** What a head says of its message; undefined where it is garbage. */
function messagePlace(head: Uint8Array, at: number): Place | undefined {
  try {
    const message = Message.decode(head.subarray(prefixBytes));
    const place = {at, headBytes: head.byteLength, bodyBytes: message.bodyLength};
    if (message.isSchema()) return {...place, shortBytes: 0, rows: 0, isSchema: true};
    if (!message.isRecordBatch()) return undefined;
    const header = message.header();
    const shortBytes = header.buffers.at(-1)?.offset ?? 0;
    const fits = place.bodyBytes >= 0 && shortBytes >= 0 && shortBytes <= place.bodyBytes;
    return fits && header.length >= 0
      ? {...place, shortBytes, rows: header.length, isSchema: false}
      : undefined;
  } catch {
    return undefined;
  }
}

/** The batch at a place; null where its body cannot be one. */
async function readBatchAt(
  handle: FileHandle,
  schema: Uint8Array,
  place: Place,
  short: boolean,
): Promise<RecordBatch | null> {
  const head = await readAt(handle, place.at, place.headBytes);
  const bodyBytes = short ? place.shortBytes : place.bodyBytes;
  // Zeros stand for what is not read: never touched, so they take no memory either.
  const body = await readAt(handle, place.at + place.headBytes, bodyBytes, place.bodyBytes);
  try {
    const reader = RecordBatchReader.from([schema, head, body]) as RecordBatchStreamReader;
    return reader.next().value ?? null;
  } catch {
    return null;
  }
}

/** `bytes` bytes of the file, at the front of a buffer of `capacity`. */
async function readAt(
  handle: FileHandle,
  at: number,
  bytes: number,
  capacity: number = bytes,
): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new Uint8Array(capacity);
  let done = 0;
  while (done < bytes) {
    const {bytesRead} = await handle.read(buffer, done, bytes - done, at + done);
    if (bytesRead === 0) throw new CrawlError('FILE_DAMAGED', 'a journal became shorter while it was read');
    done += bytesRead;
  }
  return buffer;
}

function checkVersion(table: Table, schema: Uint8Array, path: string): void {
  const message = Message.decode(schema.subarray(prefixBytes));
  const version = Number((message.header() as Schema).metadata.get(tableMetadata.version) ?? 1); // scan saw to it
  if (version > table.version)
    throw new CrawlError(
      'VERSION_NEWER',
      `${path} has version ${version} of the table ${table.name}; this program knows version ${table.version}`,
      {facts: {path, table: table.name, version, known: table.version}},
    );
}

function rowReader(
  table: Table,
  names: readonly string[],
  batch: RecordBatch | null,
): (index: number) => Record<string, unknown> {
  const columns = names.map((name) => ({
    name,
    value: columnReader(table.columns[name]!, batch?.getChild(name) ?? null),
  }));
  return (index) => {
    if (batch === null) throw new CrawlError('FILE_DAMAGED', 'a batch of a journal is half written');
    const row: Record<string, unknown> = {};
    for (const {name, value} of columns) row[name] = value(index);
    return row;
  };
}

/**
 * Reads values straight from a column's buffers: Arrow's own access goes through a visitor a value, and its
 * reading of texts drops a leading U+FEFF.
 */
function columnReader(column: Column, vector: Vector | null): (index: number) => unknown {
  if (vector === null) return () => null;
  const data = vector.data[0]!; // a batch has one piece of each column
  const value = valueReader(column.type, vector);
  return data.nullCount === 0 ? value : (index) => (data.getValid(index) ? value(index) : null);
}

function valueReader(type: ColumnType, vector: Vector): (index: number) => unknown {
  const {values, valueOffsets: offsets} = vector.data[0]!;
  switch (type) {
    case 'text':
    case 'json': {
      const bytes = values as Uint8Array;
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return (index) => text.toString('utf8', offsets[index], offsets[index + 1]);
    }
    case 'bytes':
      return (index) => (values as Uint8Array).subarray(offsets[index], offsets[index + 1]);
    case 'boolean':
      return (index) => vector.get(index);
    case 'count':
      return (index) => Number((values as BigInt64Array)[index]);
    case 'timestamp':
      return (index) => new Date(Number((values as BigInt64Array)[index]));
    case 'int16':
    case 'int32':
    case 'double':
    case 'key':
      return (index) => (values as Float64Array | BigUint64Array)[index];
  }
}
