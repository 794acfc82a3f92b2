import type {Column, ColumnType} from '../schema/table.ts';
import type {ExtractedRow} from './contract.ts';
import {type Declaration, meant} from './declaration.ts';

/** Rows kept of a page. Chosen: ten times the links that are; a generator without end is cut here. */
const maxRows = 10_000;
/** Characters and bytes of a page's rows. Chosen: what a worker can hold many times. */
const maxSize = 32 * 2 ** 20;

export interface CheckedRows {
  /** Values in the forms that the table takes; the declared columns alone. */
  readonly rows: Record<string, unknown>[];
  /** There were more than are kept. */
  readonly cut: boolean;
}

/** Checks and converts what an extractor gave. Throws an Error that names row and column for what does not fit. */
export function checkRows(given: unknown, declaration: Declaration): CheckedRows {
  const rows: Record<string, unknown>[] = [];
  let size = 0;
  for (const row of rowsOf(given)) {
    const place = `row ${rows.length}`;
    if (typeof row !== 'object' || row === null || Array.isArray(row))
      throw new Error(`${place}: ${describe(row)} is no row: an object with values by column is`);
    const checked: Record<string, unknown> = {};
    for (const key of Object.keys(row))
      if (!Object.hasOwn(declaration.columns, key))
        throw new Error(
          `${place}: no column ${key} is declared${meant(key, Object.keys(declaration.columns))}`,
        );
    for (const [name, column] of Object.entries(declaration.columns)) {
      const value = (row as ExtractedRow)[name] ?? null;
      if (value === null) {
        if (column.nullable !== true)
          throw new Error(`${place}: ${name} is missing, and not declared nullable`);
        checked[name] = null;
        continue;
      }
      const converted = convert(value, column);
      if (converted === undefined)
        throw new Error(`${place}: ${name} is ${describe(value)}, wanted is ${wanted(column)}`);
      size +=
        typeof converted === 'string'
          ? converted.length
          : converted instanceof Uint8Array
            ? converted.length
            : 8;
      checked[name] = converted;
    }
    if (rows.length === maxRows || size > maxSize) return {rows, cut: true};
    rows.push(checked);
  }
  return {rows, cut: false};
}

function rowsOf(given: unknown): Iterable<unknown> {
  if (given === null || given === undefined) return [];
  if (typeof given !== 'object') throw new Error(`extract gave ${describe(given)}: wanted are rows`);
  if (Symbol.iterator in given) return given as Iterable<unknown>;
  if (Symbol.asyncIterator in given || 'then' in given)
    throw new Error('extract gave a promise: it must give its rows at once, without async');
  return [given];
}

/** The value as the table takes it; undefined where it is of another type. */
function convert(value: unknown, {type, values}: Column): unknown {
  switch (type) {
    case 'text':
      if (typeof value !== 'string') return undefined;
      return values === undefined || values.includes(value) ? value : undefined;
    case 'json':
      return JSON.stringify(value);
    case 'bytes':
      return value instanceof Uint8Array ? value : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'int16':
      return isWhole(value, 2 ** 15) ? value : undefined;
    case 'int32':
      return isWhole(value, 2 ** 31) ? value : undefined;
    case 'count':
      return Number.isSafeInteger(value) ? value : undefined;
    case 'key':
      return typeof value === 'bigint' && value >= 0n && value < 2n ** 64n ? value : undefined;
    case 'double':
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    case 'timestamp':
      // Beyond four-digit years nothing is a date; files hold milliseconds
      return value instanceof Date && Math.abs(value.getTime()) < 253_402_300_800_000 ? value : undefined;
    default:
      return type satisfies never;
  }
}

function isWhole(value: unknown, bound: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= -bound && value < bound;
}

const forms: Readonly<Record<ColumnType, string>> = {
  text: 'a text',
  json: 'a value of JSON',
  bytes: 'a Uint8Array',
  boolean: 'true or false',
  int16: 'a whole number of 16 bits',
  int32: 'a whole number of 32 bits',
  count: 'a whole number below 2^53',
  key: 'a bigint of 64 bits, unsigned',
  double: 'a finite number',
  timestamp: 'a Date of a year below 10000',
};

function wanted({type, values}: Column): string {
  return values === undefined ? forms[type] : `one of: ${values.join(', ')}`;
}

/** A value for a message, short. */
function describe(value: unknown): string {
  if (typeof value === 'string') return `the text ${JSON.stringify(value.slice(0, 80))}`;
  if (Array.isArray(value)) return 'a list';
  if (value instanceof Date) return `the date ${value.getTime()}`;
  if (typeof value === 'object' && value !== null)
    return `an object (${value.constructor?.name ?? 'Object'})`;
  return `the ${typeof value} ${String(value)}`;
}
