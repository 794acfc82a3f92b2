import type {RunReport} from '../jobs/runner/run-job.ts';
import {nextStep} from './next-step.ts';
import {counted, span} from './words.ts';

/** The line or two that a command says at its end: what changed, and what comes next. */

/** `count` of a report, 0 where there is none. */
export function counterOf(report: Pick<RunReport, 'counters'>, name: string): number {
  return report.counters[name] ?? 0;
}

/** `scope_rule 3, url_invalid 1`, the most frequent first. */
export function reasonList(reasons: Readonly<Record<string, number>>): string {
  return Object.entries(reasons)
    .filter(([, n]) => n > 0)
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .map(([reason, n]) => `${reason} ${n}`)
    .join(', ');
}

/** `12 word` parts of those counters that are not 0, else `none`. A pair of words is singular and plural. */
export function parts(
  report: Pick<RunReport, 'counters'>,
  words: Readonly<Record<string, string | readonly [one: string, many: string]>>,
  none = 'nothing',
): string {
  const found = Object.entries(words)
    .map(([name, word]) => [counterOf(report, name), word] as const)
    .filter(([n]) => n > 0)
    .map(([n, word]) => (typeof word === 'string' ? counted(n, word, word) : counted(n, ...word)));
  return found.length === 0 ? none : found.join(', ');
}

/** The line ends in its duration: for a step after which the command itself goes on. */
export function stepClosing(report: RunReport, text: string): string {
  return `${text} (${span(report.durationMs)})`;
}

/** The line ends in its duration and the next command. */
export function closing(report: RunReport, text: string): string {
  return `${stepClosing(report, text)}; next: ${nextStep(report.snapshot.manifest).command}`;
}
