/**
 * How fresh each schedule keeps a web, with visits for a tenth of its pages a day; for docs/scheduling.md.
 *
 *     npx just bench test/bench/schedule-freshness.ts            # clumped and poisson, 20 webs each, days 100 to 130
 *     npx just bench test/bench/schedule-freshness.ts cycles 5 230
 */

import {simulateSchedules} from '../../jobs/schedule-sim.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {WebKind} from '../../lib/schedule/synthetic-web.ts';

const [web, seeds = '20', days = '130', schedules = ''] = process.argv.slice(2);
const {config} = loadConfig({env: {}});
for (const kind of web === undefined ? (['clumped', 'poisson'] as const) : [web as WebKind]) {
  const request = {
    web: kind,
    schedules: schedules === '' ? [] : schedules.split(','),
    pages: 400,
    leastRate: 0.01,
    mostRate: 100,
    days: Number(days),
    fromDay: Number(days) - 30,
    roundsPerDay: 24,
    budgetShare: 0.1,
    seeds: Number(seeds),
  };
  const begin = process.cpuUsage();
  for await (const row of simulateSchedules(request, config.schedule, null))
    process.stdout.write(
      `${row.web}, days ${request.fromDay}-${days}, ${seeds} webs: ${row.schedule} ${(100 * row.freshness).toFixed(1)} %, ${(100 * (row.share_of_optimum ?? 0)).toFixed(1)} % of the optimum, age ${row.age_days.toFixed(2)} d, ${row.visits_a_page_a_day.toFixed(4)} visits a page a day\n`,
    );
  process.stdout.write(`${(process.cpuUsage(begin).user / 1e6).toFixed(0)} s of processor time\n`);
}
