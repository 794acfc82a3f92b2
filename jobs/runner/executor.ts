import {availableParallelism} from 'node:os';
import PQueue from 'p-queue';
import type {Effects, Progress} from '../../lib/effects.ts';
import type {OptionDeclarations} from '../../lib/options.ts';
import {AttemptStore} from '../../lib/store/task-store.ts';
import type {Job, Task, TaskContext, TaskResult} from '../job.ts';
import {runInWorker} from './worker-host.ts';

/** Runs the tasks of a stage and returns their results in order; a stage is a barrier. */
export interface Executor {
  run<O extends OptionDeclarations>(
    job: Job<O>,
    tasks: readonly Task[],
    stage: StageContext,
  ): Promise<TaskResult[]>;
}

export interface StageContext {
  readonly dir: string;
  readonly run: string;
  readonly effects: Effects;
  readonly progress: (point: Progress) => void;
}

/**
 * Executor of one machine: tasks run in this process, side by side as far as `concurrency` goes; tasks of jobs with
 * a `worker` module run in threads. The first failure stops the stage: running tasks are told to stop and awaited,
 * so that no socket or file outlives the stage.
 */
export function embeddedExecutor(settings: {readonly concurrency?: number} = {}): Executor {
  const concurrency = settings.concurrency ?? availableParallelism();
  return {
    async run(job, tasks, stage) {
      const failed = new AbortController();
      const signal = AbortSignal.any([stage.effects.signal, failed.signal]);
      const queue = new PQueue({concurrency});
      const sum = new ProgressSum(tasks.length, stage.progress);
      const settled = await Promise.allSettled(
        tasks.map((task, index) =>
          queue.add(async () => {
            signal.throwIfAborted();
            try {
              return await runTask(job, task, {
                ...stage,
                effects: {...stage.effects, signal},
                progress: (point) => sum.report(index, point),
              });
            } catch (error) {
              failed.abort(error);
              throw error;
            }
          }),
        ),
      );
      if (failed.signal.aborted) throw failed.signal.reason;
      return settled.map((outcome) => {
        if (outcome.status === 'rejected') throw outcome.reason;
        return outcome.value;
      });
    },
  };
}

async function runTask<O extends OptionDeclarations>(
  job: Job<O>,
  task: Task,
  stage: StageContext,
): Promise<TaskResult> {
  if (job.worker !== undefined) return runInWorker(job.worker, task, stage);
  const store = new AttemptStore({
    dir: stage.dir,
    run: stage.run,
    stage: task.stage,
    part: task.part,
    attempt: 0,
  });
  const context: TaskContext = {
    ...stage.effects,
    run: stage.run,
    attempt: 0,
    leaseOk: () => true, // one process: nobody can take over
    progress: stage.progress,
    store,
  };
  try {
    return await job.run(task, context);
  } finally {
    await store.close();
  }
}

/** Figures of tasks together: numbers added, words of the last that has any, the longest time left. */
function sumOfFacts(points: readonly Progress[]): Pick<Progress, 'facts' | 'leftMs'> {
  const facts: Record<string, string | number> = {};
  for (const point of points)
    for (const [name, value] of Object.entries(point.facts ?? {})) {
      const before = facts[name];
      facts[name] = typeof value === 'number' && typeof before === 'number' ? before + value : value;
    }
  const left = points.flatMap(({leftMs}) => (leftMs === undefined ? [] : [leftMs]));
  return {
    ...(Object.keys(facts).length === 0 ? {} : {facts}),
    ...(left.length === 0 ? {} : {leftMs: Math.max(...left)}),
  };
}

/** Adds up the progress of tasks that run side by side. */
class ProgressSum {
  readonly #points: (Progress | undefined)[];
  readonly #report: (point: Progress) => void;

  constructor(tasks: number, report: (point: Progress) => void) {
    this.#points = new Array<Progress | undefined>(tasks).fill(undefined);
    this.#report = report;
  }

  report(index: number, point: Progress): void {
    this.#points[index] = point;
    if (this.#points.length === 1) {
      this.#report(point);
      return;
    }
    const known = this.#points.filter((other) => other !== undefined);
    const done = known.reduce((sum, other) => sum + other.done, 0);
    const totals = this.#points.map((other) => other?.total);
    const complete = totals.every((total) => total !== undefined);
    this.#report({
      done,
      unit: point.unit,
      ...sumOfFacts(known),
      ...(complete ? {total: totals.reduce((sum: number, total) => sum + (total ?? 0), 0)} : {}),
    });
  }
}
