import {isIP} from 'node:net';
import {systemCode} from '../errors.ts';
import type {Reason} from '../schema/reason.ts';

/**
 * A failure inside an exchange. It never leaves lib/http: the exchange ends with its reason. It has no stack, which
 * nobody would see, and which is half of the cost of a host that does not answer.
 */
export class ExchangeFailure extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, detail: string) {
    const {stackTraceLimit} = Error;
    Error.stackTraceLimit = 0;
    super(detail);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'ExchangeFailure';
    this.reason = reason;
  }
}

/** An error's own words, with its code where it has one that the words don't show. */
export function wordsOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const code = systemCode(error);
  return code === undefined || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

/** Errors of this machine, which no host is to be charged with: no descriptor, port or memory is left. */
const ownErrors: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM']);

/** Without IPv6 here, every such address is EADDRNOTAVAIL: that is an address which does not answer, as others. */
export function isOwnFault(error: Error & {readonly address?: unknown}): boolean {
  const code = systemCode(error) ?? '';
  return (
    ownErrors.has(code) &&
    !(code === 'EADDRNOTAVAIL' && typeof error.address === 'string' && isIP(error.address) === 6)
  );
}
