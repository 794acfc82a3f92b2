import type {SchemaElement} from 'hyparquet';
import type {SchemaElement as WrittenElement} from 'hyparquet-writer';
import type {Column, ColumnType, Table} from '../schema/table.ts';

/**
 * The Parquet schema of a table. One physical form a column type:
 *
 * - keys are annotated with the converted type alone: DuckDB refuses files in which hyparquet-writer has
 *   written the logical type INTEGER (measured 2026-11);
 * - times are milliseconds adjusted to UTC; DuckDB's own files have microseconds, and readers take both;
 * - JSON is plain UTF-8 text, so that every reader sees text.
 */
const elements = {
  text: {type: 'BYTE_ARRAY', converted_type: 'UTF8'},
  json: {type: 'BYTE_ARRAY', converted_type: 'UTF8'},
  bytes: {type: 'BYTE_ARRAY'},
  boolean: {type: 'BOOLEAN'},
  int16: {type: 'INT32', converted_type: 'INT_16'},
  int32: {type: 'INT32', converted_type: 'INT_32'},
  count: {type: 'INT64', converted_type: 'INT_64'},
  key: {type: 'INT64', converted_type: 'UINT_64'},
  double: {type: 'DOUBLE'},
  timestamp: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: {type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS'},
  },
} as const satisfies Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>>;

/** Names of the footer's key-value metadata by which a file says what it is. */
export const tableMetadata = {table: 'crawl_table', version: 'crawl_version'} as const;

/** The schema that our own writer gives to files of `table`. Field ids are positions, from 1. */
export function parquetSchema(table: Table): WrittenElement[] {
  const columns = Object.entries(table.columns);
  return [
    {name: 'schema', num_children: columns.length},
    ...columns.map(([name, column], at) => ({
      name,
      field_id: at + 1,
      repetition_type: column.nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      ...elements[column.type],
    })),
  ];
}

/** Whether a file's column is stored in a form that a declared column is read from. */
export function fitsColumn(element: SchemaElement, column: Column): boolean {
  const expected: Omit<SchemaElement, 'name'> = elements[column.type];
  if (element.type !== expected.type || element.repetition_type === 'REPEATED') return false;
  const converted = element.converted_type;
  switch (column.type) {
    case 'timestamp':
      return (
        (converted === 'TIMESTAMP_MILLIS' || converted === 'TIMESTAMP_MICROS') &&
        element.logical_type?.type === 'TIMESTAMP' &&
        element.logical_type.isAdjustedToUTC
      );
    case 'int32':
    case 'count':
      return converted === undefined || converted === expected.converted_type;
    default:
      return converted === expected.converted_type;
  }
}
