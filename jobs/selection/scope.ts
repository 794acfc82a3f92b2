import type {Reason} from '../../lib/schema/reason.ts';
import type {HopType} from '../../lib/schema/status.ts';
import type {Scope, Stay} from '../../lib/scope/scope.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {rowsTable} from '../crawldb/writer.ts';

/** What the scope looks at, of a URL that the crawldb knows. */
interface KnownUrl extends Readonly<Record<string, unknown>> {
  readonly host_key: bigint;
  readonly url_key: bigint;
  readonly url: string;
  readonly depth: number;
  readonly hop_type: HopType;
  readonly discovered_from: string | null;
  readonly seed: string | null;
  readonly seed_scope: Stay | null;
}

/** URLs asked about at once. */
const batchUrls = 10_000;

/**
 * Holds what was picked against the scope of today, which may have other rules than when a URL was found. What it
 * refuses keeps its row, and gets its reason in the table `due`, so that the next picking passes it over. Where one URL
 * of a host is refused all due ones of that host are asked about, since rules are mostly about hosts.
 *
 * @returns how many were refused; 0 when all that is picked may be fetched
 */
export async function refuseOutOfScope(
  db: Database,
  scope: Scope,
  sql: {readonly known: string},
): Promise<number> {
  await db.run('CREATE OR REPLACE TABLE asked AS SELECT host_key, url_key FROM picked');
  const hosts = new Set((await refusedOf(db, scope, sql.known)).map(({host_key}) => host_key));
  if (hosts.size === 0) return 0;
  const table = await rowsTable(db, 'refusing_host', {host_key: {type: 'key'}});
  await table.insert([...hosts].map((host_key) => ({host_key})));
  await db.run(
    'CREATE OR REPLACE TABLE asked AS SELECT host_key, url_key FROM due SEMI JOIN refusing_host USING (host_key) WHERE reason IS NULL',
  );
  const refused = await refusedOf(db, scope, sql.known);
  const reasons = await rowsTable(db, 'refused', {
    host_key: {type: 'key'},
    url_key: {type: 'key'},
    reason: {type: 'text'},
  });
  await reasons.insert(refused);
  await db.run(`UPDATE due SET reason = refused.reason FROM refused
    WHERE due.host_key = refused.host_key AND due.url_key = refused.url_key`);
  await db.run('DROP TABLE refused; DROP TABLE refusing_host');
  return refused.length;
}

async function refusedOf(
  db: Database,
  scope: Scope,
  known: string,
): Promise<{host_key: bigint; url_key: bigint; reason: Reason}[]> {
  const refused: {host_key: bigint; url_key: bigint; reason: Reason}[] = [];
  const [count] = await db.all<{n: number}>('SELECT count(*) AS n FROM asked');
  await db.run(`CREATE OR REPLACE TABLE known AS ${known}`);
  for (let first = 0; first < (count?.n ?? 0); first += batchUrls) {
    const rows = await db.all<KnownUrl>('SELECT * EXCLUDE (n) FROM known WHERE n >= $first AND n < $end', {
      first,
      end: first + batchUrls,
    });
    for (const row of rows) {
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
  }
  return refused;
}
