import type {Reason} from '../schema/reason.ts';
import type {Extractor, ExtractPage} from './contract.ts';
import {type Declaration, readsType} from './declaration.ts';
import {checkRows} from './rows.ts';

/** An extractor that is ready to run. */
export interface LoadedExtractor {
  readonly declaration: Declaration;
  /** Name of the file without folders, to find its lines in the stack of an error. */
  readonly file: string;
  readonly extract: Extractor['extract'];
}

export interface Extracted {
  readonly status: 'success' | 'partial' | 'failed' | 'skipped';
  readonly reason: Reason | null;
  readonly error: string | null;
  readonly rows: readonly Record<string, unknown>[];
}

/** Runs an extractor on a page. What it throws is an outcome, never an error of ours; only a hang is left to others. */
export function runExtractor({declaration, file, extract}: LoadedExtractor, page: ExtractPage): Extracted {
  try {
    const type = page.contentType;
    if (type === null || !readsType(declaration.types, type))
      return {status: 'skipped', reason: 'extract_type', error: type, rows: []};
    const {rows, cut} = checkRows(extract(page), declaration);
    if (!cut) return {status: 'success', reason: null, error: null, rows};
    return {status: 'partial', reason: 'extract_limit', error: `cut after ${rows.length} rows`, rows};
  } catch (error) {
    return {status: 'failed', reason: 'extract_failed', error: errorText(error, file), rows: []};
  }
}

/** Characters of an error that are kept. */
const maxError = 1000;

/** Message of an error, with the place in the extractor's file that it comes from. */
function errorText(error: unknown, file: string): string {
  try {
    return describeError(error, file);
  } catch {
    return 'threw what cannot be shown'; // an object without a text, or whose message throws again
  }
}

function describeError(error: unknown, file: string): string {
  if (!(error instanceof Error)) return `threw ${String(error)}`.slice(0, maxError);
  const line = error.stack
    ?.split('\n')
    .find((one) => /^\s+at /.test(one) && /[/\\]/.test(one) && one.includes(`/${file}:`));
  const place = line === undefined ? undefined : /:(\d+):\d+\)?\s*$/.exec(line)?.[1];
  const text = error.message === '' ? error.name : error.message;
  return `${text.slice(0, maxError)}${place === undefined ? '' : ` (${file}:${place})`}`;
}
