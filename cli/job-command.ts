import type {Plan} from '../jobs/job.ts';
import type {RunReport} from '../jobs/runner/run-job.ts';
import type {OptionDeclarations} from '../lib/options.ts';
import type {CommandContext} from './command.ts';
import {jsonValue} from './output.ts';

/** What commands that run a job have in common. */

/** An option of all of them. */
export const dryRunOption = {
  dryRun: {kind: 'flag', default: false, doc: 'Print the plan as JSON and do nothing.'},
} as const satisfies OptionDeclarations;

/** Options of a job without those that the command takes as arguments. */
export function without<O extends OptionDeclarations, K extends keyof O>(
  options: O,
  ...names: K[]
): Omit<O, K> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !names.includes(name as K))) as Omit<
    O,
    K
  >;
}

/** Settings for `runJob` that print the plan with --dry-run. */
export function dryRun(
  context: Pick<CommandContext, 'out'>,
  wanted: boolean,
): {readonly dryRun?: (plan: Plan | undefined) => void} {
  if (!wanted) return {};
  return {dryRun: (plan) => context.out.tell(`${JSON.stringify(plan ?? null, null, 1)}\n`)};
}

/** With --json the report as one line on stdout; else the closing lines on stderr. */
export async function close(
  context: CommandContext,
  report: RunReport,
  lines: readonly string[],
): Promise<void> {
  if (report.outcome === 'planned') return;
  if (context.globals.json) await context.out.line(JSON.stringify(reportFacts(report)));
  else for (const line of lines) context.say(line);
}

/** The report as plain data. */
export function reportFacts(report: RunReport): Record<string, unknown> {
  const {run, job, outcome, plan, counters, reasons, durationMs, snapshot} = report;
  return {
    job,
    outcome,
    run,
    segment: plan?.segment ?? null,
    manifest: snapshot.manifest.number,
    duration_ms: Math.round(durationMs),
    counters,
    reasons,
    facts: jsonValue(report.facts),
  };
}
