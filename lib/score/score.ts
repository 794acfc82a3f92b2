import type {TableName} from '../schema/tables.ts';
import {age} from './age.ts';
import {depth} from './depth.ts';
import {inlinks} from './inlinks.ts';
import {linkrank} from './linkrank.ts';
import {opic} from './opic.ts';
import type {ScorePart} from './part.ts';
import {seed} from './seed.ts';

/** All parts of a priority. One file and one registration each. */
export const scoreParts: readonly ScorePart[] = [seed, depth, inlinks, linkrank, opic, age];

/** Weights of the parts, by name. None at all: the stored score is the priority. */
export type ScoreWeights = Readonly<Record<string, number>>;

/** What is wrong with the weight of a part, or undefined. */
export function weightProblem(name: string, text: string): string | undefined {
  if (!scoreParts.some((part) => part.name === name))
    return `there is no part ${name}; known are ${scoreParts.map((part) => part.name).join(', ')}`;
  const weight = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (weight >= 0 && weight <= 1e6) return undefined;
  return `the weight of ${name} is ${text === '' ? 'empty' : text}; it must be a number from 0 to 1000000`;
}

/** Weights from texts that {@link weightProblem} has nothing against; parts of weight 0 are left out. */
export function weightsOf(texts: Readonly<Record<string, string>>): ScoreWeights {
  const weights = Object.entries(texts).map(([name, text]): [string, number] => [name, Number(text)]);
  const sorted = weights.filter(([, weight]) => weight > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  // The weight of the stored score alone changes no order
  return sorted.length === 1 && sorted[0]![0] === 'seed' ? {} : Object.fromEntries(sorted);
}

/** Whether the priority is the score of the row as it is stored, by which files of the crawldb are ordered. */
export function isStoredScore(weights: ScoreWeights): boolean {
  return Object.keys(weights).length === 0;
}

/** Parts that count, with their weights. */
export function weighed(weights: ScoreWeights): {readonly part: ScorePart; readonly weight: number}[] {
  const used = isStoredScore(weights) ? {seed: 1} : weights;
  return scoreParts.flatMap((part) => {
    const weight = used[part.name as keyof typeof used];
    return weight === undefined ? [] : [{part, weight}];
  });
}

/** The priority of the row `c`, as SQL: the parts by their weights. What is no number counts as 0. */
export function prioritySql(weights: ScoreWeights): string {
  return weighed(weights)
    .map(({part, weight}) => `${isStoredScore(weights) ? '' : `${weight} * `}${finite(part)}`)
    .join(' + ');
}

/** What is joined to `c` for that. */
export function priorityJoins(weights: ScoreWeights): string {
  return weighed(weights)
    .flatMap(({part}) => part.join?.sql ?? [])
    .join('\n');
}

/** Tables that the joins read. */
export function priorityTables(weights: ScoreWeights): TableName[] {
  return [...new Set(weighed(weights).flatMap(({part}) => part.join?.tables ?? []))];
}

/** Whether the priority of one row asks for rows of other hosts: then a look-up of one host needs the whole crawldb. */
export function readsOtherHosts(weights: ScoreWeights): boolean {
  return priorityTables(weights).includes('crawldb');
}

/** A part's value as SQL; 0 where it is not finite. */
export function finite({sql}: ScorePart): string {
  return `CASE WHEN isfinite((${sql})::DOUBLE) THEN (${sql})::DOUBLE ELSE 0 END`;
}
