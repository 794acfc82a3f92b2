import {
  Binary,
  Bool,
  type Data,
  type DataType,
  Field,
  Float64,
  Int16,
  Int32,
  Int64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Uint64,
  Utf8,
} from 'apache-arrow';
import type {Column, ColumnType, Table} from '../schema/table.ts';
import {tableMetadata} from './table-schema.ts';

/**
 * Rows as batches of an Arrow IPC stream, and back. No dictionaries: types made for each batch lose rows
 * silently (measured 2026-11), so texts are Utf8 and bytes Binary.
 */
const arrowTypes: Readonly<Record<ColumnType, () => DataType>> = {
  text: () => new Utf8(),
  json: () => new Utf8(),
  bytes: () => new Binary(),
  boolean: () => new Bool(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  count: () => new Int64(),
  key: () => new Uint64(),
  double: () => new Float64(),
  timestamp: () => new TimestampMillisecond('UTC'),
};

export function arrowSchema(table: Table): Schema {
  return new Schema(
    Object.entries(table.columns).map(
      ([name, column]) => new Field(name, arrowTypes[column.type](), column.nullable === true),
    ),
    new Map([
      [tableMetadata.table, table.name],
      [tableMetadata.version, `${table.version}`],
    ]),
  );
}

/** Turns lists of values into the bytes of one IPC stream: the first batch brings the schema, `end` the end mark. */
export class BatchEncoder extends RecordBatchStreamWriter {
  readonly #table: Table;
  readonly #arrow: Schema;
  #pieces: Uint8Array[] = [];

  constructor(table: Table) {
    super();
    this.#table = table;
    this.#arrow = arrowSchema(table);
  }

  /** @param columns values, a list a column, in the table's order */
  encode(columns: readonly (readonly unknown[])[], rows: number): Uint8Array {
    const children = Object.values(this.#table.columns).map((column, i) =>
      columnData(column, columns[i]!, rows),
    );
    const data = makeData({type: new Struct(this.#arrow.fields), length: rows, nullCount: 0, children});
    // All batches share one Schema object: a second one would end the stream.
    this.write(new RecordBatch(this.#arrow, data));
    return this.#take();
  }

  end(): Uint8Array {
    this.#pieces.push(new Uint8Array(Int32Array.of(-1, 0).buffer));
    return this.#take();
  }

  #take(): Uint8Array {
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return bytes;
  }

  /** Where all bytes of the stream pass; the queue behind it would hand them over asynchronously. */
  protected override _write(chunk: ArrayBufferView): this {
    const piece = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this._started && piece.byteLength > 0) {
      this.#pieces.push(piece);
      this._position += piece.byteLength;
    }
    return this;
  }
}

function columnData(column: Column, values: readonly unknown[], rows: number): Data {
  const type = arrowTypes[column.type]();
  const shape = {type, length: rows, ...validity(values, rows)};
  switch (column.type) {
    case 'text':
    case 'json':
      return makeData({...shape, ...textsOf(values, rows)} as never); // makeData can't tell which type it is from a variable
    case 'bytes':
      return makeData({...shape, ...bytesOf(values, rows)} as never);
    case 'boolean':
      return makeData({...shape, data: bitmap(values, rows, (value) => value === true)} as never);
    default:
      return makeData({...shape, data: numbers(column.type, values, rows)} as never);
  }
}

/** Which values there are, as bits; none where no value is missing. */
function validity(values: readonly unknown[], rows: number): {nullCount: number; nullBitmap?: Uint8Array} {
  let nullCount = 0;
  for (let i = 0; i < rows; i++) if (values[i] === null) nullCount++;
  return nullCount === 0
    ? {nullCount}
    : {nullCount, nullBitmap: bitmap(values, rows, (value) => value !== null)};
}

function bitmap(values: readonly unknown[], rows: number, isSet: (value: unknown) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let i = 0; i < rows; i++) if (isSet(values[i])) bits[i >> 3]! |= 1 << (i & 7);
  return bits;
}

interface Bytes {
  readonly valueOffsets: Int32Array;
  readonly data: Uint8Array;
}

/** Texts in one go where all of them are ASCII, as nearly all are: a byte is a character then. Else one by one. */
function textsOf(values: readonly unknown[], rows: number): Bytes {
  const valueOffsets = new Int32Array(rows + 1);
  let all = '';
  for (let i = 0; i < rows; i++) {
    const value = values[i];
    if (typeof value === 'string') all += value;
    valueOffsets[i + 1] = all.length;
  }
  const data = Buffer.from(all, 'utf8');
  return data.byteLength === all.length ? {valueOffsets, data} : bytesOf(values, rows);
}

function bytesOf(values: readonly unknown[], rows: number): Bytes {
  const valueOffsets = new Int32Array(rows + 1);
  let length = 0;
  for (let i = 0; i < rows; i++) {
    const value = values[i];
    if (typeof value === 'string') length += Buffer.byteLength(value);
    else if (value instanceof Uint8Array) length += value.byteLength;
    valueOffsets[i + 1] = length;
  }
  const data = Buffer.allocUnsafeSlow(length);
  for (let i = 0; i < rows; i++) {
    const value = values[i];
    if (typeof value === 'string') data.write(value, valueOffsets[i]!);
    else if (value instanceof Uint8Array) data.set(value, valueOffsets[i]!);
  }
  return {valueOffsets, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength)};
}

type NumericType = 'int16' | 'int32' | 'count' | 'key' | 'double' | 'timestamp';

/** Missing values are 0. */
function numbers(type: NumericType, values: readonly unknown[], rows: number): ArrayBufferView {
  switch (type) {
    case 'int16':
      return filled(new Int16Array(rows), values, (value) => value as number);
    case 'int32':
      return filled(new Int32Array(rows), values, (value) => value as number);
    case 'double':
      return filled(new Float64Array(rows), values, (value) => value as number);
    case 'count':
      return filled(new BigInt64Array(rows), values, (value) => BigInt(value as number));
    case 'key':
      return filled(new BigUint64Array(rows), values, (value) => value as bigint);
    case 'timestamp':
      return filled(new BigInt64Array(rows), values, (value) => BigInt((value as Date).getTime()));
  }
}

function filled<V, A extends {[index: number]: V; readonly length: number}>(
  array: A,
  values: readonly unknown[],
  convert: (value: unknown) => V,
): A {
  for (let i = 0; i < array.length; i++) if (values[i] !== null) array[i] = convert(values[i]);
  return array;
}
