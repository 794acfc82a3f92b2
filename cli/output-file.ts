import {realpathSync, statSync} from 'node:fs';
import {CrawlError, systemCode} from '../lib/errors.ts';

/** A file that rows are written to. */
export interface OutputFile {
  /** Absolute; of a link its target. */
  readonly path: string;
  /** Written beside and put in place when it is whole; false for a device or pipe, which is written as it stands. */
  readonly whole: boolean;
}

/**
 * What stands under the name given with -o. Only a file is ever replaced: /dev/stdout and other devices, pipes and links
 * stay what they are. Throws NOT_WRITABLE for a folder.
 */
export function outputFile(path: string): OutputFile {
  try {
    const found = statSync(path);
    if (found.isDirectory()) throw notWritable(path, 'EISDIR');
    return found.isFile() ? {path: realpathSync(path), whole: true} : {path, whole: false};
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    return {path, whole: true}; // nothing is there yet, or writing will tell what the matter is
  }
}

/** @param cause a system error, or its code */
export function notWritable(path: string, cause: unknown): CrawlError {
  const code = typeof cause === 'string' ? cause : systemCode(cause);
  return new CrawlError('NOT_WRITABLE', `${path} cannot be written: ${code}`, {
    facts: {path},
    hint: 'Choose another file.',
    cause,
  });
}
