import {changeRate} from './change-rate.ts';
import type {ChangingPage, Random} from './synthetic-web.ts';

/** A visit that a crawl made, and whether the page had changed since the one before. */
export interface RecordedVisit {
  readonly url: string;
  /** Seconds from the start of the record. */
  readonly time: number;
  readonly changed: boolean;
}

/**
 * Pages that change as a crawl saw them change: once, at a time by chance, between two visits of which the second found
 * a change. Nothing is known of further changes in between, nor of what came after the last visit.
 *
 * @param visits of each page in order of time
 */
export function replayedWeb(visits: readonly RecordedVisit[], random: Random): ChangingPage[] {
  return [...grouped(visits).values()].map((list) => replayedPage(list, random));
}

function grouped(visits: readonly RecordedVisit[]): Map<string, RecordedVisit[]> {
  const groups = new Map<string, RecordedVisit[]>();
  for (const visit of visits) {
    const group = groups.get(visit.url);
    if (group === undefined) groups.set(visit.url, [visit]);
    else group.push(visit);
  }
  return groups;
}

function replayedPage(visits: readonly RecordedVisit[], random: Random): ChangingPage {
  const changes: number[] = [];
  const past: {intervalS: number; changed: boolean}[] = [];
  for (const [index, {time, changed}] of visits.entries()) {
    const before = visits[index - 1];
    if (before === undefined || time <= before.time) continue;
    past.push({intervalS: time - before.time, changed});
    if (changed) changes.push(before.time + random() * (time - before.time));
  }
  return {
    rate: changeRate(past) ?? 0,
    weight: 1,
    nextChange: (time) => changes.find((change) => change > time) ?? Number.POSITIVE_INFINITY,
  };
}
