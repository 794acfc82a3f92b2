import type {HostRules} from '../../lib/fetcher/host-rules.ts';
import {rowsTable} from '../crawldb/writer.ts';
import {readHostRules} from '../read/host-rules.ts';
import {readSql} from '../runner/sql-file.ts';
import type {Update} from './step.ts';

const sql = readSql(import.meta.url, './blocked.sql', ['hosts_of_candidates', 'blocked']);

/**
 * New URLs of hosts that are blocked by hand are not added, and counted as `host_blocked`; what is known of them stays.
 * Memory: the names of one batch of hosts. Table `fresh`: URLs not known so far.
 */
export async function refuseBlocked({db}: Update): Promise<void> {
  const rules: HostRules = await readHostRules(db);
  const [any] = await db.all('SELECT 1 FROM hostrules WHERE blocked LIMIT 1');
  if (any === undefined) return;
  const blocked = await rowsTable(db, 'blocked_host', {host_key: {type: 'key'}});
  for await (const rows of db.stream(sql.hosts_of_candidates))
    await blocked.insert(
      (rows as unknown as {host_key: bigint; url_host_name: string}[]) // the columns of the query
        .filter(({url_host_name}) => rules.of(url_host_name)?.blocked)
        .map(({host_key}) => ({host_key})),
    );
  await db.run(sql.blocked);
}
