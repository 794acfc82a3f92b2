import type {Config} from '../lib/config/settings.ts';
import {CrawlError} from '../lib/errors.ts';
import {
  type ContenderName,
  contenderNames,
  simulateContender,
  simulationBounds,
} from '../lib/schedule/contenders.ts';
import {type ContentMarks, evidenceOf} from '../lib/schedule/evidence.ts';
import {boundsOf} from '../lib/schedule/from-config.ts';
import {type RecordedVisit, replayedWeb} from '../lib/schedule/replayed-web.ts';
import {type ChangingPage, optimum, type Simulation} from '../lib/schedule/simulate.ts';
import {seededRandom, syntheticWeb, type WebKind} from '../lib/schedule/synthetic-web.ts';
import {openReader, type ReadSettings} from './read/crawl.ts';

/** What a simulation is asked for. Rates are changes a day. */
export interface SimulationRequest {
  readonly web: WebKind | 'history';
  readonly schedules: readonly string[];
  readonly pages: number;
  readonly leastRate: number;
  readonly mostRate: number;
  readonly days: number;
  /** Measured from this day on. */
  readonly fromDay: number;
  readonly roundsPerDay: number;
  /** Visits a day, as a share of the pages. */
  readonly budgetShare: number;
  readonly seeds: number;
}

export interface SimulationRow extends Readonly<Record<string, unknown>> {
  readonly web: string;
  readonly schedule: ContenderName;
  readonly freshness: number;
  /** Of the best intervals for the known rates; null where rates are not known. */
  readonly optimum: number | null;
  readonly share_of_optimum: number | null;
  readonly age_days: number;
  readonly visits: number;
  readonly visits_a_page_a_day: number;
}

/** Each schedule over the same webs, one of each seed; means over them. Nothing of a crawl is changed. */
export async function* simulateSchedules(
  request: SimulationRequest,
  config: Config['schedule'],
  history: readonly RecordedVisit[] | null,
): AsyncGenerator<SimulationRow> {
  const names = checkRequest(request, history);
  const {seeds, web} = request;
  for (const schedule of names) {
    const sum = {freshness: 0, optimum: 0, ageS: 0, visits: 0, pages: 0, days: 0};
    for (let seed = 1; seed <= seeds; seed++) {
      const run = runOf(request, seed, history);
      const bounds = simulationBounds(run.pages, run.visitsPerDay, boundsOf(config));
      const result = simulateContender(schedule, run, bounds);
      sum.freshness += result.freshness / seeds;
      sum.ageS += result.ageS / seeds;
      sum.visits += result.visits / seeds;
      sum.optimum += optimum({...run, order: 'due'}, bounds).freshness / seeds;
      sum.pages = run.pages.length;
      sum.days = run.days;
    }
    const known = web !== 'history';
    yield {
      web,
      schedule,
      freshness: sum.freshness,
      optimum: known ? sum.optimum : null,
      share_of_optimum: known ? sum.freshness / sum.optimum : null,
      age_days: sum.ageS / dayS,
      visits: Math.round(sum.visits),
      visits_a_page_a_day: sum.visits / sum.pages / sum.days,
    };
  }
}

const dayS = 86_400;

function checkRequest(request: SimulationRequest, history: readonly RecordedVisit[] | null): ContenderName[] {
  const {schedules, leastRate, mostRate, fromDay, days, budgetShare} = request;
  if (!(leastRate > 0 && leastRate <= mostRate && Number.isFinite(mostRate)))
    throw new CrawlError('USAGE', '--least-rate must be above 0 and not above --most-rate');
  if (!(budgetShare > 0)) throw new CrawlError('USAGE', '--budget must be above 0');
  if (history === null && fromDay >= days) throw new CrawlError('USAGE', '--from must be before --days');
  if (history !== null && history.length === 0)
    throw new CrawlError('USAGE', 'the crawl has no page that was visited twice', {
      hint: 'Simulate a synthetic web: crawl schedule-sim --web poisson',
    });
  const wanted =
    schedules.length === 0
      ? contenderNames.filter((name) => history === null || name !== 'known')
      : schedules;
  return wanted.map((name) => {
    const found = contenderNames.find((one) => one === name);
    if (found !== undefined) return found;
    throw new CrawlError('USAGE', `no schedule ${name}; there are: ${contenderNames.join(' ')}`);
  });
}

function runOf(
  request: SimulationRequest,
  seed: number,
  history: readonly RecordedVisit[] | null,
): Omit<Simulation, 'order'> {
  const random = seededRandom(seed);
  const {roundsPerDay, budgetShare} = request;
  if (history !== null) {
    const pages = replayedWeb(history, random);
    const days = Math.max(...history.map(({time}) => time)) / dayS;
    return {pages, days, fromDay: days / 2, roundsPerDay, visitsPerDay: pages.length * budgetShare};
  }
  const {web, leastRate, mostRate, days, fromDay} = request;
  const pages: ChangingPage[] = syntheticWeb(
    {kind: web as WebKind, pages: request.pages, leastRate, mostRate}, // no history, so one of the kinds
    random,
  );
  return {pages, days, fromDay, roundsPerDay, visitsPerDay: pages.length * budgetShare};
}

interface VisitRow extends ContentMarks, Readonly<Record<string, unknown>> {
  readonly url: string;
  readonly status: string;
  readonly fetch_time: Date;
}

/** All visits that the crawl has kept of pages that it visited more than once. Memory: those visits. */
export async function recordedVisits(settings: ReadSettings): Promise<RecordedVisit[]> {
  const reader = await openReader(settings);
  try {
    const rows = await reader.db.all<VisitRow>(`
      SELECT c.url, c.status, c.fetch_time, c.content_digest, p.signature, p.text_signature, p.simhash
      FROM captures c LEFT JOIN parse p USING (segment, capture_id)
      WHERE c.kind = 'page' AND c.status IN ('success', 'notmodified')
      QUALIFY count(*) OVER (PARTITION BY c.host_key, c.url_key) > 1
      ORDER BY c.host_key, c.url_key, c.fetch_time, c.segment`);
    return visitsOf(rows, settings.config.schedule.min_change_bits);
  } finally {
    await reader.close();
  }
}

function visitsOf(rows: readonly VisitRow[], minBits: number): RecordedVisit[] {
  const start = rows.reduce(
    (least, {fetch_time}) => Math.min(least, fetch_time.getTime()),
    Number.POSITIVE_INFINITY,
  );
  const visits: RecordedVisit[] = [];
  let held: VisitRow | undefined;
  for (const row of rows) {
    const before = held?.url === row.url ? held : undefined;
    const changed =
      before !== undefined && row.status === 'success' && evidenceOf(before, row, minBits) === 'modified';
    visits.push({url: row.url, time: (row.fetch_time.getTime() - start) / 1000, changed});
    if (before === undefined || row.status === 'success') held = row;
  }
  return visits;
}
