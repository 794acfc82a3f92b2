import type {Hosts} from '../crawldb/layout.ts';
import type {Table} from '../schema/table.ts';
import {type TableName, tables} from '../schema/tables.ts';
import type {Database} from './duckdb.ts';
import {extractionFiles, extractTables, extractViews} from './extract-views.ts';
import type {FileRef} from './manifest-types.ts';
import {checkParseName} from './parses.ts';
import type {Snapshot} from './store.ts';
import {
  allLinksQuery,
  ccindexQuery,
  crawldbOfMemory,
  crawldbPartsQuery,
  crawldbQuery,
  createTable,
  createView,
  deltaQuery,
  type FilePath,
  filesQuery,
  hostdbQuery,
  linkDeltaQuery,
  linkdbQuery,
  liveInlinksQuery,
  outlinksQuery,
} from './view-sql.ts';

/**
 * What SQL sees: each table name bound to its files, for jobs, for `crawl sql` and for views.sql alike, so that
 * a job's query can be pasted by an archivist and shows what the job saw. Lists of files are explicit, never a
 * pattern: what no manifest names does not exist.
 */

type FileLists = Readonly<Partial<Record<TableName, readonly FileRef[]>>>;

export interface BindWays {
  /** Views, however small the files are: for who asks each table once. */
  readonly asViews?: boolean;
  /** Of the crawldb the view alone, none of its parts: for who reads it whole. They take longer to bind than it. */
  readonly whole?: boolean;
  /** Of the crawldb the rows of these hosts alone, and only the files that can hold some. */
  readonly hosts?: Hosts;
}

/**
 * Binds each table name given to the files given: a view over them; for an empty list an empty view with the table's
 * types. A job asks the same table many times, and each query opens each file anew (0.3 ms of processor time a file,
 * more for a wide table), so what is small is read once, into a table in memory.
 */
export async function bindTables(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  files: FileLists,
  ways: BindWays = {},
): Promise<void> {
  const inMemory = ways.asViews === true ? undefined : isReadOnce;
  const path: FilePath = (file) => store.path(file);
  const statements = `${tableViews(files, path, ways.hosts, inMemory)}\n${crawldbParts(files, path, ways)}`;
  if (statements.trim() !== '') await db.run(statements);
}

/**
 * Measured 2026-11: an updatedb of twelve pages over eight deltas spent 0.95 s of processor time with views and 0.45 s
 * with tables. A hundred thousand links go the other way, since a view reads only the columns that are asked for.
 */
const readOnce = {bytes: 2 * 2 ** 20, rows: 20_000};

/** Of `content` a job wants the digests alone, never the payloads. */
function isReadOnce(name: TableName, list: readonly FileRef[]): boolean {
  const sum = (fact: 'bytes' | 'rows') => list.reduce((total, file) => total + file[fact], 0);
  return (
    name !== 'content' && list.length > 0 && sum('bytes') <= readOnce.bytes && sum('rows') <= readOnce.rows
  );
}

/** For compactions: live rows of deltas as `crawldb_delta`, live changes of inlinks as `inlinks_live`. */
export async function bindDeltas(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  crawldb: readonly FileRef[],
  inlinks: readonly FileRef[],
): Promise<void> {
  const path: FilePath = (file) => store.path(file);
  await db.run(createView('crawldb_delta', deltaQuery(crawldb, path)));
  await bindInlinks(db, store, crawldb, inlinks);
}

/** Changes of inlinks that the buckets of the crawldb have not taken up, as `inlinks_live`. */
export async function bindInlinks(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  crawldb: readonly FileRef[],
  inlinks: readonly FileRef[],
): Promise<void> {
  const path: FilePath = (file) => store.path(file);
  await db.run(createView('inlinks_live', liveInlinksQuery(crawldb, inlinks, path)));
}

/** Some files of the linkdb as a view of this name, as the view `linkdb_all` has them. */
export async function bindLinks(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  name: string,
  links: readonly FileRef[],
  sources: readonly FileRef[],
): Promise<void> {
  await db.run(
    createView(
      name,
      allLinksQuery(links, sources, (file) => store.path(file)),
    ),
  );
}

/** Rows of deltas of the linkdb that its buckets have not taken up; files of the base only tell what those are. */
export async function bindLinkDeltas(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  name: string,
  links: readonly FileRef[],
): Promise<void> {
  await db.run(
    createView(
      name,
      linkDeltaQuery(links, (file) => store.path(file)),
    ),
  );
}

/** Some files of the crawldb as a view. */
export async function bindFiles(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  name: string,
  files: readonly FileRef[],
): Promise<void> {
  await db.run(
    createView(
      name,
      filesQuery(tables.crawldb, files, (file) => store.path(file)),
    ),
  );
}

/** One file of a table as a view, with the place of each row in it as `file_row_number`, from 0. */
export async function bindNumbered(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  name: string,
  table: Table,
  file: FileRef,
): Promise<void> {
  const path: FilePath = (ref) => store.path(ref);
  await db.run(createView(name, filesQuery(table, [file], path, '*, file_row_number')));
}

export interface BindOptions {
  /** Only these segments; all if absent. */
  readonly segments?: readonly string[];
  /** `parse` and `outlinks` show the parse of this name instead of the current ones. Throws PARSE_UNKNOWN. */
  readonly parse?: string | undefined;
  /** Of the crawldb the rows of these hosts alone, and only the files that can hold some. */
  readonly hosts?: Hosts | undefined;
}

/**
 * Makes views of all tables as a snapshot has them: `parse` and `outlinks` of the current parses, the latter with what
 * updatedb refused; `parse_all` and `outlinks_all` of all parses, as parse wrote them; the tables of extractors; `hostdb` and `ccindex`.
 */
export async function bindSnapshot(
  db: Pick<Database, 'run'>,
  snapshot: Snapshot,
  options: BindOptions = {},
): Promise<void> {
  await db.run(await snapshotViews(snapshot, (file) => snapshot.store.path(file), options));
}

/** The text of views.sql: `cd my-crawl && duckdb -init views.sql` shows what `crawl sql` shows. */
export async function viewsSql(snapshot: Snapshot): Promise<string> {
  const views = await snapshotViews(snapshot, (file) => file.key, {});
  return `-- Views of the crawl as of manifest ${snapshot.manifest.number}. Written at each commit; use it in this folder:
-- duckdb -init views.sql
SET TimeZone = 'UTC';

${views}`;
}

async function snapshotViews(snapshot: Snapshot, path: FilePath, options: BindOptions): Promise<string> {
  const files: Partial<Record<TableName, readonly FileRef[]>> = {};
  for (const name of Object.keys(tables) as TableName[])
    files[name] = await snapshot.tableFiles(name, options.segments);
  if (options.parse !== undefined) {
    checkParseName(options.parse, snapshot);
    for (const part of ['parse', 'outlinks'] as const) files[part] = await named(snapshot, part, options);
  }
  const all = async (part: 'parse' | 'outlinks') => {
    const lists: (readonly FileRef[])[] = [];
    for (const slot of Object.keys(snapshot.manifest.slots).sort()) {
      const [, segment, found] = /^segments\/([^/]+)\/([^/]+)\/[^/]+$/.exec(slot) ?? [];
      if (found !== part || segment === undefined) continue;
      if (options.segments === undefined || options.segments.includes(segment))
        lists.push(await snapshot.files(slot));
    }
    return lists.flat();
  };
  const {outlinks = [], ...others} = files;
  return [
    tableViews(others, path, options.hosts),
    createView('outlinks', outlinksQuery(outlinks, files.refusals ?? [], path)),
    createView('parse_all', filesQuery(tables.parse, await all('parse'), path)),
    createView('outlinks_all', filesQuery(tables.outlinks, await all('outlinks'), path)),
    createView(
      'extractions_all',
      filesQuery(tables.extractions, await extractionFiles(snapshot, 'all', options.segments), path),
    ),
    extractViews(await extractTables(snapshot, options.segments), path),
    ...['parse', 'outlinks'].map((name) =>
      createMacro(`${name}_of`, `SELECT * FROM ${name}_all WHERE parse_id = name`),
    ),
    createView('hostdb', hostdbQuery),
    createView('ccindex', ccindexQuery),
  ].join('\n');
}

/** Files of the parse of a name, of the segments that have it. */
async function named(
  snapshot: Snapshot,
  part: 'parse' | 'outlinks',
  {parse, segments = snapshot.segments}: BindOptions,
): Promise<FileRef[]> {
  const lists = segments.map((id) => snapshot.files(`segments/${id}/${part}/${parse}`));
  return (await Promise.all(lists)).flat();
}

/** A function of a parse's name that gives rows: `FROM parse_of('trial')`. */
function createMacro(name: string, query: string): string {
  return `CREATE OR REPLACE MACRO ${name}(name) AS TABLE ${query};\n`;
}

function tableViews(
  files: FileLists,
  path: FilePath,
  hosts: Hosts | undefined,
  inMemory: (name: TableName, list: readonly FileRef[]) => boolean = () => false,
): string {
  return (Object.entries(files) as [TableName, readonly FileRef[]][])
    .map(([name, list]) => {
      const query = tableQuery(name, list, files, path, hosts);
      const view = inMemory(name, list) ? createTable(name, query) : createView(name, query);
      // FETCH is a word of SQL, so that table's name needs quotes; `captures` is the same without.
      if (name === 'fetch') return `${view}\n${createView('captures', 'SELECT * FROM "fetch"')}`;
      if (name !== 'linkdb') return view;
      return `${createView('linkdb_all', allLinksQuery(list, files.linksources ?? [], path))}\n${view}`;
    })
    .join('\n');
}

function tableQuery(
  name: TableName,
  list: readonly FileRef[],
  files: FileLists,
  path: FilePath,
  hosts: Hosts | undefined,
): string {
  switch (name) {
    case 'crawldb':
      return crawldbQuery(list, path, files.inlinks, hosts);
    case 'linkdb':
      return linkdbQuery;
    default:
      return filesQuery(tables[name], list, path);
  }
}

function crawldbParts(files: FileLists, path: FilePath, ways: BindWays): string {
  const list = files.crawldb;
  if (list === undefined || ways.whole === true) return '';
  return ways.asViews !== true && isReadOnce('crawldb', list)
    ? crawldbOfMemory
    : crawldbPartsQuery(list, path, ways.hosts);
}
