import type {Database} from '../../lib/store/duckdb.ts';
import {
  type ClosedFamily,
  type FamilyRule,
  makeQuarantine,
  type Quarantine,
} from '../../lib/traps/quarantine.ts';

/**
 * The families that are closed, of `table` and the view familyrules.
 *
 * @param probeAt families whose time has come by then let a few URLs through; null for none
 */
export async function readQuarantine(
  db: Pick<Database, 'all'>,
  probeAt: number | null,
  table: 'families' | 'next_family' = 'families',
): Promise<Quarantine> {
  const closed = await db.all<ClosedFamily & Readonly<Record<string, unknown>>>(
    `SELECT place, pattern, probe_time FROM ${table} WHERE state = 'quarantined' ORDER BY place, pattern`,
  );
  const rules = await db.all<FamilyRule & Readonly<Record<string, unknown>>>(
    'SELECT place, pattern, action FROM familyrules ORDER BY place, pattern',
  );
  return makeQuarantine(closed, rules, probeAt);
}
