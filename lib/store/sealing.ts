import {MessageChannel, type MessagePort, type Worker} from 'node:worker_threads';
import {CrawlError} from '../errors.ts';
import {startThread} from '../thread.ts';
import type {SealAnswer, SealAnswers, SealOrder, SealThreadData} from './seal-messages.ts';

/**
 * Bounded like the threads of a parse: with a bound V8 lets less garbage gather. Sealing needs a batch and a row group of each
 * table, some 60 MB, and 96 bytes a payload, which are no part of it.
 */
const resourceLimits = {maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 16};

/**
 * A thread that seals the journal of a fetch, so that no request waits for it: a row group takes it 30 to 150 ms, in
 * which nothing else would run. It is asked for one thing at a time, and must be closed.
 */
export class SealThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #lost: CrawlError | undefined;
  #onLost: (error: CrawlError) => void = () => undefined;

  constructor(folder: string, segment: string) {
    const {port1, port2} = new MessageChannel();
    this.#port = port1;
    const workerData: SealThreadData = {port: port2, folder, segment};
    this.#worker = startThread('./seal-thread', import.meta.url, {
      resourceLimits,
      workerData,
      transferList: [port2],
    });
    this.#worker.on('error', (error) => this.#fail(String(error)));
    this.#worker.on('exit', (code) => this.#fail(`exit code ${code}`));
  }

  /** @throws CrawlError what the thread has failed with, or that it is gone */
  ask<O extends SealOrder>(order: O): Promise<SealAnswers[O['type']]> {
    return new Promise((resolve, reject) => {
      if (this.#lost !== undefined) {
        reject(this.#lost);
        return;
      }
      this.#onLost = reject;
      this.#port.once('message', (answer: SealAnswer) => {
        if ('value' in answer)
          resolve(answer.value as SealAnswers[O['type']]); // as seal-thread.ts answers
        else reject(toError(answer.failure));
      });
      this.#port.postMessage(order);
    });
  }

  async close(): Promise<void> {
    this.#port.close();
    await this.#worker.terminate();
  }

  #fail(detail: string): void {
    this.#lost ??= new CrawlError('TASK_FAILED', `the thread that seals the journal ended: ${detail}`);
    this.#onLost(this.#lost);
  }
}

function toError({code, message, facts, hint}: Extract<SealAnswer, {failure: unknown}>['failure']): Error {
  if (code === undefined) return new Error(message);
  return new CrawlError(code, message, {...(facts && {facts}), ...(hint !== undefined && {hint})});
}
