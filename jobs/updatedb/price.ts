import type {Config} from '../../lib/config/settings.ts';
import type {PageGroup} from '../../lib/schedule/freshness.ts';
import {boundsOf} from '../../lib/schedule/from-config.ts';
import {importanceOf} from '../../lib/schedule/importance.ts';
import {isStale, nextPrice, type Price} from '../../lib/schedule/price.ts';
import type {Database} from '../../lib/store/duckdb.ts';
import {sql} from './step.ts';

/** Names under which the manifest's summary keeps the price. */
const names = {
  price: 'schedule_price',
  boost: 'schedule_boost',
  time: 'schedule_price_time',
} as const satisfies Record<keyof Price, string>;

/** The price that a crawl has, or null. */
export function priceOf(summary: Readonly<Record<string, number>>): Price | null {
  const {[names.price]: price, [names.boost]: boost, [names.time]: time} = summary;
  return price === undefined || boost === undefined || time === undefined ? null : {price, boost, time};
}

export function priceSummary({price, boost, time}: Price): Record<string, number> {
  return {[names.price]: price, [names.boost]: boost, [names.time]: time};
}

interface RateGroup extends Readonly<Record<string, unknown>> {
  readonly change_rate: number | null;
  readonly score: number;
  readonly pages: number;
  readonly visits_per_s: number;
  readonly recent: number;
}

const dayS = 86_400;

/**
 * The price anew, once a day, from the estimates of all visited pages: a scan of a few columns of the crawldb, which
 * come back as some hundred groups. Null where the schedule has no price or the old one holds.
 */
export async function renewPrice(
  db: Database,
  config: Config['schedule'],
  before: Price | null,
  now: number,
): Promise<Price | null> {
  if (config.kind !== 'change_rate' || !isStale(before, now)) return null;
  const {minS, maxS} = boundsOf(config);
  const rows = await db.all<RateGroup>(sql.rates, {since: new Date(before?.time ?? now)});
  const groups: PageGroup[] = [];
  let others = 0;
  let pages = 0;
  let visits = 0;
  for (const row of rows) {
    pages += row.pages;
    visits += row.recent;
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
