import {Worker} from 'node:worker_threads';
import {CrawlError, type ErrorCode, errorCodes} from '../lib/errors.ts';
import type {StageContext} from './executor.ts';
import type {Skip, Task, TaskResult} from './job.ts';
import type {FromWorker, ToWorker} from './worker-messages.ts';

/**
 * The executor's side of worker threads. A thread that hangs or dies while it works on a guarded piece is replaced,
 * and the task runs again without that piece: one bad page costs one row, never a job.
 */
const maxAttempts = 100; // chosen: so many pieces of one task may end their thread

/** Threads that wait for a task, by module. They don't keep the process alive. */
const idle: Worker[] = [];

/** Runs a task in a thread, again without the piece at fault where one ends the thread. */
export async function runInWorker(module: URL, task: Task, stage: StageContext): Promise<TaskResult> {
  const skips: Skip[] = [];
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    stage.effects.signal.throwIfAborted();
    const outcome = await runOnce(module, {...task, params: {...task.params, skip: skips}}, attempt, stage);
    if ('result' in outcome) return outcome.result;
    skips.push(outcome.skip);
    stage.effects.log('warn', 'task_piece_skipped', {...outcome.skip, stage: task.stage, part: task.part});
  }
  throw new CrawlError(
    'TASK_FAILED',
    `task ${task.stage}-${task.part} lost its thread ${maxAttempts} times`,
    {
      facts: {pieces: skips.map((skip) => skip.key)},
    },
  );
}

type Outcome = {readonly result: TaskResult} | {readonly skip: Skip};

function runOnce(module: URL, task: Task, attempt: number, stage: StageContext): Promise<Outcome> {
  const worker = idle.pop() ?? startWorker();
  worker.ref();
  return new Promise<Outcome>((resolve, reject) => {
    let guarded: string | null = null;
    let watchdog: NodeJS.Timeout | undefined;
    const abort = (): void => worker.postMessage({type: 'abort'} satisfies ToWorker);
    const settle = (keep: boolean): void => {
      clearTimeout(watchdog);
      stage.effects.signal.removeEventListener('abort', abort);
      worker.removeAllListeners();
      if (keep) {
        worker.unref();
        idle.push(worker);
      } else void worker.terminate();
    };
    const lost = (reason: Skip['reason'], detail: string): void => {
      settle(false);
      if (guarded !== null) resolve({skip: {key: guarded, reason, detail}});
      else
        reject(
          new CrawlError('TASK_FAILED', `the thread of task ${task.stage}-${task.part} ended: ${detail}`),
        );
    };
    worker.on('message', (message: FromWorker) => {
      switch (message.type) {
        case 'done':
          settle(true);
          return resolve({result: message.result});
        case 'failed':
          settle(true);
          return reject(toError(message, task));
        case 'log':
          return stage.effects.log(message.level, message.event, message.fields);
        case 'progress':
          return stage.progress(message.point);
        case 'guard': {
          guarded = message.key;
          clearTimeout(watchdog);
          const {limitMs} = message;
          if (guarded !== null && limitMs !== undefined)
            watchdog = setTimeout(() => lost('parse_timeout', `no end after ${limitMs} ms`), limitMs);
          return undefined;
        }
        default:
          throw new CrawlError(
            'INTERNAL',
            `unknown message of a worker: ${JSON.stringify(message satisfies never)}`,
          );
      }
    });
    worker.on('error', (error: unknown) =>
      lost('parse_failed', error instanceof Error ? error.message : String(error)),
    );
    worker.on('exit', (code) => lost('parse_failed', `exit code ${code}`));
    stage.effects.signal.addEventListener('abort', abort, {once: true});
    worker.postMessage({
      type: 'run',
      order: {
        module: module.href,
        task,
        name: {dir: stage.dir, run: stage.run, stage: task.stage, part: task.part, attempt},
      },
    } satisfies ToWorker);
  });
}

function toError(message: Extract<FromWorker, {type: 'failed'}>, task: Task): CrawlError {
  const {code, error, facts} = message;
  if (code !== undefined && code in errorCodes)
    return new CrawlError(code as ErrorCode, String(error), facts === undefined ? {} : {facts});
  return new CrawlError('TASK_FAILED', `task ${task.stage}-${task.part} failed: ${String(error)}`);
}

/**
 * A thread on jobs/worker. From the sources it needs tsx on Node 20, which cannot load a `.ts` worker by itself: the
 * thread registers tsx first. In the built package the module is JavaScript.
 */
function startWorker(): Worker {
  const built = import.meta.url.endsWith('.js');
  const module = new URL(built ? './worker.js' : './worker.ts', import.meta.url);
  if (built) return new Worker(module);
  const tsx = import.meta.resolve('tsx/esm/api');
  const code = `import(${JSON.stringify(tsx)}).then(({register}) => { register(); return import(${JSON.stringify(module.href)}); })`;
  return new Worker(code, {eval: true, execArgv: []});
}
