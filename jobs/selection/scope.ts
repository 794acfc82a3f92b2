import type {Reason} from '../../lib/schema/reason.ts';
import type {HopType} from '../../lib/schema/status.ts';
import type {Scope, Stay} from '../../lib/scope/scope.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {selectionSql} from './steps.ts';

/** What the scope looks at, of a URL that the crawldb knows. */
interface KnownUrl {
  readonly host_key: bigint;
  readonly url_key: bigint;
  readonly url: string;
  readonly depth: number;
  readonly hop_type: HopType;
  readonly discovered_from: string | null;
  readonly seed: string | null;
  readonly seed_scope: Stay | null;
}

/**
 * Holds what was picked against the scope of today, which may have other rules than when a URL was found. What it
 * refuses keeps its row, and gets its reason in the table `due`, so that the next picking passes it over. Where one URL
 * of a host is refused all due ones of that host are asked about, since rules are mostly about hosts. Rows of those that
 * may be fetched gather in the table `page`: a later picking asks about no URL that stands there.
 *
 * @returns how many were refused; 0 when all that is picked may be fetched
 */
export async function refuseOutOfScope(db: Database, scope: Scope): Promise<number> {
  await db.run(
    'CREATE OR REPLACE TABLE asked AS SELECT host_key, url_key FROM picked ANTI JOIN page USING (host_key, url_key)',
  );
  const picked = await refusedOf(db, scope);
  const hosts = new Set(picked.map(({host_key}) => host_key));
  if (hosts.size === 0) {
    await db.run('INSERT INTO page SELECT * FROM asked_page');
    return 0;
  }
  await tellRefused(db, 'refused_page', picked);
  await db.run('INSERT INTO page SELECT * FROM asked_page ANTI JOIN refused_page USING (host_key, url_key)');
  const table = await rowsTable(db, 'refusing_host', {host_key: {type: 'key'}});
  await table.insert([...hosts].map((host_key) => ({host_key})));
  await db.run(
    'CREATE OR REPLACE TABLE asked AS SELECT host_key, url_key FROM due SEMI JOIN refusing_host USING (host_key) WHERE reason IS NULL',
  );
  const refused = await refusedOf(db, scope);
  await tellRefused(db, 'refused', refused);
  await db.run(`UPDATE due SET reason = refused.reason FROM refused
    WHERE due.host_key = refused.host_key AND due.url_key = refused.url_key`);
  await db.run('DROP TABLE refused_page; DROP TABLE refused; DROP TABLE refusing_host');
  return refused.length;
}

interface RefusedUrl {
  readonly host_key: bigint;
  readonly url_key: bigint;
  readonly reason: Reason;
}

async function tellRefused(db: Database, name: string, urls: readonly RefusedUrl[]): Promise<void> {
  const table = await rowsTable(db, name, {
    host_key: {type: 'key'},
    url_key: {type: 'key'},
    reason: {type: 'text'},
  });
  await table.insert(urls.map((url) => ({...url})));
}

/** Makes `asked_page` of the URLs in `asked`, and asks the scope about each. Memory: a batch. */
async function refusedOf(db: Database, scope: Scope): Promise<RefusedUrl[]> {
  await db.run(`CREATE OR REPLACE TABLE asked_page AS ${selectionSql.page}`);
  const refused: RefusedUrl[] = [];
  for await (const rows of db.stream(selectionSql.known))
    for (const row of rows as unknown as readonly KnownUrl[]) {
      // the columns of the query
      const verdict = scope.check({
        url: row.url,
        depth: row.depth,
        hopType: row.hop_type,
        seed: row.seed,
        seedScope: row.seed_scope,
        ...(row.discovered_from === null ? {} : {from: row.discovered_from}),
      });
      if (!verdict.accepted)
        refused.push({host_key: row.host_key, url_key: row.url_key, reason: verdict.reason});
    }
  return refused;
}

/** Makes the empty table `page`. */
export async function newPages(db: Database): Promise<void> {
  await db.run(`CREATE TABLE asked (host_key UBIGINT, url_key UBIGINT);
CREATE TABLE page AS (${selectionSql.page}) WITH NO DATA`);
}
