import {type TableName, tables} from '../schema/tables.ts';
import type {Database} from './duckdb.ts';
import type {FileRef} from './manifest-types.ts';
import type {Snapshot} from './store.ts';
import {ccindexQuery, crawldbQuery, createView, type FilePath, filesQuery, hostdbQuery} from './view-sql.ts';

/**
 * What SQL sees: each table name bound to its files, for jobs, for `crawl sql` and for views.sql alike, so that
 * a job's query can be pasted by an archivist and shows what the job saw. Lists of files are explicit, never a
 * pattern: what no manifest names does not exist.
 */

type FileLists = Readonly<Partial<Record<TableName, readonly FileRef[]>>>;

/** Makes a view for each table name given, over the files given; for an empty list, an empty view with the table's types. */
export async function bindTables(
  db: Pick<Database, 'run'>,
  store: {path(file: FileRef): string},
  files: FileLists,
): Promise<void> {
  const statements = tableViews(files, (file) => store.path(file));
  if (statements !== '') await db.run(statements);
}

export interface BindOptions {
  /** Only these segments; all if absent. */
  readonly segments?: readonly string[];
}

/**
 * Makes views of all tables as a snapshot has them: `parse` and `outlinks` of the current parses, `parse_all`
 * and `outlinks_all` of all; `hostdb` and `ccindex`.
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
  return [
    tableViews(files, path),
    createView('parse_all', filesQuery(tables.parse, await all('parse'), path)),
    createView('outlinks_all', filesQuery(tables.outlinks, await all('outlinks'), path)),
    createView('hostdb', hostdbQuery),
    createView('ccindex', ccindexQuery),
  ].join('\n');
}

function tableViews(files: FileLists, path: FilePath): string {
  return (Object.entries(files) as [TableName, readonly FileRef[]][])
    .map(([name, list]) => {
      const view = createView(
        name,
        name === 'crawldb' ? crawldbQuery(tables.crawldb, list, path) : filesQuery(tables[name], list, path),
      );
      // FETCH is a word of SQL, so that table's name needs quotes; `captures` is the same without.
      return name === 'fetch' ? `${view}\n${createView('captures', 'SELECT * FROM "fetch"')}` : view;
    })
    .join('\n');
}
