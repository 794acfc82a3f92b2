import type {SwitchedParses} from '../jobs/parse-use.ts';
import type {RunReport} from '../jobs/run-job.ts';
import {closing} from './closing.ts';
import {counted} from './words.ts';

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
