import {type Counters, foundOnly} from '../../lib/counters.ts';
import {readSql} from '../runner/sql-file.ts';
import type {Update} from './step.ts';

const sql = readSql(import.meta.url, './odd.sql', ['odd']);

/** Before the first page of the web stood, no page was modified. */
const webBegan = Date.UTC(1990, 0);

/** Values of servers and clocks that were bounded or passed over, so that none of them is silent. */
export async function oddValues({db, ctx, params, policy}: Update): Promise<Counters> {
  const {bounds} = policy.schedule;
  const [row] = await db.all(sql.odd, {
    now: new Date(params.now),
    web: new Date(webBegan),
    hints: params.config.links.sitemap_hints,
    min_interval_s: bounds.minS,
    max_interval_s: bounds.maxS,
  });
  const found = foundOnly(row);
  if (Object.keys(found).length > 0) ctx.log('info', 'odd_values', found);
  return found;
}
