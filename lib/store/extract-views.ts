import {type Declaration, tableOf} from '../extract/declaration.ts';
import type {Column} from '../schema/table.ts';
import type {FileRef} from './manifest-types.ts';
import {duckdbType, emptySelect, sqlName, sqlString} from './sql-types.ts';
import type {Snapshot} from './store.ts';
import {createView, type FilePath, filesQuery} from './view-sql.ts';

/**
 * Views of the tables of extractors: `NAME` shows the rows beside the current parse of each segment, `NAME_all` those
 * beside every parse, `extractors` what they declare. Declarations stand with the files, so that a table is read
 * without the extractor that made it.
 */
export interface ExtractTable {
  readonly name: string;
  /** Files beside the current parses. */
  readonly current: readonly FileRef[];
  readonly all: readonly FileRef[];
}

/** Files of the table `extractions` beside the current parses, or beside all. */
export async function extractionFiles(
  snapshot: Pick<Snapshot, 'manifest' | 'segment' | 'files' | 'segments'>,
  which: 'current' | 'all',
  segments: readonly string[] = snapshot.segments,
): Promise<FileRef[]> {
  const files: FileRef[] = [];
  for (const slot of Object.keys(snapshot.manifest.slots).sort()) {
    const [, segment, parse] = /^segments\/([^/]+)\/extractions\/[^/]+\/([^/]+)$/.exec(slot) ?? [];
    if (segment === undefined || !segments.includes(segment)) continue;
    if (which === 'all' || snapshot.segment(segment).current === parse)
      files.push(...(await snapshot.files(slot)));
  }
  return files;
}

/** Tables of all extractors that have run, by name; their files in the segments given, or in all. */
export async function extractTables(
  snapshot: Snapshot,
  segments: readonly string[] = snapshot.segments,
): Promise<ExtractTable[]> {
  const tables = new Map<string, {name: string; current: FileRef[]; all: FileRef[]}>();
  for (const slot of Object.keys(snapshot.manifest.slots).sort()) {
    const [, segment, name, parse] = /^segments\/([^/]+)\/extract\/([^/]+)\/([^/]+)$/.exec(slot) ?? [];
    if (segment === undefined || name === undefined || !segments.includes(segment)) continue;
    const files = await snapshot.files(slot);
    const table = tables.get(name) ?? {name, current: [], all: []};
    tables.set(name, table);
    table.all.push(...files);
    if (snapshot.segment(segment).current === parse) table.current.push(...files);
  }
  return [...tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Statements that make the views. */
export function extractViews(tables: readonly ExtractTable[], path: FilePath): string {
  return [
    ...tables.flatMap((table) => {
      const shown = shownAs(table);
      return [
        createView(table.name, rowsQuery(table.current, shown, path)),
        createView(`${table.name}_all`, rowsQuery(table.all, shown, path)),
      ];
    }),
    createView('extractors', extractorsQuery(tables)),
  ].join('\n');
}

/** The declaration that a file's rows were made by. */
export function declarationOf(file: FileRef): Declaration {
  return JSON.parse(String(file.facts?.declaration)) as Declaration; // put there by the parse
}

/** The columns that were declared last, then those that only former ones had. */
function shownAs({all}: ExtractTable): Declaration {
  const ordered = [...all].sort(
    (a, b) => Number(b.facts?.planned_time ?? 0) - Number(a.facts?.planned_time ?? 0),
  );
  const [newest, ...former] = distinct(ordered).map(([, file]) => declarationOf(file));
  const columns: Record<string, Column> = {...newest!.columns}; // a table has a file
  for (const declaration of former)
    for (const [name, column] of Object.entries(declaration.columns))
      if (columns[name] === undefined) columns[name] = {...column, nullable: true};
  return {...newest!, columns};
}

/** Declarations as text, each with the first file that has it. */
function distinct(files: readonly FileRef[]): [string, FileRef][] {
  const found = new Map<string, FileRef>();
  for (const file of files) {
    const text = String(file.facts?.declaration);
    if (!found.has(text)) found.set(text, file);
  }
  return [...found];
}

/** Rows in the columns of `shown`: what a former declaration lacks is null, what it has in another type is cast if it can be. */
function rowsQuery(files: readonly FileRef[], shown: Declaration, path: FilePath): string {
  const table = tableOf(shown);
  if (files.length === 0) return emptySelect(table);
  return distinct(files)
    .map(([text, first]) => {
      const own = tableOf(declarationOf(first));
      const query = filesQuery(
        own,
        files.filter((file) => String(file.facts?.declaration) === text),
        path,
      );
      const columns = Object.entries(table.columns).map(([name, column]) => {
        const was = own.columns[name];
        if (was === undefined) return `CAST(NULL AS ${duckdbType(column)}) AS ${sqlName(name)}`;
        if (was.type === column.type) return sqlName(name);
        return `TRY_CAST(${sqlName(name)} AS ${duckdbType(column)}) AS ${sqlName(name)}`;
      });
      return `SELECT ${columns.join(', ')} FROM (${query})`;
    })
    .join('\nUNION ALL\n');
}

/** A row a column of each extractor: the data dictionary of this crawl's own tables. */
function extractorsQuery(tables: readonly ExtractTable[]): string {
  const rows = tables.flatMap((table) => {
    const {name, doc, columns} = shownAs(table);
    return Object.entries(columns).map(([column, facts], at) =>
      [
        sqlString(name),
        sqlString(doc),
        `${at}`,
        sqlString(column),
        sqlString(duckdbType(facts)),
        facts.nullable === true ? 'true' : 'false',
        sqlString(facts.doc),
      ].join(', '),
    );
  });
  const types = 'VARCHAR VARCHAR INTEGER VARCHAR VARCHAR BOOLEAN VARCHAR'.split(' ');
  const names = 'extractor doc position column_name column_type nullable column_doc'.split(' ');
  const values = rows.length === 0 ? types.map(() => 'NULL').join(', ') : rows.join('), (');
  const columns = names.map((name, at) => `CAST(c${at} AS ${types[at]}) AS ${name}`);
  return `SELECT ${columns.join(', ')} FROM (VALUES (${values})) v(${names.map((_, at) => `c${at}`).join(', ')})${
    rows.length === 0 ? ' WHERE false' : ''
  }`;
}
