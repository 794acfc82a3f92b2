/** What is done to the text of a query before DuckDB sees it. Pure. */

/** Literals, quoted names and comments, which stay as they are; else a call as `url_key('…')` or `parse_of('…')`. */
const pieces =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|\b(url_key|host_key|parse_of|outlinks_of)\s*\(\s*'((?:[^']|'')*)'\s*\)/gi;

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
      name === undefined || text === undefined || !/_key$/i.test(name)
        ? whole
        : `${keyOf(name.toLowerCase() === 'url_key' ? 'url_key' : 'host_key', text.replaceAll("''", "'"))}::UBIGINT`,
  );
}

/** Names that a query gives to parse_of and outlinks_of. */
export function parsesNamed(sql: string): string[] {
  return [...sql.matchAll(pieces)].flatMap(([, , name, text]) =>
    name !== undefined && text !== undefined && /_of$/i.test(name) ? [text.replaceAll("''", "'")] : [],
  );
}

/** Comments; and literals and quoted names, those without an end too. */
const lexemes =
  /(--[^\n]*|\/\*[\s\S]*?\*\/)|\/\*[\s\S]*|\be'(?:[^'\\]|''|\\[\s\S])*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\$(\w*)\$[\s\S]*?(?:\$\2\$|$)/gi;

/** The text with blanks in place of comments, and letters in place of literals: no semicolon but those that end a statement. */
function masked(sql: string): string {
  return sql.replaceAll(lexemes, (text: string, comment: string | undefined) =>
    (comment === undefined ? 'x' : ' ').repeat(text.length),
  );
}

/** Whether a statement is at its end: a semicolon, and behind it nothing but comments. */
export function isWholeStatement(sql: string): boolean {
  return /;\s*$/.test(masked(sql));
}

/** A query without the semicolons and comments behind it, so that it can stand within parentheses. */
export function withoutEnd(sql: string): string {
  return sql.slice(0, masked(sql).search(/[;\s]*$/));
}

/** A statement on one line, comments left out; undefined where a literal goes over lines, which no line can hold. */
export function onOneLine(sql: string): string | undefined {
  let broken = false;
  const bare = sql.replaceAll(lexemes, (text: string, comment: string | undefined) => {
    if (comment !== undefined) return ' ';
    broken ||= text.includes('\n');
    return text;
  });
  return broken ? undefined : bare.replaceAll(/\s*\n\s*/g, ' ').trim();
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
