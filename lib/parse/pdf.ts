import {MessageChannel, type MessagePort, receiveMessageOnPort, type Worker} from 'node:worker_threads';
import {startThread} from '../thread.ts';
import type {PdfBounds, PdfFacts, PdfMessage, PdfOrder, PdfPage, PdfThreadData} from './pdf-messages.ts';

export interface PdfLimits extends PdfBounds {
  readonly maxText: number;
  readonly maxLinks: number;
}

/** What could be read of a PDF. */
export interface ReadPdf {
  /** Undefined: it could not be opened. */
  readonly facts: PdfFacts | undefined;
  readonly pages: readonly PdfPage[];
  /** There were more pages than were wanted. */
  readonly cut: boolean;
  /** Why the reading ended before its end. */
  readonly failure?: {readonly reason: 'parse_failed' | 'parse_timeout'; readonly detail: string};
}

/**
 * Reads a PDF in a thread of its own and waits for it: parsers answer at once, and the thread is what can be ended.
 * Pages that came before the end of time or memory are kept.
 */
export function readPdf(bytes: Uint8Array, limits: PdfLimits): ReadPdf {
  const thread = idleThread(limits.memory);
  const {maxText, maxLinks, timeMs} = limits;
  // A copy of its own: the body may lie in memory that others use.
  thread.port.postMessage({bytes: new Uint8Array(bytes), maxText, maxLinks} satisfies PdfOrder);
  const pages: PdfPage[] = [];
  let facts: PdfFacts | undefined;
  const end = performance.now() + timeMs;
  for (;;) {
    const told = Atomics.load(thread.told, 0);
    for (
      let got = receiveMessageOnPort(thread.port);
      got !== undefined;
      got = receiveMessageOnPort(thread.port)
    ) {
      const message = got.message as PdfMessage; // by pdf-thread.ts
      if (message.type === 'facts') facts = message.facts;
      else if (message.type === 'page') pages.push(message.page);
      else if (message.type === 'done') return {facts, pages, cut: message.cut};
      else
        return {
          facts,
          pages,
          cut: false,
          failure: {reason: 'parse_failed', detail: `pdf: ${message.detail}`},
        };
    }
    const left = end - performance.now();
    if (left <= 0 || Atomics.wait(thread.told, 0, told, left) === 'timed-out') {
      endThread(thread);
      const detail = `pdf: no end after ${Math.round(timeMs)} ms`;
      return {facts, pages, cut: false, failure: {reason: 'parse_timeout', detail}};
    }
  }
}

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly told: Int32Array;
  readonly memory: number;
}

/** The one thread, kept for the next file. It does not keep the process alive. */
let running: Thread | undefined;

function idleThread(memory: number): Thread {
  if (running !== undefined && running.memory !== memory) endThread(running);
  running ??= start(memory);
  return running;
}

/** Measured 2026-11: PDFium's glue takes less than 20 MB of V8's memory; what it reads lies in its own. */
const resourceLimits = {maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16};

function start(memory: number): Thread {
  const {port1, port2} = new MessageChannel();
  const told = new Int32Array(new SharedArrayBuffer(4));
  const worker = startThread('./pdf-thread', import.meta.url, {
    resourceLimits,
    workerData: {port: port2, told, maxMemory: memory} satisfies PdfThreadData,
    transferList: [port2],
  });
  worker.unref();
  // Whoever waits sees the end of time; an error without a listener would end the process.
  worker.on('error', () => undefined);
  const thread = {worker, port: port1, told, memory};
  worker.once('exit', () => {
    if (running === thread) running = undefined;
    port1.close();
  });
  return thread;
}

function endThread(thread: Thread): void {
  if (running === thread) running = undefined;
  void thread.worker.terminate();
}
