import {CrawlError} from '../../lib/errors.ts';
import type {Database} from '../../lib/store/duckdb.ts';

/**
 * A condition that a person typed, made safe to stand in a query: it is one expression of type BOOLEAN over columns
 * of the crawldb (and of the hostdb, as `host.fetched`), without subqueries, windows, aggregates or anything whose
 * value is not settled by the row. DuckDB's own parser takes it apart.
 */

/** Kinds of expressions, in the words of DuckDB's parser, that look at one row only. */
const allowedClasses: ReadonlySet<string> = new Set([
  'BETWEEN',
  'CASE',
  'CAST',
  'COLLATE',
  'COLUMN_REF',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'FUNCTION',
  'OPERATOR',
]);

/** Functions whose value a row settles by DuckDB's account, but not by ours. */
const refusedFunctions: ReadonlySet<string> = new Set(['current_setting', 'getvariable']);
/** The time of the round, in place of the clock: {@link fixTime} defines them. */
const timeFunctions: ReadonlySet<string> = new Set(['now', 'get_current_timestamp', 'transaction_timestamp']);

interface Syntax {
  readonly class?: string;
  readonly function_name?: string;
  readonly [key: string]: unknown;
}

/**
 * Makes `now()` the time of the round, so that a selection is the same whenever it is evaluated.
 *
 * @param now milliseconds since the epoch
 */
export async function fixTime(db: Database, now: number): Promise<void> {
  for (const name of timeFunctions)
    await db.run(
      `CREATE OR REPLACE MACRO ${name}() AS TIMESTAMPTZ '${new Date(now).toISOString().replace('T', ' ')}'`,
    );
}

/**
 * Checks a condition against the view or table `source`. Throws USAGE, which says what is wrong with it.
 *
 * @param name how the person calls it, as `--where`
 */
export async function checkCondition(
  db: Database,
  condition: string,
  source: string,
  name: string,
): Promise<void> {
  const wrong = (why: string, cause?: unknown): CrawlError =>
    new CrawlError('USAGE', `${name}: ${why}`, {
      facts: {condition},
      hint: 'Write one SQL condition over columns of crawldb, as "score > 0.5 AND depth < 4"; crawl sql "DESCRIBE crawldb" lists them, and host.NAME is a column of hostdb.',
      cause,
    });
  const expression = await parse(db, condition);
  if ('problem' in expression) throw wrong(expression.problem);
  const functions = new Set<string>();
  const refused = refusedIn(expression.syntax, functions);
  if (refused !== undefined) throw wrong(`${refused} is no condition over one row`);
  for (const fn of functions) {
    if (timeFunctions.has(fn)) continue;
    if (refusedFunctions.has(fn) || !(await isSettledByArguments(db, fn)))
      throw wrong(`the function ${fn} is not one whose value a row settles`);
  }
  try {
    const [column] = await db.describe(`SELECT (${condition}\n) AS ok FROM ${source}`);
    if (column?.type !== 'BOOLEAN') throw wrong(`it is a ${column?.type ?? 'nothing'}, not true or false`);
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'USAGE') throw error;
    throw wrong(error instanceof Error ? firstLine(error.message) : String(error), error);
  }
}

async function parse(
  db: Database,
  condition: string,
): Promise<{readonly syntax: Syntax} | {readonly problem: string}> {
  const [row] = await db.all<{json: string}>('SELECT json_serialize_sql($text::VARCHAR) AS json', {
    text: `SELECT (${condition}\n)`,
  });
  const parsed = JSON.parse(row?.json ?? '{}') as {
    error?: boolean;
    error_message?: string;
    statements?: {node: Syntax & {select_list?: Syntax[]; from_table?: {type?: string}}}[];
  }; // the form of DuckDB's serialisation
  if (parsed.error !== false) return {problem: firstLine(parsed.error_message ?? 'it cannot be read')};
  const [statement, ...others] = parsed.statements ?? [];
  const [syntax, ...more] = statement?.node.select_list ?? [];
  if (syntax === undefined || others.length > 0 || more.length > 0)
    return {problem: 'it is more than one expression'};
  const {from_table, where_clause, group_expressions, having, qualify, modifiers} = statement!.node;
  const further = [where_clause, having, qualify].some((part) => part !== null && part !== undefined);
  const lists = [group_expressions, modifiers].some((part) => Array.isArray(part) && part.length > 0);
  if (further || lists || from_table?.type !== 'EMPTY') return {problem: 'it is more than one expression'};
  return {syntax};
}

/** The first thing in an expression that looks beyond its row; names of functions are gathered. */
function refusedIn(value: unknown, functions: Set<string>): string | undefined {
  if (Array.isArray(value)) {
    for (const one of value) {
      const refused = refusedIn(one, functions);
      if (refused !== undefined) return refused;
    }
    return undefined;
  }
  if (value === null || typeof value !== 'object') return undefined;
  const syntax = value as Syntax; // any object of the tree
  if (typeof syntax.class === 'string' && !allowedClasses.has(syntax.class))
    return syntax.class.toLowerCase().replaceAll('_', ' ');
  if (syntax.class === 'FUNCTION' && typeof syntax.function_name === 'string')
    functions.add(syntax.function_name);
  // A constant holds values only
  if (syntax.class === 'CONSTANT') return undefined;
  return refusedIn(Object.values(syntax), functions);
}

async function isSettledByArguments(db: Database, name: string): Promise<boolean> {
  const found = await db.all<{function_type: string; stability: string | null}>(
    'SELECT DISTINCT function_type, stability FROM duckdb_functions() WHERE function_name = $name',
    {name},
  );
  return (
    found.length > 0 &&
    found.every(({function_type, stability}) => function_type === 'scalar' && stability === 'CONSISTENT')
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!;
}
