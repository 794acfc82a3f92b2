import {pathstats} from '../../lib/schema/hostdb.ts';
import {deadLinkWorth, largeHost} from '../../lib/selection/yield.ts';
import type {FileRef} from '../../lib/store/manifest-types.ts';
import {defineFirstFolder} from '../crawldb/path.ts';
import {readSql} from '../runner/sql-file.ts';
import type {Update} from './step.ts';

const sql = readSql(import.meta.url, './yield.sql', ['yield', 'counted', 'paths']);

/** Makes `counted` and `seed_counted`: what the round adds to the counts of hosts and seeds, and to their yield. */
export async function countVisits({db}: Update): Promise<void> {
  await db.run(sql.yield);
  await db.run(sql.counted, {dead_link: deadLinkWorth});
}

/** The yield of the parts of large hosts, after the counts of hosts were written: table `new_hoststats`. */
export async function writePaths({db, ctx}: Update): Promise<FileRef> {
  await defineFirstFolder(db);
  await db.run(sql.paths, {large: largeHost});
  const file = await ctx.store.create(pathstats, 'hosts/pathstats');
  return db.copy('SELECT * FROM new_path ORDER BY host_key, path', {}, file);
}
