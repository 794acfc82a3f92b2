import {tables} from '../schema/tables.ts';

/** Views that are no table: an extractor's table cannot have their names. */
export const furtherViews = [
  'captures',
  'fetch_live',
  'hostdb',
  'ccindex',
  'parse_all',
  'outlinks_all',
  'extractions_all',
  'linkdb_all',
  'extractors',
] as const;

/** Whether the crawl has a table or view of that name by itself. */
export function isTaken(name: string): boolean {
  return Object.hasOwn(tables, name) || (furtherViews as readonly string[]).includes(name);
}

/** Words that DuckDB takes for its own: as a name of a table or column they would have to be quoted each time. A test asks DuckDB. */
export const reservedWords: ReadonlySet<string> = new Set(
  `all analyse analyze and anti any array as asc asof asymmetric at authorization binary both by case cast
check collate collation column concurrently constraint create cross default deferrable desc describe
distinct do else end except false fetch for foreign freeze from full glob group having ilike in initially
inner intersect into is isnull join lambda lateral leading left like limit natural not notnull null offset
on only or order outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify references
returning right select semi show similar some summarize symmetric table tablesample then to trailing true
union unique unpack unpivot using variadic verbose when where window with`.split(/\s+/),
);
