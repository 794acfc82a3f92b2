import {mkdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {cpuUsage} from 'node:process';
import type {Config} from '../../lib/config/settings.ts';
import {addCounters} from '../../lib/counters.ts';
import type {Effects, Progress} from '../../lib/effects.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import {CommitRefused, writeViews} from '../../lib/store/commit.ts';
import {crashPoint} from '../../lib/store/crash-points.ts';
import {openCrawl} from '../../lib/store/crawl.ts';
import {createIfAbsent, replaceFile, writeError} from '../../lib/store/durable.ts';
import {collectGarbageSometimes} from '../../lib/store/garbage.ts';
import {takeLocks, thisOwner} from '../../lib/store/lock.ts';
import type {Edit} from '../../lib/store/manifest-types.ts';
import {removeJournals} from '../../lib/store/place.ts';
import {mergedReports, withReport} from '../../lib/store/report.ts';
import type {Snapshot} from '../../lib/store/store.ts';
import type {Job, Plan, Task, TaskResult} from '../job.ts';
import type {Executor} from './executor.ts';

export interface RunJobSettings {
  readonly dir: string;
  readonly config: Config;
  readonly effects: Effects;
  readonly executor: Executor;
  readonly progress?: (point: Progress) => void;
  /** Print the plan and stop there. */
  readonly dryRun?: (plan: Plan | undefined) => void;
  /** What the job's own command will exit with, for the report; 0 if absent. */
  readonly exitCode?: (ended: EndedTasks) => number;
}

/** What the tasks of a run ended with, before its commit. */
export interface EndedTasks extends Pick<RunReport, 'job' | 'counters' | 'reasons' | 'facts'> {}

export interface RunReport {
  readonly run: string;
  readonly job: string;
  /** `nothing`: the plan was empty, nothing was changed. `planned`: a dry run. */
  readonly outcome: 'done' | 'nothing' | 'planned';
  readonly plan: Plan | undefined;
  readonly counters: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
  readonly durationMs: number;
  readonly snapshot: Snapshot;
  /** Facts of all task results, in order of stage and part. */
  readonly facts: readonly Readonly<Record<string, unknown>>[];
}

const maxReplans = 3; // DESIGN: rebase, else re-plan, at most three times, then fail clearly

/**
 * Runs a job: locks, plan, stages through the executor, commit with rebase, report. After a failure nothing of the
 * job is visible and the locks are released; what its attempts wrote is garbage.
 */
export async function runJob<O extends OptionDeclarations>(
  job: Job<O>,
  options: OptionValues<O>,
  settings: RunJobSettings,
): Promise<RunReport> {
  const {dir, effects} = settings;
  const store = await openCrawl(dir);
  const locks = settings.dryRun ? undefined : await takeLocks(dir, job.locks(options), job.name, effects);
  const started = effects.monotonic();
  try {
    for (let replans = 0; ; replans++) {
      const snapshot = await store.head();
      const run = settings.dryRun ? 'dry-run' : await openRun(dir, job.name, effects);
      const plan = await job.plan(options, {...effects, store, snapshot, config: settings.config, run});
      settings.dryRun?.(plan);
      if (plan === undefined || settings.dryRun) {
        if (!settings.dryRun) await rm(join(dir, 'runs', run), {recursive: true, force: true});
        const outcome = plan === undefined ? 'nothing' : 'planned';
        return {
          run,
          job: job.name,
          outcome,
          plan,
          counters: {},
          reasons: {},
          durationMs: effects.monotonic() - started,
          snapshot,
          facts: [],
        };
      }
      try {
        return await runPlan(job, options, plan, {...settings, run, snapshot, started});
      } catch (error) {
        if (!(error instanceof CommitRefused) || replans === maxReplans - 1) throw error;
        effects.log('warn', 'planning_again', {job: job.name, ...error.facts});
      }
    }
  } finally {
    await locks?.release();
  }
}

interface Planned extends RunJobSettings {
  readonly run: string;
  readonly snapshot: Snapshot;
  readonly started: number;
}

async function runPlan<O extends OptionDeclarations>(
  job: Job<O>,
  options: OptionValues<O>,
  plan: Plan,
  context: Planned,
): Promise<RunReport> {
  const {dir, run, snapshot, effects} = context;
  const startedTime = effects.now();
  const cpuBefore = cpuUsage();
  await replaceFile(join(dir, 'runs', run, 'plan.json'), `${JSON.stringify(plan, null, 1)}\n`);
  crashPoint('plan_written');
  const {edit, results} = await runStages(job, plan, context);
  const counters: Record<string, number> = {};
  const reasons: Record<string, number> = {};
  for (const result of results) {
    addCounters(counters, result.counters);
    addCounters(reasons, result.reasons);
  }
  const facts = results.flatMap((result) => (result.facts === undefined ? [] : [result.facts]));
  const cpu = cpuUsage(cpuBefore);
  const complete = await withReport(snapshot, edit, {
    run,
    job: job.name,
    segment: plan.segment ?? null,
    started_time: new Date(startedTime),
    finished_time: new Date(effects.now()),
    duration_ms: effects.monotonic() - context.started,
    cpu_ms: (cpu.user + cpu.system) / 1000,
    exit_code: context.exitCode?.({job: job.name, counters, reasons, facts}) ?? 0,
    tasks: results.length,
    counters: JSON.stringify(counters),
    reasons: JSON.stringify(reasons),
    options: JSON.stringify(options),
  });
  const committed = await snapshot.store.commit({
    base: snapshot,
    edit: complete,
    run,
    job: job.name,
    now: effects.now(),
  });
  await afterCommit(committed, context);
  return {
    run,
    job: job.name,
    outcome: 'done',
    plan,
    counters,
    reasons,
    durationMs: effects.monotonic() - context.started,
    snapshot: committed,
    facts,
  };
}

async function runStages<O extends OptionDeclarations>(
  job: Job<O>,
  plan: Plan,
  context: Planned,
): Promise<{edit: Edit; results: TaskResult[]}> {
  const all: TaskResult[] = [];
  let tasks: readonly Task[] = plan.tasks;
  for (let stage = 0; ; stage++) {
    const results = await context.executor.run(job, tasks, {
      dir: context.dir,
      run: context.run,
      effects: context.effects,
      progress: context.progress ?? (() => undefined),
    });
    crashPoint('task_files_written');
    for (const [index, result] of results.entries()) await writeResult(context, tasks[index]!, result);
    crashPoint('task_result_written');
    all.push(...results);
    const next = job.next(plan, stage, results);
    if ('edit' in next) return {edit: next.edit, results: all};
    tasks = next.tasks;
  }
}

/** The first attempt's result stays; a late one loses. */
async function writeResult(context: Planned, task: Task, result: TaskResult): Promise<void> {
  const path = join(context.dir, 'runs', context.run, 'results', `${task.stage}-${task.part}.json`);
  if (!(await createIfAbsent(path, `${JSON.stringify(result)}\n`)))
    throw new CrawlError(
      'TASK_FAILED',
      `task ${task.stage}-${task.part} of ${context.run} has a result already`,
    );
}

/** A new folder for the run, named by time and job, with its owner beside for the collector of garbage. */
async function openRun(dir: string, job: string, effects: Effects): Promise<string> {
  await mkdir(join(dir, 'runs'), {recursive: true}).catch((error: unknown) => {
    throw writeError(error, join(dir, 'runs'));
  });
  for (let now = effects.now(); ; now++) {
    const run = `${new Date(now).toISOString().replace(/\D/g, '')}-${job}`;
    try {
      await mkdir(join(dir, 'runs', run));
    } catch (error) {
      if (systemCode(error) === 'EEXIST') continue;
      throw writeError(error, join(dir, 'runs', run));
    }
    await replaceFile(
      join(dir, 'runs', run, 'owner.json'),
      `${JSON.stringify(thisOwner('run', job, effects.now()))}\n`,
    );
    return run;
  }
}

/** Upkeep: journals that are sealed, views.sql, many small reports, garbage. What goes wrong here is told and changes nothing of the commit. */
async function afterCommit(
  committed: Snapshot,
  {dir, effects, config, run, snapshot: before}: Planned,
): Promise<void> {
  try {
    const fetched = committed.segments.filter((id) => committed.segment(id).state === 'fetched');
    const dropped = before.segments.filter((id) => committed.manifest.segments[id] === undefined);
    await removeJournals(dir, [...fetched, ...dropped]);
    const merged = await mergedReports(committed, run);
    const snapshot =
      merged === undefined
        ? committed
        : await committed.store.commit({
            base: committed,
            edit: merged,
            run,
            job: 'merge-reports',
            now: effects.now(),
          });
    const {viewsSql} = await import('../../lib/store/views.ts');
    await writeViews(dir, snapshot.manifest.number, await viewsSql(snapshot));
    await collectGarbageSometimes(snapshot, {
      now: effects.now(),
      keepMs: config.storage.keep_manifests,
      minManifests: config.storage.min_manifests,
    });
  } catch (error) {
    effects.log('warn', 'after_commit_failed', {
      error: error instanceof Error ? error.message : String(error),
    });
  }
}
