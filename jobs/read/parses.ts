import {sqlString} from '../../lib/store/duckdb.ts';
import {readSql} from '../runner/sql-file.ts';

const sql = readSql(import.meta.url, './parses.sql', ['compared', 'summary', 'pages', 'links']);

/** What a comparison shows: how much of each kind, each page that differs, or each link. */
export const diffViews = ['summary', 'pages', 'links'] as const;
export type DiffView = (typeof diffViews)[number];

/**
 * The query for what differs between two parses.
 *
 * @param after name of the second parse; the current one of each segment if undefined
 */
export function parseDiffSql(before: string, after: string | undefined, show: DiffView): string {
  const rows = (table: 'parse' | 'outlinks', name: string | undefined): string =>
    name === undefined ? table : `(SELECT * FROM ${table}_all WHERE parse_id = ${sqlString(name)})`;
  return `${sql.compared}\n${sql[show]}`
    .replaceAll('$pages_a', rows('parse', before))
    .replaceAll('$links_a', rows('outlinks', before))
    .replaceAll('$pages_b', rows('parse', after))
    .replaceAll('$links_b', rows('outlinks', after));
}
