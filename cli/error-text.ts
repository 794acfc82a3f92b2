import {CrawlError, systemCode} from '../lib/errors.ts';
import {visible} from './words.ts';

/** Errors of the system and of the program as ours. */
export function asCrawlError(error: unknown): CrawlError {
  if (error instanceof CrawlError) return error;
  const message = error instanceof Error ? error.message : String(error);
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new CrawlError('DISK_FULL', message, {cause: error});
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return new CrawlError('NOT_WRITABLE', message, {cause: error});
    default:
      return new CrawlError('INTERNAL', message, {cause: error});
  }
}

/** `crawl: MESSAGE` and the hint; with `debug` the stacks of the error and its causes. */
export function errorText(error: CrawlError, debug: boolean): string {
  const lines = [`crawl: ${error.message.split('\n').map(visible).join('\n  ')}`, `  ${error.hint}`];
  if (debug) {
    lines.push(`  (${error.code})`);
    for (let at: unknown = error; at instanceof Error; at = at.cause) lines.push(at.stack ?? at.message);
  }
  return `${lines.join('\n')}\n`;
}

/** One JSON object on one line. */
export function errorJson(error: CrawlError, exit: number, debug: boolean): string {
  const {code, message, hint, facts} = error;
  return `${JSON.stringify(
    {error: {code, message, hint, exit, facts, ...(debug ? {stack: error.stack} : {})}},
    (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
  )}\n`;
}
