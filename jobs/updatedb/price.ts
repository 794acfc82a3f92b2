import type {Config} from '../../lib/config/settings.ts';
import type {PageGroup} from '../../lib/schedule/freshness.ts';
import {boundsOf} from '../../lib/schedule/from-config.ts';
import {importanceOf} from '../../lib/schedule/importance.ts';
import {isStale, nextPrice, type Price} from '../../lib/schedule/price.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {readSql} from '../runner/sql-file.ts';

const sql = readSql(import.meta.url, './price.sql', ['revisits', 'rates']);

/** Names under which the manifest's summary keeps the price. */
const names = {
  price: 'schedule_price',
  boost: 'schedule_boost',
  time: 'schedule_price_time',
  visits: 'schedule_visits',
} as const satisfies Record<keyof Price, string>;

/** The price that a crawl has, or null. */
export function priceOf(summary: Readonly<Record<string, number>>): Price | null {
  const {[names.price]: price, [names.boost]: boost, [names.time]: time, [names.visits]: visits} = summary;
  if (price === undefined || boost === undefined || time === undefined || visits === undefined) return null;
  return {price, boost, time, visits};
}

export function priceSummary({price, boost, time, visits}: Price): Record<string, number> {
  return {[names.price]: price, [names.boost]: boost, [names.time]: time, [names.visits]: visits};
}

interface RateGroup extends Readonly<Record<string, unknown>> {
  readonly change_rate: number | null;
  readonly score: number;
  readonly pages: number;
  readonly visits_per_s: number;
}

const dayS = 86_400;

/**
 * The price anew, once a day, from the estimates of all visited pages: a scan of a few columns of the crawldb, which
 * come back as some hundred groups. In between the visits of each round are added to the price that holds. Null where the
 * schedule has none.
 */
export async function renewPrice(
  db: Database,
  config: Config['schedule'],
  before: Price | null,
  now: number,
): Promise<Price | null> {
  if (config.kind !== 'change_rate') return null;
  const [made] = await db.all<{visits: number}>(sql.revisits);
  const visits = made?.visits ?? 0;
  if (before !== null && !isStale(before, now)) return {...before, visits: before.visits + visits};
  const {minS, maxS} = boundsOf(config);
  const rows = await db.all<RateGroup>(sql.rates);
  const groups: PageGroup[] = [];
  let others = 0;
  let pages = 0;
  for (const row of rows) {
    pages += row.pages;
    if (row.change_rate === null) others += row.visits_per_s;
    else
      groups.push({
        rate: row.change_rate / dayS,
        weight: importanceOf(row.score, config.importance),
        pages: row.pages,
        minS,
        maxS,
      });
  }
  const budget = config.budget ?? pages / boundsOf(config).firstS;
  return nextPrice(groups, others, budget, before, visits, now);
}
