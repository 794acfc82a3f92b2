/**
 * Errors of the job: what stops a command. (Failures of the web are rows with a reason, not errors.)
 * All codes are listed here with sentence, exit code and advice; docs/errors.md is made from the list.
 */
export interface ErrorFacts {
  /** One sentence for docs/errors.md. */
  readonly doc: string;
  /** Exit code of the command: see cli/exit-codes.ts. */
  readonly exit: 1 | 2 | 4 | 5 | 6;
  /** What to do. Shown under the message, unless the error brings a hint of its own. */
  readonly advice: string;
}

export const errorCodes = {
  USAGE: {
    doc: 'The command line is wrong: an unknown option, a missing or malformed value.',
    exit: 2,
    advice: 'See: crawl COMMAND --help',
  },
  CONFIG_INVALID: {
    doc: 'crawl.yaml, an environment variable or a flag has an unknown key or a bad value.',
    exit: 2,
    advice: 'Correct the named line; crawl config shows all values.',
  },
  CREDENTIAL_UNREADABLE: {
    doc: 'A variable or file that holds a credential (section credentials) is missing, empty or malformed.',
    exit: 2,
    advice: 'Set the variable, or correct the file; what they hold is never shown.',
  },
  URL_POLICY_CHANGED: {
    doc: 'The settings of url differ from those by which the URLs of this crawl were normalized.',
    exit: 2,
    advice: 'Put the settings back, or give all URLs their new form with: crawl rekey',
  },
  CRAWL_NOT_FOUND: {
    doc: 'No crawl: neither --crawl, nor CRAWL_DIR, nor a crawl.yaml upwards of this folder.',
    exit: 2,
    advice: 'Make one with: crawl init DIR',
  },
  CRAWL_EXISTS: {
    doc: 'There is a crawl in that folder already.',
    exit: 2,
    advice: 'Use it with --crawl DIR, or choose another folder.',
  },
  CONTACT_MISSING: {
    doc: 'The user agent has no contact (URL or e-mail), and a fetch would leave this machine.',
    exit: 2,
    advice:
      'Set agent.contact in crawl.yaml, CRAWL_AGENT_CONTACT, or --contact: people whose servers you visit must be able to reach you.',
  },
  SEGMENT_UNKNOWN: {doc: 'No segment of that name.', exit: 2, advice: 'crawl status lists the segments.'},
  SEGMENT_STATE: {
    doc: 'The segment is not in the state that the command needs.',
    exit: 2,
    advice: 'crawl status shows the state of each segment.',
  },
  PARSE_UNKNOWN: {
    doc: 'No segment has a parse of that name.',
    exit: 2,
    advice: 'crawl parse --list shows the parses.',
  },
  PARSE_PARTIAL: {
    doc: 'The parse has only captures that a condition chose, so it cannot stand for its segments.',
    exit: 2,
    advice: 'Parse the whole segments under that name: crawl parse --as NAME',
  },
  PARSE_IN_USE: {
    doc: 'Segments show the parse, or the crawldb has taken its links, so it cannot be removed or replaced.',
    exit: 2,
    advice: 'Make another one current and apply it: crawl parse --use NAME && crawl updatedb',
  },
  HOST_UNKNOWN: {
    doc: 'The crawl has not heard of that host.',
    exit: 2,
    advice: 'crawl sql "SELECT url_host_name FROM hostdb" lists the hosts.',
  },
  INPUT_UNREADABLE: {
    doc: 'A file given to the command cannot be read.',
    exit: 2,
    advice: 'Check its name and permissions.',
  },
  EXTRACTOR_INVALID: {
    doc: 'An extractor cannot be loaded, or declares what cannot be.',
    exit: 2,
    advice:
      'docs/extractors.md tells what an extractor is; crawl check parse FILE --with EXTRACTOR tries one.',
  },
  QUERY_FAILED: {
    doc: 'DuckDB refused the query, or it failed while running.',
    exit: 1,
    advice: 'The message is DuckDB’s own.',
  },
  RESULT_INCOMPLETE: {
    doc: 'A query failed while its rows were being read; the rows so far are not the whole answer.',
    exit: 1,
    advice: 'Run it again; crawl verify checks the files.',
  },
  MANIFEST_INVALID: {
    doc: 'A manifest is torn, or does not fit its parent.',
    exit: 1,
    advice: 'The manifest before it is whole: crawl status --as-of N shows it.',
  },
  FILE_MISSING: {
    doc: 'A file that the manifest names is not there.',
    exit: 1,
    advice:
      'crawl verify names all such files. Restore them from a copy of the crawl folder, or go back: crawl rollback.',
  },
  FILE_DAMAGED: {
    doc: 'A file is not what the manifest says: other size, torn, or not Parquet.',
    exit: 1,
    advice:
      'crawl verify names all such files. Restore them from a copy of the crawl folder, or go back: crawl rollback.',
  },
  VERSION_NEWER: {
    doc: 'A file or manifest was written by a newer version of the program.',
    exit: 1,
    advice: 'Use that version, or a newer one.',
  },
  LOCKED: {
    doc: 'Another running command holds what this one needs.',
    exit: 4,
    advice: 'Come back when it is done.',
  },
  COMMIT_CONFLICT: {
    doc: 'Other commands changed what this one had read, three times in a row.',
    exit: 1,
    advice: 'Run it again.',
  },
  DISK_FULL: {
    doc: 'No space left on the disk; nothing was changed.',
    exit: 1,
    advice: 'Make room and run it again.',
  },
  DISK_LOW: {
    doc: 'Less free space than storage.min_free; the job stopped before the disk was full.',
    exit: 5,
    advice: 'Make room and run it again: it goes on where it stopped.',
  },
  NOT_WRITABLE: {
    doc: 'The crawl folder cannot be written to.',
    exit: 1,
    advice: 'Check permissions and mount options.',
  },
  OUT_OF_MEMORY: {
    doc: 'DuckDB ran out of its memory limit and could not spill.',
    exit: 1,
    advice: 'Raise storage.memory, or make room in the spill folder.',
  },
  TASK_FAILED: {
    doc: 'A task of the job failed; nothing was changed.',
    exit: 1,
    advice: 'The cause is in the message; run it again.',
  },
  INTERRUPTED: {doc: 'Stopped by a signal.', exit: 1, advice: 'Run it again: it goes on where it stopped.'},
  FINDINGS: {
    doc: 'A check found something wrong with the data.',
    exit: 6,
    advice: 'The findings are in the output.',
  },
  INTERNAL: {
    doc: 'A defect in the program.',
    exit: 1,
    advice: 'Please report it with the output of --debug.',
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>;
export type ErrorCode = keyof typeof errorCodes;

export class CrawlError extends Error {
  readonly code: ErrorCode;
  /** The facts, for scripts: they are in the JSON form of the error. */
  readonly facts: Readonly<Record<string, unknown>>;
  readonly hint: string;

  /**
   * @param message what happened, to which thing; ends without a full stop
   * @param options.hint advice for this very case, in place of the general one
   */
  constructor(
    code: ErrorCode,
    message: string,
    options: {facts?: Readonly<Record<string, unknown>>; hint?: string; cause?: unknown} = {},
  ) {
    super(message, options.cause === undefined ? undefined : {cause: options.cause});
    this.name = 'CrawlError';
    this.code = code;
    this.facts = options.facts ?? {};
    this.hint = options.hint ?? errorCodes[code].advice;
  }

  get exit(): ErrorFacts['exit'] {
    return errorCodes[this.code].exit;
  }
}

/** The error code that Node gives to system errors, or undefined. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
