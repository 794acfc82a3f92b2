import {CrawlError} from '../../lib/errors.ts';
import {type Database, sqlString} from '../../lib/store/duckdb.ts';

/** What a person may say of the rows that a reader shows. */
export interface TypedFilter {
  /** Table or view that it is about. */
  readonly table: string;
  /** --where: a condition over its columns. */
  readonly where?: string | undefined;
  /** --regex: a pattern of RE2. */
  readonly regex?: string | undefined;
}

/**
 * Tries a condition and a pattern before they stand in a query, which would tell of its own text what is wrong with
 * theirs. Throws USAGE, which names the option.
 */
export async function checkFilter(db: Database, {table, where, regex}: TypedFilter): Promise<void> {
  if (where !== undefined) {
    const wrong = (why: string, cause?: unknown): CrawlError =>
      new CrawlError('USAGE', `--where ${where}: ${why}`, {
        hint: `It takes one SQL condition over columns of ${table}: crawl sql "DESCRIBE ${table}" lists them.`,
        cause,
      });
    const query = `SELECT (\n${where}\n) AS ok FROM ${table}`;
    const columns = await describing(db, query, wrong);
    if (columns !== 1) throw wrong('not a condition');
  }
  if (regex !== undefined)
    await db.all(`SELECT regexp_matches('', ${sqlString(regex)})`).catch((error: unknown) => {
      throw new CrawlError('USAGE', `--regex ${regex}: ${said(error)}`, {
        hint: 'It takes a pattern of RE2: https://github.com/google/re2/wiki/Syntax',
        cause: error,
      });
    });
}

/** Columns that a query of one statement gives; 0 for more statements. */
async function describing(
  db: Database,
  query: string,
  wrong: (why: string, cause: unknown) => CrawlError,
): Promise<number> {
  try {
    return (await db.statementKinds(query)).length === 1 ? (await db.describe(query)).length : 0;
  } catch (error) {
    throw wrong(said(error), error);
  }
}

/** What DuckDB says, without the place in a query that the person never saw. */
function said(error: unknown): string {
  if (!(error instanceof CrawlError)) throw error;
  return error.message
    .replace(/^Failed to extract statements: /, '')
    .replace(/\s*\n\s*LINE \d+:[\s\S]*$/, '');
}
