import type {MessagePort} from 'node:worker_threads';
import type {ErrorCode} from '../errors.ts';
import type {JournalPiece} from './journal-pieces.ts';

/** What a fetch and the thread that seals its journal tell each other: plain data. */
export interface SealThreadData {
  readonly port: MessagePort;
  /** Of the journal. */
  readonly folder: string;
  readonly segment: string;
}

/** Orders, with what their answer holds. */
export interface SealAnswers {
  /** SHA-256 of the payloads of a journal file that are not smaller than this. */
  readonly digests: readonly string[];
  readonly seal: JournalPiece;
  readonly mark: readonly JournalPiece[];
}
export type SealOrder =
  | {readonly type: 'digests'; readonly path: string; readonly leastBytes: number}
  | {readonly type: 'seal'; readonly path: string; readonly held: ReadonlyMap<string, string>}
  | {readonly type: 'mark'};

export type SealAnswer =
  | {readonly value: unknown}
  | {
      readonly failure: {
        readonly message: string;
        readonly code?: ErrorCode;
        readonly facts?: Readonly<Record<string, unknown>>;
        readonly hint?: string;
      };
    };
