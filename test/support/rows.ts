import type {Column, Row, Table} from '../../lib/schema/table.ts';

/** Rows of any table, made from a seed: hard texts, all byte values, keys above 2^63, nulls wherever allowed. */

/** Texts that codecs and SQL have stumbled over. */
const hardTexts = [
  '',
  ' ',
  'O\'Reilly "quoted"',
  '\uFEFFbom first',
  'nul \u0000 inside',
  'ünïcödé 汉字 \u{1F40C}',
  'line\nbreak\ttab\r',
  'null',
  '\\',
];
const allBytes = Uint8Array.from({length: 256}, (_, i) => i);
const keys = [0n, 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, 0xdeadbeefcafef00dn];

/** Number `i` of the rows of a seedless, endless list. In every third row all nullable columns are null. */
export function sampleRow<T extends Table>(table: T, i: number): Row<T> {
  const row: Record<string, unknown> = {};
  for (const [at, [name, column]] of Object.entries(table.columns).entries())
    row[name] = column.nullable && i % 3 === 2 ? null : sampleValue(column, i * 7 + at);
  return row as Row<T>; // each value fits its column
}

export function sampleRows<T extends Table>(table: T, count: number): Row<T>[] {
  return Array.from({length: count}, (_, i) => sampleRow(table, i));
}

function sampleValue(column: Column, n: number): unknown {
  switch (column.type) {
    case 'text':
      return column.values === undefined
        ? `${hardTexts[n % hardTexts.length]}${n % 5 === 0 ? n : ''}`
        : column.values[n % column.values.length];
    case 'json':
      return JSON.stringify({n, text: hardTexts[n % hardTexts.length]});
    case 'bytes':
      return n % 4 === 0 ? new Uint8Array(0) : allBytes.slice(n % 3);
    case 'boolean':
      return n % 2 === 0;
    case 'int16':
      return [0, -32768, 32767, 200, 404][n % 5];
    case 'int32':
      return [0, -(2 ** 31), 2 ** 31 - 1, n][n % 4];
    case 'count':
      return [0, Number.MAX_SAFE_INTEGER, n, Number.MIN_SAFE_INTEGER][n % 4];
    case 'key':
      return keys[n % keys.length];
    case 'double':
      return [0, -1.5, 1e300, 0.1 + 0.2, n][n % 5];
    case 'timestamp':
      return new Date([0, -1, 1_764_501_600_123, 4_102_444_800_000, n][n % 5]!);
  }
}

/** Rows in a form in which equal rows are equal texts: bytes as hex, keys and times tagged. */
export function comparable(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  return rows.map((row) =>
    Object.entries(row)
      .map(([name, value]) => `${name}=${comparableValue(value)}`)
      .join('\n'),
  );
}

function comparableValue(value: unknown): string {
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString('hex')}`;
  if (value instanceof Date) return `t${value.getTime()}`;
  if (typeof value === 'bigint') return `${value}n`;
  return JSON.stringify(value);
}
