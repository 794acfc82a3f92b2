import {HostRules} from '../../lib/fetcher/host-rules.ts';
import type {HostRuleRow} from '../../lib/schema/hostdb.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {rowsTable} from '../crawldb/writer.ts';

/** All rules by hand; there are as many as people made. */
export async function readHostRules(db: Pick<Database, 'all'>): Promise<HostRules<HostRuleRow>> {
  return new HostRules(await db.all<HostRuleRow>('FROM hostrules ORDER BY url_host_name'));
}

const columns = {
  host_key: {type: 'key'},
  blocked: {type: 'boolean'},
  min_delay_ms: {type: 'double', nullable: true},
  hours: {type: 'text', nullable: true},
  max_rate: {type: 'double', nullable: true},
} as const;

/**
 * Table `host_rule`: what the rules by hand say together of each host that one is about.
 *
 * @param hosts query of host_key and url_host_name: the hosts that rules about more than one are held against
 */
export async function makeHostRules(db: Database, hosts: string): Promise<void> {
  const rules = await readHostRules(db);
  const table = await rowsTable(db, 'host_rule', columns);
  const own = `SELECT host_key, url_host_name FROM hostrules WHERE coalesce(applies_to, 'host') = 'host'`;
  const asked = rules.wide ? `SELECT DISTINCT * FROM (${own} UNION ALL ${hosts})` : own;
  for await (const rows of db.stream(`${asked} ORDER BY host_key`))
    await table.insert(
      (rows as unknown as Pick<HostRuleRow, 'host_key' | 'url_host_name'>[]) // the columns of the query
        .flatMap(({host_key, url_host_name}) => {
          const rule = rules.of(url_host_name);
          if (rule === null) return [];
          const {blocked, min_delay_ms, hours, max_rate} = rule;
          return [{host_key, blocked, min_delay_ms, hours, max_rate}];
        }),
    );
}
