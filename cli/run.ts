import {CrawlError, errorCodes} from '../lib/errors.ts';
import {nearest} from '../lib/nearest.ts';
import type {OptionDeclarations} from '../lib/options.ts';
import {findCommand, parseArguments} from './arguments.ts';
import type {Command, Io} from './command.ts';
import {type CommandEntry, commands} from './commands/index.ts';
import {makeContext} from './context.ts';
import {asCrawlError, errorJson, errorText} from './error-text.ts';
import {exitCodeOf, exitCodes} from './exit-codes.ts';
import {globalOptions, globalsOf} from './globals.ts';
import {commandHelp, overviewHelp, usageLine} from './help.ts';
import {Output, PipeClosed} from './output.ts';

/**
 * The whole program as a function: arguments in, text on the streams of `io`, exit code out. Nothing is started
 * before all arguments are good.
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const out = new Output(io.stdout, io.env);
  const err = new Output(io.stderr, io.env);
  // Read loosely here, since errors of the arguments are shown too
  const json = argv.includes('--json');
  const debug = argv.includes('--debug');
  const signal = io.signal ?? io.effects?.signal ?? new AbortController().signal;
  let code: number;
  try {
    code = await dispatch(argv, io, out, err);
    await out.flush();
  } catch (error) {
    if (error instanceof PipeClosed) code = exitCodes.done;
    else {
      code = exitCodeOf(error, signal);
      const ours =
        signal.aborted && signal.reason instanceof CrawlError ? signal.reason : asCrawlError(error);
      err.tell(json ? errorJson(ours, code, debug) : errorText(ours, debug));
    }
  }
  await err.flush().catch(() => undefined); // nobody is left to be told
  return code;
}

async function dispatch(argv: readonly string[], io: Io, out: Output, err: Output): Promise<number> {
  const {command: word, rest} = findCommand(argv, globalOptions);
  if (asksFor(rest, '--version', '-V')) {
    const {programVersion} = await import('../lib/version.ts');
    await out.line(`crawl ${programVersion}`);
    return exitCodes.done;
  }
  if (word === undefined) return withoutCommand(rest, out, err);
  if (word === 'help') return showHelp(rest, out);
  const command = await loadCommand(word);
  const advice = `crawl ${command.name} --help`;
  if (asksFor(rest, '--help', '-h')) {
    await out.write(commandHelp(command));
    return exitCodes.done;
  }
  const parsed = parseArguments(rest, {...command.options, ...globalOptions}, advice);
  checkPositionals(command, parsed.positionals, advice);
  const context = await makeContext(io, globalsOf(parsed), out, err);
  // The parser has made a value of the declared kind for each declared option
  const options = parsed.values as Parameters<Command['run']>[0]['options'];
  try {
    return (await command.run({options, positionals: parsed.positionals}, context)) ?? exitCodes.done;
  } catch (error) {
    throw withAdvice(error, advice);
  }
}

/** Jobs do not know by which command they run: what they say of wrong options gets its help named here. */
function withAdvice(error: unknown, advice: string): unknown {
  if (!(error instanceof CrawlError) || error.hint !== errorCodes.USAGE.advice) return error;
  return new CrawlError(error.code, error.message, {
    facts: error.facts,
    hint: `See: ${advice}`,
    cause: error,
  });
}

async function withoutCommand(rest: readonly string[], out: Output, err: Output): Promise<number> {
  if (asksFor(rest, '--help', '-h')) {
    await out.write(overviewHelp(commands));
    return exitCodes.done;
  }
  parseArguments(rest, globalOptions, 'crawl --help');
  err.tell(overviewHelp(commands));
  return exitCodes.usage;
}

/** `crawl help`, `crawl help COMMAND`. */
async function showHelp(rest: readonly string[], out: Output): Promise<number> {
  const {command: word} = findCommand(rest, globalOptions);
  await out.write(word === undefined ? overviewHelp(commands) : commandHelp(await loadCommand(word)));
  return exitCodes.done;
}

async function loadCommand(word: string): Promise<Command> {
  const entry = commands.find(({name}: CommandEntry) => name === word);
  if (entry) return (await entry.load()).command;
  const names = commands.map(({name}) => name);
  const near = nearest(word, names);
  throw new CrawlError(
    'USAGE',
    `unknown command ${word}${near === undefined ? '' : `; did you mean ${near}?`}`,
    {
      facts: {command: word},
      hint: `Commands: ${names.join(' ')}`,
    },
  );
}

/** Help and version win over everything else on the line, so that they work in front of mistakes too. */
function asksFor(words: readonly string[], long: string, short: string): boolean {
  const end = words.indexOf('--');
  return (end < 0 ? words : words.slice(0, end)).some((word) => word === long || word === short);
}

function checkPositionals(
  command: Command<OptionDeclarations>,
  given: readonly string[],
  advice: string,
): void {
  const {positionals} = command;
  const missing = positionals.find(({required}, index) => required && given[index] === undefined);
  if (missing)
    throw new CrawlError('USAGE', `${missing.name} is missing: ${usageLine(command)}`, {
      hint: `See: ${advice}`,
    });
  if (given.length > positionals.length && positionals.at(-1)?.many !== true)
    throw new CrawlError('USAGE', `unexpected argument ${given[positionals.length]}: ${usageLine(command)}`, {
      hint: `See: ${advice}`,
    });
}
