import type {Column, ColumnType, Table} from './table.ts';

/** The data dictionary: Markdown from the declarations of the tables. Pure; docs/data-dictionary.md is its output. */

/** What a reader of the files sees, in SQL's words. */
const typeNames: Readonly<Record<ColumnType, string>> = {
  text: 'VARCHAR',
  json: 'VARCHAR (JSON)',
  bytes: 'BLOB',
  boolean: 'BOOLEAN',
  int16: 'SMALLINT',
  int32: 'INTEGER',
  count: 'BIGINT',
  key: 'UBIGINT',
  double: 'DOUBLE',
  timestamp: 'TIMESTAMPTZ',
};

const head = `# Data dictionary

<!-- Made from lib/schema by \`npx tsx test/support/write-data-dictionary.ts\`; a test checks that it is fresh. -->

Every table of a crawl is a set of Parquet files. The columns below are their columns, in order; field ids are positions, from 1. Each file says in its metadata which table it is of (\`crawl_table\`) and in which version (\`crawl_version\`). Columns are never renamed: new ones come last and are null in older files.

- Unknown is null, never 0 or -1. A column is never null unless its type says so.
- Times are UTC with milliseconds.
- Keys are XXH64 (seed 0) of the UTF-8 text, unsigned. A URL's identity is the pair \`host_key\`, \`url_key\`.
- FETCH is a word of SQL: write \`FROM "fetch"\`, or \`FROM captures\`, which is the same.

Views join them: \`hostdb\` (hosts: \`hoststate\`, \`hoststats\`, \`robots\`, \`hostrules\`), \`ccindex\` (captures under the column names of Common Crawl's index), \`parse_all\` and \`outlinks_all\` (every parse; \`parse\` and \`outlinks\` show the current one of each segment). Extractors have tables of their own (docs/extractors.md): \`extractors\` lists their columns, \`extractions_all\` and \`NAME_all\` show the rows beside every parse. \`fetch_live\`, in \`crawl sql\` alone, has the columns of \`fetch\` for fetches that are not finished; \`content_segment\` is null there until the fetch ends.
`;

/** The whole dictionary. */
export function dataDictionary(tables: readonly Table[]): string {
  const index = tables.map((table) => `- [${table.name}](#${table.name}): ${table.doc}`).join('\n');
  return `${head}\n${index}\n\n${tables.map(tablePage).join('\n')}`;
}

function tablePage(table: Table): string {
  const rows = Object.entries(table.columns).map(
    ([name, column]) => `| \`${name}\` | ${typeText(column)} | ${docText(column)} |`,
  );
  return `## ${table.name}

${table.doc} Version ${table.version}. Key: ${table.key.map((name) => `\`${name}\``).join(', ')}.

| column | type | meaning |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function typeText(column: Column): string {
  return `${typeNames[column.type]}${column.nullable ? ', null' : ''}`;
}

function docText(column: Column): string {
  const parts = [column.doc];
  if (column.unit !== undefined) parts.push(`In ${column.unit}.`);
  if (column.values !== undefined)
    parts.push(`One of ${column.values.map((value) => `\`${value}\``).join(', ')}.`);
  if (column.example !== undefined) parts.push(`Example: \`${column.example}\`.`);
  if (column.source !== undefined) parts.push(`(${column.source})`);
  if (column.since !== undefined) parts.push(`Since version ${column.since}.`);
  return parts.join(' ').replaceAll('|', '\\|').replaceAll('\n', ' ');
}
