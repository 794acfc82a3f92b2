import type {Column, ColumnType} from '../schema/table.ts';
import {duckdbType, sqlName} from './sql-types.ts';

/** Rows from TypeScript into a table of DuckDB, a value at a time. Pure: knows the appender's shape, not its library. */

export type AppendColumns = Readonly<Record<string, Pick<Column, 'type'>>>;

/** What is needed of node-api's DuckDBAppender. */
export interface Appender<Time> {
  appendNull(): void;
  appendVarchar(value: string): void;
  appendBlob(value: Uint8Array): void;
  appendBoolean(value: boolean): void;
  appendSmallInt(value: number): void;
  appendInteger(value: number): void;
  appendBigInt(value: bigint): void;
  appendUBigInt(value: bigint): void;
  appendDouble(value: number): void;
  appendTimestampTZ(value: Time): void;
  endRow(): void;
}

/** Adds rows by the declared types of the columns, which are the table's, in its order. What a row lacks is null. */
export function appendRows<Time>(
  to: Appender<Time>,
  columns: AppendColumns,
  rows: readonly Readonly<Record<string, unknown>>[],
  timeOf: (micros: bigint) => Time,
): void {
  const list = Object.entries(columns).map(([name, {type}]) => ({
    name,
    append: appenderOf(to, type, timeOf),
  }));
  for (const row of rows) {
    for (const {name, append} of list) {
      const value = row[name];
      if (value === null || value === undefined) to.appendNull();
      else append(value);
    }
    to.endRow();
  }
}

// Each value is of its column's type: what the row types of lib/schema promise.
function appenderOf<Time>(
  to: Appender<Time>,
  type: ColumnType,
  timeOf: (micros: bigint) => Time,
): (value: unknown) => void {
  switch (type) {
    case 'text':
    case 'json':
      return (value) => to.appendVarchar(fit(value as string));
    case 'bytes':
      return (value) => to.appendBlob(value as Uint8Array);
    case 'boolean':
      return (value) => to.appendBoolean(value as boolean);
    case 'int16':
      return (value) => to.appendSmallInt(value as number);
    case 'int32':
      return (value) => to.appendInteger(value as number);
    case 'count':
      return (value) => to.appendBigInt(BigInt(value as number));
    case 'key':
      return (value) => to.appendUBigInt(value as bigint);
    case 'double':
      return (value) => to.appendDouble(value as number);
    case 'timestamp':
      return (value) => to.appendTimestampTZ(timeOf(BigInt((value as Date).getTime()) * 1000n));
  }
}

/** NUL, and surrogates without their other half. */
const unfit = /\0|\p{Surrogate}/gu;

function fit(text: string): string {
  return text.replace(unfit, '\ufffd');
}

/** A statement that makes an empty table with these columns. */
export function createSql(table: string, columns: AppendColumns): string {
  const list = Object.entries(columns).map(([name, column]) => `${sqlName(name)} ${duckdbType(column)}`);
  return `CREATE TABLE ${sqlName(table)} (${list.join(', ')})`;
}
