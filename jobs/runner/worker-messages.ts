import type {LogLevel, Progress} from '../../lib/effects.ts';
import type {AttemptName} from '../../lib/store/task-store.ts';
import type {Task, TaskResult} from '../job.ts';

/** What the executor and its worker threads tell each other: plain data. */
export interface WorkOrder {
  /** URL of the module whose `runTask` does the task. */
  readonly module: string;
  readonly task: Task;
  readonly name: AttemptName;
  /** Where the thread says what it works on. */
  readonly watch: SharedArrayBuffer;
}

export type ToWorker = {readonly type: 'run'; readonly order: WorkOrder} | {readonly type: 'abort'};

export type FromWorker =
  | {readonly type: 'done'; readonly result: TaskResult}
  | {
      readonly type: 'failed';
      readonly error: unknown;
      readonly code?: string;
      readonly facts?: Readonly<Record<string, unknown>>;
      readonly hint?: string;
    }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly event: string;
      readonly fields: Readonly<Record<string, unknown>> | undefined;
    }
  | {readonly type: 'progress'; readonly point: Progress};
