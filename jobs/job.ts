import type {Config} from '../lib/config/settings.ts';
import type {Counters} from '../lib/counters.ts';
import type {Effects, Progress} from '../lib/effects.ts';
import type {OptionDeclarations, OptionValues} from '../lib/options.ts';
import type {Reason} from '../lib/schema/reason.ts';
import type {Edit, FileRef} from '../lib/store/manifest-types.ts';
import type {CrawlStore, Snapshot, TaskStore} from '../lib/store/store.ts';

/** The shape that all jobs have: plan, run, next (DESIGN: plan, run, commit). */
export interface Job<O extends OptionDeclarations = OptionDeclarations> {
  readonly name: string;
  /** One sentence, for help. */
  readonly summary: string;
  readonly options: O;
  /** Resources to lock, before anything is read: `crawldb`, `linkdb`, `fetching`, `segment:ID`. */
  locks(options: OptionValues<O>): readonly string[];
  /** Reads and decides; writes nothing. Undefined: there is nothing to do, and the log says why. */
  plan(options: OptionValues<O>, effects: JobEffects): Promise<Plan | undefined>;
  /** Does one task: reads the task's inputs only, writes through `ctx.store` only. */
  run(task: Task, ctx: TaskContext): Promise<TaskResult>;
  /** Pure: the next stage's tasks, or the edit. */
  next(plan: Plan, stage: number, results: readonly TaskResult[]): Next;
  /**
   * Module of the task's code, for jobs whose tasks need a processor each: the executor loads it in worker
   * threads, where its `runTask(task, ctx)` takes the place of `run`. It must not import DuckDB.
   */
  readonly worker?: URL;
}

export interface JobEffects extends Effects {
  readonly store: CrawlStore;
  /** The crawl as of the plan's base manifest. */
  readonly snapshot: Snapshot;
  readonly config: Config;
  readonly run: string;
}

/** Plain data: printed by --dry-run, kept as runs/RUN/plan.json. */
export interface Plan {
  /** Number of the manifest that the plan was made from. */
  readonly base: number;
  /** Milliseconds since the epoch; the only time a job's decisions may use. */
  readonly now: number;
  /** Segment that the run is about, where it is one; for the report. */
  readonly segment?: string;
  readonly tasks: readonly Task[];
  /** Facts that `next` needs. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface Task {
  readonly stage: number;
  readonly part: number;
  readonly inputs: readonly FileRef[];
  /** Plain data. */
  readonly params: Readonly<Record<string, unknown>>;
  /**
   * For tasks that load code of others: what code. A worker thread that has loaded other code is not used, since
   * what a thread has loaded once stays as it was.
   */
  readonly thread?: string;
}

export interface TaskResult {
  readonly files: readonly FileRef[];
  readonly counters: Counters;
  readonly reasons: Partial<Record<Reason, number>>;
  /** Plain data for `next`. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

export type Next = {readonly tasks: readonly Task[]} | {readonly edit: Edit};

export interface TaskContext extends Effects {
  readonly run: string;
  /** Number of this attempt at the task, from 0. */
  readonly attempt: number;
  /** False when another attempt may have taken over; asked before each request. */
  leaseOk(): boolean;
  progress(point: Progress): void;
  readonly store: TaskStore;
  /**
   * In worker threads: the task now works on `key`; null when it is done with it. A thread that takes longer than
   * `limitMs`, or dies, is replaced, and the task runs again with that key in `params.skip`, as a {@link Skip}.
   */
  guard?(key: string | null, limitMs?: number): void;
}

/** A piece of a task that ended its thread: left out at the next attempt, and recorded with the reason. */
export interface Skip {
  readonly key: string;
  readonly reason: 'parse_timeout' | 'parse_failed';
  readonly detail: string;
}

/** Declares a job, keeping the types of its options. */
export function defineJob<const O extends OptionDeclarations>(job: Job<O>): Job<O> {
  return job;
}
