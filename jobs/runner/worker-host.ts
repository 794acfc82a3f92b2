import type {Worker} from 'node:worker_threads';
import {CrawlError, type ErrorCode, errorCodes} from '../../lib/errors.ts';
import {startThread} from '../../lib/thread.ts';
import type {Skip, Task, TaskResult} from '../job.ts';
import type {StageContext} from './executor.ts';
import type {FromWorker, ToWorker} from './worker-messages.ts';
import {lookAfter, WorkWatch} from './worker-watch.ts';

/**
 * The executor's side of worker threads. A thread that hangs or dies while it works on a guarded piece is replaced,
 * and the task runs again without that piece: one bad page costs one row, never a job.
 */
const maxAttempts = 100; // chosen: so many pieces of one task may end their thread

/** Threads that wait for a task, with the code they have loaded. They don't keep the process alive. */
const idle: {readonly worker: Worker; readonly thread: string}[] = [];

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
  const thread = task.thread ?? '';
  const worker = takeIdle(thread) ?? watchIdle(startWorker());
  worker.ref();
  return new Promise<Outcome>((resolve, reject) => {
    const watch = new WorkWatch();
    const abort = (): void => worker.postMessage({type: 'abort'} satisfies ToWorker);
    const settle = (keep: boolean): void => {
      endLooks();
      stage.effects.signal.removeEventListener('abort', abort);
      worker.off('message', onMessage).off('error', onError).off('exit', onExit);
      if (keep) {
        worker.unref();
        idle.push({worker, thread});
      } else void worker.terminate();
    };
    const lost = (reason: Skip['reason'], detail: string, piece = watch.piece): void => {
      settle(false);
      if (piece !== null) resolve({skip: {key: piece.key, reason, detail}});
      else
        reject(
          new CrawlError('TASK_FAILED', `the thread of task ${task.stage}-${task.part} ended: ${detail}`),
        );
    };
    const endLooks = lookAfter(watch, (piece) =>
      lost('parse_timeout', `no end after ${piece.limitMs} ms`, piece),
    );
    const onMessage = (message: FromWorker): void => {
      if (message.type === 'done') {
        settle(true);
        resolve({result: message.result});
      } else if (message.type === 'failed') {
        settle(true);
        reject(toError(message, task));
      } else if (message.type === 'log') stage.effects.log(message.level, message.event, message.fields);
      else stage.progress(message.point);
    };
    const onError = (error: unknown): void =>
      lost('parse_failed', error instanceof Error ? error.message : String(error));
    const onExit = (code: number): void => lost('parse_failed', `exit code ${code}`);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    stage.effects.signal.addEventListener('abort', abort, {once: true});
    worker.postMessage({
      type: 'run',
      order: {
        module: module.href,
        task,
        name: {dir: stage.dir, run: stage.run, stage: task.stage, part: task.part, attempt},
        watch: watch.memory,
      },
    } satisfies ToWorker);
  });
}

function toError(message: Extract<FromWorker, {type: 'failed'}>, task: Task): CrawlError {
  const {code, error, facts, hint} = message;
  if (code !== undefined && code in errorCodes)
    return new CrawlError(code as ErrorCode, String(error), {
      ...(facts !== undefined && {facts}),
      ...(hint !== undefined && {hint}),
    });
  return new CrawlError('TASK_FAILED', `task ${task.stage}-${task.part} failed: ${String(error)}`);
}

/**
 * A thread that waits and has loaded this code or none. Those with the code of others are ended when another is asked
 * for: that is of a former state of a file, or of files that are not used any more.
 */
function takeIdle(thread: string): Worker | undefined {
  const same = idle.findLastIndex((one) => one.thread === thread);
  const at = same === -1 && thread !== '' ? idle.findLastIndex((one) => one.thread === '') : same;
  const found = at === -1 ? undefined : idle.splice(at, 1)[0]!.worker;
  for (const other of thread === '' ? [] : idle.filter((one) => one.thread !== '' && one.thread !== thread)) {
    idle.splice(idle.indexOf(other), 1);
    void other.worker.terminate();
  }
  return found;
}

/** A thread that ends while it waits is not handed out again. */
function watchIdle(worker: Worker): Worker {
  return worker.once('exit', () => {
    const at = idle.findIndex((one) => one.worker === worker);
    if (at >= 0) idle.splice(at, 1);
  });
}

/**
 * Memory of a thread. The old generation is bounded for two reasons: a page that needs more is one failed row and no
 * end of the process; and with a bound below 2 GiB V8 lets less garbage gather. Measured 2026-11, peak of the whole
 * process with two parsing threads: bounds of 1, 1.5, 2 and 4 GiB gave 430, 437, 603 and 602 MB; CPU 30, 26, 27 and
 * 26 s, two or three runs each on a busy machine.
 */
const resourceLimits = {maxOldGenerationSizeMb: 1536, maxYoungGenerationSizeMb: 24};

function startWorker(): Worker {
  return startThread('./worker', import.meta.url, {resourceLimits});
}
