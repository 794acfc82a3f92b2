import type {Column, ColumnType, Table} from '../schema/table.ts';

/** DuckDB's name of each column type: see lib/schema/table.ts. */
const duckdbTypes = {
  text: 'VARCHAR',
  json: 'VARCHAR',
  bytes: 'BLOB',
  boolean: 'BOOLEAN',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  count: 'BIGINT',
  key: 'UBIGINT',
  double: 'DOUBLE',
  timestamp: 'TIMESTAMP WITH TIME ZONE',
} as const satisfies Readonly<Record<ColumnType, string>>;

/** The DuckDB type of a column, in the words of DESCRIBE. */
export function duckdbType(column: Pick<Column, 'type'>): string {
  return duckdbTypes[column.type];
}

/** CREATE TABLE for `table`, nullability and all, under its own or another name. */
export function tableDdl(table: Table, name: string = table.name): string {
  const columns = Object.entries(table.columns).map(
    ([column, facts]) => `  ${sqlName(column)} ${duckdbType(facts)}${facts.nullable ? '' : ' NOT NULL'}`,
  );
  return `CREATE TABLE ${sqlName(name)} (\n${columns.join(',\n')}\n)`;
}

/** A query of no rows with the columns and types of `table`. */
export function emptySelect(table: Table): string {
  const columns = Object.entries(table.columns).map(
    ([column, facts]) => `CAST(NULL AS ${duckdbType(facts)}) AS ${sqlName(column)}`,
  );
  return `SELECT ${columns.join(', ')} WHERE false`;
}

/** A text as an SQL literal: for the places that take no parameter, as file names in COPY and views. */
export function sqlString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as a quoted SQL identifier. */
export function sqlName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
