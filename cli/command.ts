import type {Config, ConfigWithOrigins} from '../jobs/config/open.ts';
import type {Job, Plan} from '../jobs/job.ts';
import type {RunReport} from '../jobs/runner/run-job.ts';
import type {Effects} from '../lib/effects.ts';
import type {OptionDeclarations, OptionValues} from '../lib/options.ts';
import type {ExitCode} from './exit-codes.ts';
import type {Output} from './output.ts';

/** What `run` gets of the process, so that tests can give it something else. */
export interface Io {
  readonly stdout: NodeJS.WritableStream & {readonly isTTY?: boolean; readonly columns?: number};
  readonly stderr: NodeJS.WritableStream & {readonly isTTY?: boolean; readonly columns?: number};
  readonly stdin: NodeJS.ReadableStream & {readonly isTTY?: boolean};
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborts on the first SIGINT or SIGTERM. */
  readonly signal?: AbortSignal;
  /** In place of the real ones; `log` and `signal` of these are used too. */
  readonly effects?: Effects;
}

export interface Positional {
  /** As in help: `URL`, `FILE`. */
  readonly name: string;
  readonly doc: string;
  /** At least one must be given. */
  readonly required?: true;
  /** Any number may be given; only for the last one. */
  readonly many?: true;
}

/** A command: declared as data, from which parser, help and docs/cli.md come. */
export interface Command<O extends OptionDeclarations = OptionDeclarations> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** Further paragraphs of help. */
  readonly details?: string;
  readonly examples?: readonly (readonly [line: string, meaning: string])[];
  readonly options: O;
  readonly positionals: readonly Positional[];
  /** Resolves to the exit code; `done` if undefined. Throws for everything that is an error. */
  run(args: CommandArguments<O>, context: CommandContext): Promise<ExitCode | undefined>;
}

export interface CommandArguments<O extends OptionDeclarations> {
  readonly options: OptionValues<O>;
  readonly positionals: readonly string[];
}

/** The global options. */
export interface Globals {
  /** --crawl, where it is given. */
  readonly crawl: string | undefined;
  readonly quiet: boolean;
  readonly json: boolean;
  readonly debug: boolean;
  /** --contact and --set: settings given on the command line. */
  readonly settings: readonly {
    readonly flag: string;
    readonly key: string;
    readonly texts: readonly string[];
  }[];
}

export interface OpenedCrawl extends ConfigWithOrigins {
  /** Absolute path. */
  readonly dir: string;
  readonly config: Config;
}

export interface JobSettings {
  /** Takes the plan, and nothing is done. */
  readonly dryRun?: (plan: Plan | undefined) => void;
  /** The log shows warnings and errors only: the command tells the rest in its own line. */
  readonly terse?: boolean;
}

export interface CommandContext {
  readonly io: Io;
  readonly globals: Globals;
  readonly effects: Effects;
  /** stdout: data only. */
  readonly out: Output;
  /** A message on stderr; not with --quiet. With --json a line `{"event":"message","text":…}`. */
  say(text: string): void;
  /** Folder and configuration of the crawl that --crawl, CRAWL_DIR or this folder mean. Throws CRAWL_NOT_FOUND. */
  crawl(): Promise<OpenedCrawl>;
  /** Runs a job on that crawl, with progress on a terminal. */
  runJob<O extends OptionDeclarations>(
    job: Job<O>,
    options: OptionValues<O>,
    settings?: JobSettings,
  ): Promise<RunReport>;
}

/** Declares a command, keeping the types of its options. */
export function defineCommand<const O extends OptionDeclarations>(command: Command<O>): Command<O> {
  return command;
}
