import type {Column, ColumnType} from '../schema/table.ts';

/**
 * Rows on their way from TypeScript into a table of a DuckDB task, as one JSON parameter a batch. The columns are
 * those of a table's declaration, so each value arrives in its declared type: keys as text, bytes as hex,
 * times as ISO 8601.
 */
const jsonTypes: Readonly<Record<ColumnType, string>> = {
  text: 'VARCHAR',
  json: 'VARCHAR',
  bytes: 'VARCHAR',
  boolean: 'BOOLEAN',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  count: 'BIGINT',
  key: 'UBIGINT',
  double: 'DOUBLE',
  timestamp: 'TIMESTAMPTZ',
};

export type Columns = Readonly<Record<string, Pick<Column, 'type'>>>;

/** A query for the rows of the parameter `$rows`. */
export function rowsQuery(columns: Columns): string {
  const names = Object.entries(columns);
  const shape = Object.fromEntries(names.map(([name, {type}]) => [name, jsonTypes[type]]));
  const select = names.map(([name, {type}]) =>
    type === 'bytes' ? `unhex("${name}") AS "${name}"` : `"${name}"`,
  );
  return `SELECT ${select.join(', ')} FROM (SELECT unnest(from_json($rows::JSON, '[${JSON.stringify(shape)}]'), recursive := true))`;
}

/** A statement that makes an empty table with these columns. */
export function createSql(target: string, columns: Columns): string {
  const list = Object.entries(columns).map(
    ([name, {type}]) => `"${name}" ${type === 'bytes' ? 'BLOB' : jsonTypes[type]}`,
  );
  return `CREATE TABLE "${target}" (${list.join(', ')})`;
}

/** The value of `$rows`. NUL characters, which JSON text in DuckDB cannot hold, become U+FFFD. */
export function rowsJson(columns: Columns, rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = Object.keys(columns);
  return JSON.stringify(rows.map((row) => Object.fromEntries(names.map((name) => [name, plain(row[name])]))));
}

/** NUL, and surrogates without their other half. */
const unfit = /\0|\p{Surrogate}/gu;

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'string') return value.replace(unfit, '\ufffd');
  return value ?? null; // a Date is written by its own toJSON
}
