import {workerData} from 'node:worker_threads';
import {CrawlError} from '../errors.ts';
import {journalPieces} from './journal-pieces.ts';
import {payloadDigests} from './journal-seal.ts';
import {markRepeats} from './piece-repeats.ts';
import {PieceSealer} from './piece-sealer.ts';
import type {SealAnswer, SealOrder, SealThreadData} from './seal-messages.ts';

/** The thread in which the journal of a fetch is sealed: requests go on in the other one. One order at a time. */
const {port, folder, segment} = workerData as SealThreadData; // by sealing.ts
/** Opened by the first order that needs it, which is then told if it can't be. */
let sealer: Promise<PieceSealer> | undefined;

port.on('message', (order: SealOrder) => {
  follow(order).then(
    (value) => port.postMessage({value} satisfies SealAnswer),
    (error: unknown) => port.postMessage(failed(error)),
  );
});

async function follow(order: SealOrder): Promise<unknown> {
  switch (order.type) {
    case 'digests':
      return payloadDigests([order.path], order.leastBytes);
    case 'seal':
      sealer ??= PieceSealer.open(folder, segment);
      return (await sealer).seal(order.path, order.held);
    case 'mark':
      return markRepeats(folder, await journalPieces(folder));
  }
}

/** An error as plain data: its class does not pass between threads. */
function failed(error: unknown): SealAnswer {
  if (!(error instanceof CrawlError))
    return {failure: {message: String(error instanceof Error ? error.stack : error)}};
  const {code, message, facts, hint} = error;
  return {failure: {code, message, facts, ...(hint !== undefined && {hint})}};
}
