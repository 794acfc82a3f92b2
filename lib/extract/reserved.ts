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
  'extractors',
] as const;

/** Whether the crawl has a table or view of that name by itself. */
export function isTaken(name: string): boolean {
  return Object.hasOwn(tables, name) || (furtherViews as readonly string[]).includes(name);
}

/** Words that DuckDB reserves: as a name they would have to be quoted each time. A test compares them with DuckDB's own list. */
export const reservedWords: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect
into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing primary qualify
references returning select show some summarize symmetric table then to trailing true union unique unpivot using variadic
when where window with`.split(/\s+/),
);
