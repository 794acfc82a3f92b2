/**
 * What a table is: declared once, as data. Row type, SQL, Arrow and Parquet schema, and the
 * page of the data dictionary all derive from the declaration.
 *
 * Column types are few on purpose: each has one exact form in TypeScript, DuckDB, Arrow and Parquet.
 */

/** How a column is stored. `count` is a 64-bit integer that is a safe number in TypeScript. */
export type ColumnType =
  | 'text' // string; VARCHAR; UTF-8
  | 'json' // string holding JSON; VARCHAR with Parquet's JSON annotation left out, so that every reader sees text
  | 'bytes' // Uint8Array; BLOB
  | 'boolean' // boolean; BOOLEAN
  | 'int16' // number; SMALLINT
  | 'int32' // number; INTEGER
  | 'count' // number, checked to be a safe integer; BIGINT
  | 'key' // bigint, unsigned 64 bit; UBIGINT
  | 'double' // number; DOUBLE
  | 'timestamp'; // Date, UTC, milliseconds; TIMESTAMPTZ

export interface Column {
  readonly type: ColumnType;
  /** One sentence for the data dictionary. */
  readonly doc: string;
  readonly nullable?: true;
  /** Closed list of values, for text columns. */
  readonly values?: readonly string[];
  readonly unit?: string;
  readonly example?: string;
  /** Whose name or definition this is: `Common Crawl`, `Nutch fetchInterval`, an RFC. */
  readonly source?: string;
  /** Table version that added the column; absent means 1. Later columns are nullable and stand last. */
  readonly since?: number;
}

export interface Table<C extends Readonly<Record<string, Column>> = Readonly<Record<string, Column>>> {
  readonly name: string;
  /** Raised with each added column. Readers accept this and all earlier ones and refuse later ones. */
  readonly version: number;
  readonly doc: string;
  /** Columns by name, in their order in the file. Field ids are positions, from 1. */
  readonly columns: C;
  /** Columns that identify a row; with them every output is in a total order. */
  readonly key: readonly string[];
}

interface TypeScriptTypes {
  text: string;
  json: string;
  bytes: Uint8Array;
  boolean: boolean;
  int16: number;
  int32: number;
  count: number;
  key: bigint;
  double: number;
  timestamp: Date;
}

type Value<C extends Column> = C extends {readonly values: readonly (infer V)[]}
  ? V
  : TypeScriptTypes[C['type']];

/** The TypeScript type of a row: a nullable column is `| null`, a closed list is a union. */
export type Row<T extends Table> = {
  -readonly [K in keyof T['columns']]: T['columns'][K] extends {readonly nullable: true}
    ? Value<T['columns'][K]> | null
    : Value<T['columns'][K]>;
};

/** Declares a table, keeping the literal types that {@link Row} needs. */
export function table<const C extends Readonly<Record<string, Column>>>(
  declaration: Table<C> & {readonly key: readonly (keyof C & string)[]},
): Table<C> {
  return declaration;
}
