/** What is done to the text of a query before DuckDB sees it. Pure. */

/** Literals, quoted names and comments, which stay as they are; else a call `url_key('…')` or `host_key('…')`. */
const pieces =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|\b(url_key|host_key)\s*\(\s*'((?:[^']|'')*)'\s*\)/gi;

/**
 * Puts keys in place of `url_key('https://example.org/')` and `host_key('example.org')`, or of a URL. SQL cannot compute them:
 * they are XXH64, and a URL is normalized first.
 */
export function expandKeys(
  sql: string,
  keyOf: (name: 'url_key' | 'host_key', text: string) => bigint,
): string {
  return sql.replaceAll(
    pieces,
    (whole: string, _tag: unknown, name: string | undefined, text: string | undefined) =>
      name === undefined || text === undefined
        ? whole
        : `${keyOf(name.toLowerCase() === 'url_key' ? 'url_key' : 'host_key', text.replaceAll("''", "'"))}::UBIGINT`,
  );
}

/** Whether nothing but comments, white space and semicolons is there. DuckDB has no words for it. */
export function isEmptyQuery(sql: string): boolean {
  return /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/.test(sql);
}

const explain = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*explain\b(?:\s+analyze\b)?(?:\s*\([^)]*\))?/i;

export function isExplain(sql: string): boolean {
  return explain.test(sql);
}

/** The statement that an EXPLAIN explains. */
export function explained(sql: string): string {
  return sql.replace(explain, '');
}
