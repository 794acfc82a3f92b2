import {Parser} from 'yargs/helpers';
import {CrawlError} from '../lib/errors.ts';
import {defaultValue, type KindValue, parseTexts} from '../lib/kinds.ts';
import {nearest} from '../lib/nearest.ts';
import type {OptionDeclaration, OptionDeclarations} from '../lib/options.ts';

/**
 * Arguments to values. yargs-parser (the parser of yargs) takes the line apart; every value then goes through
 * the parser of its kind, since yargs by itself makes NaN of `--top-n abc`, a list of a repeated option, and
 * false of `--quiet=abc`.
 */
export interface ParsedArguments {
  /** By declared name; defaults filled in. */
  readonly values: Readonly<Record<string, KindValue | undefined>>;
  /** Texts of the options that were given, by declared name. */
  readonly given: Readonly<Record<string, readonly string[]>>;
  readonly positionals: readonly string[];
}

/** `topN` → `top-n`. */
export function optionName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `--no-parse` for a flag that is on by default, else `--parse`. */
export function flagOf(name: string, declaration: OptionDeclaration): string {
  const negated = declaration.kind === 'flag' && declaration.default === true;
  return `--${negated ? 'no-' : ''}${optionName(name)}`;
}

/**
 * The first word that is no option and no value of a global option, and the arguments without it.
 * Undefined if there is none.
 */
export function findCommand(
  argv: readonly string[],
  globals: OptionDeclarations,
): {command: string | undefined; rest: string[]} {
  const valued = new Set<string>();
  for (const [name, declaration] of Object.entries(globals)) {
    if (declaration.kind === 'flag') continue;
    valued.add(`--${optionName(name)}`);
    if (declaration.short) valued.add(`-${declaration.short}`);
  }
  for (let at = 0; at < argv.length && argv[at] !== '--'; at++) {
    const word = argv[at]!;
    if (valued.has(word)) at++;
    else if (!word.startsWith('-') || word === '-')
      return {command: word, rest: [...argv.slice(0, at), ...argv.slice(at + 1)]};
  }
  return {command: undefined, rest: [...argv]};
}

/** Values of all options, all checked. Throws USAGE for the first thing that is wrong. */
export function parseArguments(
  argv: readonly string[],
  declarations: OptionDeclarations,
  advice: string,
): ParsedArguments {
  const usage = (message: string) => new CrawlError('USAGE', message, {hint: `See: ${advice}`});
  const names = new Map<string, string>(); // as on the command line → as declared
  const negations = new Map<string, string>();
  const alias: Record<string, string> = {};
  for (const [name, declaration] of Object.entries(declarations)) {
    names.set(optionName(name), name);
    if (declaration.kind === 'flag') negations.set(`no-${optionName(name)}`, name);
    if (declaration.short) alias[optionName(name)] = declaration.short;
  }
  const isFlag = (name: string) => declarations[name]?.kind === 'flag';
  const flags = [...names].filter(([, name]) => isFlag(name)).map(([flag]) => flag);
  for (const word of argv) {
    if (word === '--') break;
    if (positionalsOption.test(word)) throw usage(unknownOption('_', []));
    const match = /^--?([^=]+)=/.exec(word);
    if (match && (flags.includes(match[1]!) || negations.has(match[1]!)))
      throw usage(`--${match[1]} takes no value: ${word}`);
  }

  const parsed = Parser.detailed(argv.map(keepComment), {
    alias,
    boolean: [...flags, ...negations.keys()],
    string: [...names].filter(([, name]) => !isFlag(name)).map(([option]) => option),
    configuration: {
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'populate--': true,
      'strip-aliased': true,
    },
  });
  if (parsed.error) throw usage(parsed.error.message);
  const {_: words, '--': after = [], ...options} = parsed.argv;

  const given: Record<string, readonly string[]> = {};
  for (const [option, raw] of Object.entries<unknown>(options)) {
    const negated = negations.get(option);
    const name = names.get(option) ?? negated;
    if (name === undefined)
      throw usage(unknownOption(option, [...names.keys(), ...offeredNegations(declarations)]));
    const shown = option.length === 1 ? `-${option}` : `--${option}`;
    const texts = (Array.isArray(raw) ? raw : [raw]).map(String).map(asGiven);
    if (texts.length > 1 && declarations[name]!.kind !== 'list' && declarations[name]!.kind !== 'map')
      throw usage(`${shown} is given ${texts.length} times: ${texts.join(', ')}`);
    if (given[name] !== undefined)
      throw usage(`both --${optionName(name)} and --no-${optionName(name)} are given`);
    if (!isFlag(name) && texts.includes(''))
      throw usage(`${shown} needs a value (for one that begins with -, write ${shown}=VALUE)`);
    given[name] =
      negated !== undefined && !names.has(option)
        ? texts.map((text) => (text === 'true' ? 'false' : 'true'))
        : texts;
  }

  const values: Record<string, KindValue | undefined> = {};
  for (const [name, declaration] of Object.entries(declarations)) {
    const texts = given[name];
    if (texts === undefined) {
      values[name] = defaultValue(declaration);
      continue;
    }
    const value = parseTexts(declaration, texts);
    if ('problem' in value) throw usage(`--${optionName(name)}: ${value.problem}`);
    values[name] = value.value;
  }
  return {values, given, positionals: [...words, ...after].map(String).map(asGiven)};
}

/** The parser keeps arguments under `_`, so that an option of that name would be taken for one of them. */
const positionalsOption = /^-(?:-_(?:=|$)|[A-Za-z0-9]*_)/;

/** What no argument holds, before what is no option though it looks like one. */
const mark = '\0';

/** A query may begin with a comment of SQL, which is no option: no option has a space after its dashes. */
function keepComment(word: string): string {
  return /^--\s/.test(word) ? `${mark}${word}` : word;
}

function asGiven(word: string): string {
  return word.startsWith(mark) ? word.slice(mark.length) : word;
}

function offeredNegations(declarations: OptionDeclarations): string[] {
  return Object.entries(declarations)
    .filter(([, declaration]) => declaration.kind === 'flag' && declaration.default === true)
    .map(([name]) => `no-${optionName(name)}`);
}

function unknownOption(option: string, known: readonly string[]): string {
  const shown = option.length === 1 ? `-${option}` : `--${option}`;
  const near = option.length === 1 ? undefined : nearest(option, known);
  return `unknown option ${shown}${near === undefined ? '' : `; did you mean --${near}?`}`;
}
