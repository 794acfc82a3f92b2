import type {DroppedParses} from '../jobs/parse/drop.ts';
import type {SwitchedParses} from '../jobs/parse/use.ts';
import type {RunReport} from '../jobs/runner/run-job.ts';
import {closing} from './closing.ts';
import {counted, bytes as size} from './words.ts';

const whyKept = {
  absent: 'has no such parse',
  partial: 'has only some captures in it',
  incomplete: 'was fetched further since',
  current: 'has it already',
} as const;

/** What a switch of parses changed: each segment that keeps another one is named. */
export function switchClosing(report: RunReport, name: string): string[] {
  if (report.outcome === 'nothing') return [closing(report, `parse ${name}: nothing to switch`)];
  const [facts] = report.facts as unknown as readonly SwitchedParses[]; // of the one task
  const {switched = [], kept = []} = facts ?? {};
  return [
    ...kept
      .filter(({why}) => why !== 'current')
      .map(
        ({segment, current, why}) => `segment ${segment} ${whyKept[why]}; it keeps ${current ?? 'no parse'}`,
      ),
    closing(report, `parse ${name}: current in ${counted(switched.length, 'segment')}`),
  ];
}

const whyStays = {
  current: 'it is current',
  applied: 'its links are in the crawldb until the next updatedb',
} as const;

/** What went, and where it stays. */
export function dropClosing(report: RunReport): string[] {
  const [facts] = report.facts as unknown as readonly DroppedParses[]; // of the one task; none where it was only planned
  if (facts === undefined) return [];
  const {parse, dropped, kept, bytes} = facts;
  return [
    ...kept.map(({segment, why}) => `segment ${segment} keeps ${parse}: ${whyStays[why]}`),
    closing(
      report,
      `parse ${parse}: removed from ${counted(dropped.length, 'segment')}; its ${size(bytes)} go when no manifest names them`,
    ),
  ];
}
