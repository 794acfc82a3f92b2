import type {SimulationRow} from '../../jobs/schedule-sim.ts';
import {contenderDocs, contenderNames} from '../../lib/schedule/contenders.ts';
import {webKinds} from '../../lib/schedule/synthetic-web.ts';
import {defineCommand} from '../command.ts';
import {tableText} from '../output.ts';

export const command = defineCommand({
  name: 'schedule-sim',
  summary: 'Simulate recrawl schedules on a synthetic web, or on what this crawl saw change.',
  details: [
    'Prints for each schedule how fresh the stored copies would be (share of pages whose copy is the present one), how',
    'old the others, and the visits it took, all with the same budget. Nothing of the crawl is changed. Schedules:',
    ...contenderNames.map((name) => `  ${name.padEnd(12)} ${contenderDocs[name]}`),
    'Webs: poisson (rates spread over the logarithm), clumped (live pages, lists and articles, archive), cycles (changes',
    'in working hours), bursts, and history: the changes that the segments of this crawl show.',
  ].join('\n'),
  examples: [
    ['crawl schedule-sim', 'all schedules on a synthetic web'],
    [
      'crawl schedule-sim --web history --budget 0.05',
      'on what this crawl saw, with a twentieth of its pages a day',
    ],
  ],
  options: {
    web: {kind: 'choice', values: [...webKinds, 'history'], default: 'poisson', doc: 'The web.'},
    schedules: {kind: 'list', default: [], doc: 'Schedules to compare; all if absent.'},
    pages: {kind: 'count', default: 400, min: 1, max: 1_000_000, doc: 'Pages of a synthetic web.'},
    leastRate: {kind: 'number', default: 0.01, doc: 'Changes a day of its slowest pages.'},
    mostRate: {kind: 'number', default: 100, doc: 'Changes a day of its fastest pages.'},
    days: {kind: 'count', default: 130, min: 1, max: 10_000, doc: 'Days that are simulated.'},
    from: {kind: 'count', default: 100, doc: 'First day that is measured.'},
    rounds: {kind: 'count', default: 24, min: 1, max: 1440, doc: 'Rounds a day.'},
    budget: {kind: 'number', default: 0.1, doc: 'Visits a day, as a share of the pages.'},
    seeds: {kind: 'count', default: 2, min: 1, max: 1000, doc: 'Webs to take the mean over.'},
  },
  positionals: [],
  async run({options}, context) {
    const {recordedVisits, simulateSchedules} = await import('../../jobs/schedule-sim.ts');
    const {web, from: fromDay, rounds: roundsPerDay, budget: budgetShare, ...others} = options;
    const request = {...others, web, fromDay, roundsPerDay, budgetShare};
    const history = web === 'history';
    const opened = history ? await context.crawl() : undefined;
    const visits =
      opened === undefined ? null : await recordedVisits({...opened, signal: context.effects.signal});
    const config =
      opened?.config ?? (await import('../../lib/config/load.ts')).loadConfig({env: context.io.env}).config;
    const rows: SimulationRow[] = [];
    for await (const row of simulateSchedules(request, config.schedule, visits)) {
      context.effects.signal.throwIfAborted();
      if (context.globals.json) await context.out.line(JSON.stringify(row));
      else rows.push(row);
    }
    if (!context.globals.json)
      await context.out.write(tableText(context.out.colours, columns, rows.map(cells)));
    return undefined;
  },
});

const columns = ['schedule', 'freshness', 'of optimum', 'age, days', 'visits', 'a page a day'];

function cells(row: SimulationRow): Record<string, string> {
  const share = (value: number | null) => (value === null ? '' : `${(100 * value).toFixed(1)} %`);
  return {
    schedule: row.schedule,
    freshness: share(row.freshness),
    'of optimum': share(row.share_of_optimum),
    'age, days': row.age_days.toFixed(2),
    visits: `${row.visits}`,
    'a page a day': row.visits_a_page_a_day.toFixed(3),
  };
}
