/**
 * How fresh each schedule keeps a web, with visits for a tenth of its pages a day; the table, and freshness by day as a
 * plot, as docs/scheduling.md has them.
 *
 *     npx just bench test/bench/schedule-freshness.ts            # clumped and poisson, 20 webs each, days 100 to 130
 *     npx just bench test/bench/schedule-freshness.ts cycles 5 230 fixed,change_rate 101
 *
 * Arguments: web, how many webs, days, schedules, first seed.
 */

import {loadConfig} from '../../lib/config/load.ts';
import {
  type ContenderName,
  contenderNames,
  simulateContender,
  simulationBounds,
} from '../../lib/schedule/contenders.ts';
import {boundsOf} from '../../lib/schedule/from-config.ts';
import {optimum} from '../../lib/schedule/simulate.ts';
import {seededRandom, syntheticWeb, type WebKind} from '../../lib/schedule/synthetic-web.ts';
import {type Curve, lineChart} from '../support/plot.ts';

const [web, seeds = '20', length = '130', schedules = '', firstSeed = '1'] = process.argv.slice(2);
const names = schedules === '' ? contenderNames : (schedules.split(',') as ContenderName[]);
const days = Number(length);
const fromDay = days - 30;
const pages = 400;
const visitsPerDay = pages / 10;
/** Days that a point of the plot stands for. */
const pointDays = 5;
const {config} = loadConfig({env: {}});

/** The same web for each schedule, as `crawl schedule-sim` makes it. */
function runOf(kind: WebKind, seed: number) {
  const web = syntheticWeb({kind, pages, leastRate: 0.01, mostRate: 100}, seededRandom(seed));
  return {pages: web, days, fromDay, roundsPerDay: 24, visitsPerDay};
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = (share: number) => (100 * share).toFixed(2);

function compare(kind: WebKind): void {
  const curves: Curve[] = [];
  let best = 0;
  console.log(`\n${kind}, days ${fromDay} to ${days}, ${seeds} webs from seed ${firstSeed}\n`);
  console.log('| schedule | freshness | ± of that mean | of the optimum | age | visits a page a day |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const name of names) {
    const found = Array.from({length: Number(seeds)}, (_, at) => {
      const run = runOf(kind, Number(firstSeed) + at);
      const bounds = simulationBounds(run.pages, visitsPerDay, boundsOf(config.schedule));
      return {
        ...simulateContender(name, run, bounds),
        best: optimum({...run, order: 'due'}, bounds).freshness,
      };
    });
    const freshness = mean(found.map((one) => one.freshness));
    best = mean(found.map((one) => one.best));
    const spread = Math.sqrt(mean(found.map((one) => (one.freshness - one.best - freshness + best) ** 2)));
    const error = spread / Math.sqrt(Math.max(1, found.length - 1));
    const age = mean(found.map(({ageS}) => ageS)) / 86_400;
    const visits = mean(found.map((one) => one.visits)) / pages / days;
    console.log(
      `| ${name} | ${percent(freshness)} % | ${percent(error)} | ${percent(freshness / best)} % | ${age.toFixed(1)} d | ${visits.toFixed(4)} |`,
    );
    const values = Array.from({length: Math.floor(days / pointDays)}, (_, point) =>
      mean(found.map(({daily}) => 100 * mean(daily.slice(point * pointDays, (point + 1) * pointDays)))),
    );
    curves.push({name, values});
  }
  console.log(`| optimum | ${percent(best)} % | | | | |\n`);
  const drawn = curves.filter(({name}) => name !== 'known');
  console.log(
    lineChart({
      title: `Fresh copies by day, ${kind}`,
      xTitle: 'day',
      xRange: [pointDays / 2, days - pointDays / 2],
      yTitle: 'fresh copies, %',
      yRange: [0, 40],
      decimals: 1,
      curves: [...drawn, {name: 'optimum', values: drawn[0]!.values.map(() => 100 * best)}],
    }),
  );
}

for (const kind of web === undefined ? (['clumped', 'poisson'] as const) : [web as WebKind]) {
  const begin = process.cpuUsage();
  compare(kind);
  console.log(`\n${(process.cpuUsage(begin).user / 1e6).toFixed(0)} s of processor time`);
}
