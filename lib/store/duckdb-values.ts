import {CrawlError, type ErrorCode} from '../errors.ts';

/** Values as they leave DuckDB and errors as it words them, in our terms. Pure: knows DuckDB's shapes, not its library. */

/**
 * A value of node-api as a plain one: BIGINT and HUGEINT as number where it is safe and as bigint where it is
 * not, UBIGINT always as bigint (they are keys), times as Date cut to milliseconds, BLOB as Uint8Array, lists
 * and structs as arrays and objects, everything else as DuckDB writes it.
 */
export function plainValue(value: unknown, isKey: boolean): unknown {
  switch (typeof value) {
    case 'bigint':
      return isKey || !Number.isSafeInteger(Number(value)) ? value : Number(value);
    case 'object':
      return value === null ? null : plainObject(value);
    default:
      return value;
  }
}

function plainObject(value: object): unknown {
  if ('micros' in value && typeof value.micros === 'bigint' && 'constructor' in value) {
    const name = value.constructor.name;
    if (name === 'DuckDBTimestampTZValue' || name === 'DuckDBTimestampValue') return microsDate(value.micros);
  }
  if ('bytes' in value && value.bytes instanceof Uint8Array && value.constructor.name === 'DuckDBBlobValue')
    return value.bytes;
  if ('items' in value && Array.isArray(value.items))
    return value.items.map((item) => plainValue(item, false));
  if ('entries' in value && value.constructor.name === 'DuckDBStructValue')
    return Object.fromEntries(
      Object.entries(value.entries as object).map(([key, item]) => [key, plainValue(item, false)]),
    );
  if ('entries' in value && Array.isArray(value.entries))
    return Object.fromEntries(
      value.entries.map(({key, value: item}: {key: unknown; value: unknown}) => [
        `${plainValue(key, false)}`,
        plainValue(item, false),
      ]),
    );
  if ('scale' in value && value.constructor.name === 'DuckDBDecimalValue') return Number(`${value}`);
  return `${value}`;
}

/** Floor, so that a time before 1970 is cut the same way. */
function microsDate(micros: bigint): Date {
  return new Date(Math.floor(Number(micros) / 1000));
}

/** In order: the first whose words are in DuckDB's message decides. `file` finds the file's name in it. */
const cases: readonly {code: ErrorCode; words: RegExp; file?: RegExp}[] = [
  {code: 'DISK_FULL', words: /No space left on device|Disk quota exceeded/i},
  {code: 'OUT_OF_MEMORY', words: /^(Out of Memory|OutOfMemory) Error/i},
  {
    code: 'FILE_MISSING',
    words: /No files found that match the pattern|Cannot open file .*No such file or directory/s,
    file: /(?:pattern|file) "([^"]+)"/,
  },
  {code: 'NOT_WRITABLE', words: /Cannot open file .*(Permission denied|Read-only file system)/s},
  {
    code: 'FILE_DAMAGED',
    words:
      /No magic bytes found|too small to be a Parquet file|TProtocolException|don't know what type|Footer length error|decompress|[Cc]orrupt|Out of buffer|Failed to read (Parquet )?file|Could not read enough bytes|outside file|invalid TType/,
    file: /'([^']+\.parquet)'|"([^"]+\.parquet)"|outside file: (.+\.parquet)/,
  },
];

/** An error of DuckDB as a CrawlError with its words. */
export function duckdbError(error: unknown, sql: string, interrupted: boolean): CrawlError {
  if (error instanceof CrawlError) return error;
  const words = error instanceof Error ? error.message : String(error);
  if (interrupted && /^INTERRUPT Error/i.test(words))
    return new CrawlError('INTERRUPTED', 'the query was stopped', {cause: error});
  const match = cases.find((one) => one.words.test(words));
  const found = match?.file?.exec(words);
  const path = found?.slice(1).find((name) => name !== undefined);
  return new CrawlError(match?.code ?? 'QUERY_FAILED', said(match?.code, path, words), {
    facts: {sql: sql.length > 2000 ? `${sql.slice(0, 2000)}…` : sql, ...(path !== undefined && {path})},
    cause: error,
  });
}

/** Of a file that is not as it should be: which, and what is wrong. The query is not to blame, so it is not shown. */
function said(code: ErrorCode | undefined, path: string | undefined, words: string): string {
  if (code === 'FILE_MISSING' && path !== undefined) return `${path} is missing`;
  if (code === 'FILE_DAMAGED')
    return `${path ?? 'a file that was read'} is damaged: ${words.split('\n', 1)[0]}`;
  return words;
}
