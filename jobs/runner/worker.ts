import {parentPort} from 'node:worker_threads';
import {CrawlError} from '../../lib/errors.ts';
import {AttemptStore} from '../../lib/store/task-store.ts';
import {realEffects} from '../effects.ts';
import type {Task, TaskContext, TaskResult} from '../job.ts';
import type {FromWorker, ToWorker, WorkOrder} from './worker-messages.ts';
import {WorkWatch} from './worker-watch.ts';

/** A worker thread of the embedded executor: does one task after another. Never loads DuckDB. */
if (parentPort === null) throw new Error('jobs/runner/worker.ts runs as a worker thread only');
const port = parentPort;
const send = (message: FromWorker): void => port.postMessage(message);
let running = new AbortController();

port.on('message', (message: ToWorker) => {
  if (message.type === 'abort') return running.abort(new CrawlError('INTERRUPTED', 'stopped by a signal'));
  running = new AbortController();
  void runOrder(message.order, running.signal).then(send, (error: unknown) =>
    send(
      error instanceof CrawlError
        ? {
            type: 'failed',
            error: error.message,
            code: error.code,
            facts: error.facts,
            ...(error.hint !== undefined && {hint: error.hint}),
          }
        : {type: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error)},
    ),
  );
});

async function runOrder(
  {module, task, name, watch: memory}: WorkOrder,
  signal: AbortSignal,
): Promise<FromWorker> {
  const {runTask} = (await import(module)) as {runTask(task: Task, ctx: TaskContext): Promise<TaskResult>}; // the job's declared worker module
  const store = new AttemptStore(name);
  const watch = new WorkWatch(memory);
  const context: TaskContext = {
    ...realEffects((level, event, fields) => send({type: 'log', level, event, fields}), signal),
    run: name.run,
    attempt: name.attempt,
    leaseOk: () => true,
    progress: (point) => send({type: 'progress', point}),
    guard: (key, limitMs) => watch.set(key, limitMs),
    store,
  };
  try {
    return {type: 'done', result: await runTask(task, context)};
  } finally {
    await store.close();
  }
}
