import {CrawlError} from '../errors.ts';
import type {Table} from '../schema/table.ts';
import type {FileRef} from './manifest-types.ts';
import {duckdbType, sqlName, sqlString} from './sql-types.ts';
import {tableMetadata} from './table-schema.ts';

/** How rows of a query are written as a file of a table: the text of COPY. Pure. */

export interface CopyOptions {
  /** Rows of a row group; DuckDB's 122,880 if absent. */
  readonly rowGroupRows?: number;
  /** Kept with the file. */
  readonly facts?: FileRef['facts'];
}

/** The select list that brings a query's columns to the table's types and order. */
export function castColumns(table: Table, found: readonly {name: string; type: string}[]): string {
  const types = new Map(found.map(({name, type}) => [name, type]));
  const missing = Object.keys(table.columns).filter((name) => !types.has(name));
  const extra = found.filter(({name}) => table.columns[name] === undefined).map(({name}) => name);
  if (missing.length > 0 || extra.length > 0 || types.size !== found.length)
    throw new CrawlError(
      'INTERNAL',
      `the query for ${table.name} does not fit the table: missing [${missing.join(', ')}], extra [${extra.join(', ')}]${types.size === found.length ? '' : ', a name twice'}`,
    );
  return Object.entries(table.columns)
    .map(([name, column]) => {
      const type = duckdbType(column);
      const value = types.get(name) === type ? sqlName(name) : `CAST(${sqlName(name)} AS ${type})`;
      return `${column.type === 'timestamp' ? wholeMilliseconds(value) : value} AS ${sqlName(name)}`;
    })
    .join(', ');
}

/** A time cut to milliseconds, also before 1970, as a Date is. `date_trunc` takes 30 times longer (measured 2026-11). */
function wholeMilliseconds(value: string): string {
  const micros = `epoch_us(${value})`;
  return `make_timestamptz(${micros} - (${micros} % 1000 + 1000) % 1000)`;
}

export function copyOptions(table: Table, options: CopyOptions): string {
  const ids = Object.keys(table.columns).map((name, at) => `${sqlName(name)}: ${at + 1}`);
  return [
    'FORMAT parquet',
    'COMPRESSION zstd',
    `FIELD_IDS {${ids.join(', ')}}`,
    `KV_METADATA {${tableMetadata.table}: ${sqlString(table.name)}, ${tableMetadata.version}: '${table.version}'}`,
    ...(options.rowGroupRows === undefined ? [] : [`ROW_GROUP_SIZE ${options.rowGroupRows}`]),
  ].join(', ');
}
