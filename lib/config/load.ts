import {CrawlError} from '../errors.ts';
import {defaultValue, type KindValue, type Parsed, parseData, parseText, parseTexts} from '../kinds.ts';
import {nearest} from '../nearest.ts';
import type {OptionDeclaration} from '../options.ts';
import {checkRelations} from './check.ts';
import {readYaml} from './document.ts';
import {type Config, settings} from './settings.ts';

/** Where a value comes from. A flag wins over the environment, that over the file, that over the default. */
export type Origin =
  | {readonly kind: 'default'}
  | {readonly kind: 'file'; readonly file: string; readonly line: number}
  | {readonly kind: 'environment'; readonly name: string}
  | {readonly kind: 'flag'; readonly flag: string};

export interface ConfigSources {
  /** crawl.yaml: its name for messages, and its text. */
  readonly file?: {readonly name: string; readonly text: string} | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Settings given on the command line, as `{flag: '--contact', key: 'agent.contact', texts: ['…']}`. */
  readonly flags?: readonly {
    readonly flag: string;
    readonly key: string;
    readonly texts: readonly string[];
  }[];
}

export interface ConfigWithOrigins {
  readonly config: Config;
  /** By setting, as `politeness.min_delay`; those without a value and without a default are `default` too. */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** Declarations of all settings by their full name, in the order of the file. */
export const settingsByName: ReadonlyMap<string, OptionDeclaration> = new Map(
  Object.entries(settings).flatMap(([section, members]) =>
    Object.entries(members).map(([key, declaration]): [string, OptionDeclaration] => [
      `${section}.${key}`,
      declaration,
    ]),
  ),
);

/** `politeness.min_delay` → `CRAWL_POLITENESS_MIN_DELAY`. */
export function environmentName(setting: string): string {
  return `CRAWL_${setting.replace('.', '_').toUpperCase()}`;
}

const settingNames = [...settingsByName.keys()];

/**
 * The configuration of a crawl and where each value comes from.
 *
 * Throws CONFIG_INVALID with all problems found, one a line: place, setting, what is wrong, and the
 * nearest known name for an unknown one.
 */
export function loadConfig(sources: ConfigSources): ConfigWithOrigins {
  const problems: string[] = [];
  const values = new Map<string, {value: KindValue; origin: Origin}>();
  const take = (name: string, origin: Origin, parsed: Parsed) => {
    if ('problem' in parsed) problems.push(`${placeOf(origin)}: ${name}: ${parsed.problem}`);
    else values.set(name, {value: parsed.value, origin});
  };

  if (sources.file) fromFile(sources.file, take, problems);
  fromEnvironment(sources.env, take, problems);
  for (const {flag, key, texts} of sources.flags ?? []) {
    const declaration = settingsByName.get(key);
    if (declaration === undefined)
      problems.push(`${flag}: unknown setting ${key}${meant(key, settingNames)}`);
    else take(key, {kind: 'flag', flag}, parseTexts(declaration, texts));
  }

  const config: Record<string, Record<string, KindValue | undefined>> = {};
  const origins: Record<string, Origin> = {};
  for (const [name, declaration] of settingsByName) {
    const [section = '', key = ''] = name.split('.');
    const given = values.get(name);
    config[section] ??= {};
    config[section][key] = given ? given.value : defaultValue(declaration);
    origins[name] = given ? given.origin : {kind: 'default'};
  }
  // The loop above has put a value of the declared kind under each declared name
  const whole = config as unknown as Config;
  if (problems.length === 0)
    for (const {
      settings: [first = '', ...others],
      problem,
    } of checkRelations(whole)) {
      // Of two settings that do not fit each other, the one that somebody wrote is named
      const setting = [first, ...others].find((name) => origins[name]?.kind !== 'default') ?? first;
      problems.push(`${placeOf(origins[setting] ?? {kind: 'default'})}: ${setting}: ${problem}`);
    }
  if (problems.length > 0) {
    const told = problems.map(onOneLine);
    throw new CrawlError('CONFIG_INVALID', told.join('\n'), {facts: {problems: told}});
  }
  return {config: whole, origins};
}

/** A key may have line breaks, and each problem is a line. */
function onOneLine(problem: string): string {
  return problem.replaceAll(/\s*[\r\n]\s*/g, ' ');
}

/** `crawl.yaml:12`, `CRAWL_FETCH_MAX_ACTIVE`, `--contact`, `default`. */
export function placeOf(origin: Origin): string {
  switch (origin.kind) {
    case 'file':
      return `${origin.file}:${origin.line}`;
    case 'environment':
      return origin.name;
    case 'flag':
      return origin.flag;
    case 'default':
      return 'default';
    default:
      return origin satisfies never;
  }
}

type Take = (name: string, origin: Origin, parsed: Parsed) => void;

function fromFile(file: {name: string; text: string}, take: Take, problems: string[]): void {
  const read = readYaml(file.text);
  if ('problems' in read) {
    for (const {line, problem} of read.problems) problems.push(`${file.name}:${line}: ${problem}`);
    return;
  }
  for (const section of read.entries) {
    const place = `${file.name}:${section.line}`;
    if (!Object.hasOwn(settings, section.key)) {
      problems.push(`${place}: unknown section ${section.key}${meantSection(section.key)}`);
      continue;
    }
    if (section.entries === null) continue; // all its settings are commented out
    if (section.entries === undefined) {
      problems.push(
        `${place}: ${section.key}: it must hold settings, as \`key: value\` on lines of their own`,
      );
      continue;
    }
    const known = settings[section.key as keyof typeof settings];
    for (const entry of section.entries) {
      const name = `${section.key}.${entry.key}`;
      const origin: Origin = {kind: 'file', file: file.name, line: entry.line};
      const declaration = Object.hasOwn(known, entry.key) ? settingsByName.get(name) : undefined;
      if (declaration) take(name, origin, parseData(declaration, entry.data));
      else problems.push(`${placeOf(origin)}: unknown setting ${name}${meantKey(section.key, entry.key)}`);
    }
  }
}

/**
 * Variables that begin with a section's name, or that are a typing error away from a setting, must be settings;
 * other variables are somebody else's. An empty one counts as absent.
 */
function fromEnvironment(env: ConfigSources['env'], take: Take, problems: string[]): void {
  const byVariable = new Map(settingNames.map((name) => [environmentName(name), name]));
  const sections = Object.keys(settings).map((section) => `CRAWL_${section.toUpperCase()}_`);
  for (const [variable, text] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!variable.startsWith('CRAWL_') || text === undefined || text === '') continue;
    const name = byVariable.get(variable);
    const declaration = name === undefined ? undefined : settingsByName.get(name);
    if (name !== undefined && declaration) {
      take(name, {kind: 'environment', name: variable}, parseText(declaration, text));
      continue;
    }
    const ours = sections.some((section) => variable.startsWith(section));
    const near = nearest(
      variable.slice('CRAWL_'.length),
      [...byVariable.keys()].map((key) => key.slice('CRAWL_'.length)),
    );
    if (ours || (near !== undefined && variable.length > 12))
      problems.push(
        `${variable}: unknown setting${near === undefined ? '' : `; did you mean CRAWL_${near}?`}`,
      );
  }
}

function meantSection(section: string): string {
  const home = settingNames.filter((name) => name.endsWith(`.${section}`));
  if (home.length === 1) return `; ${section} belongs into section ${home[0]!.split('.')[0]}`;
  return meant(section, Object.keys(settings));
}

/** The nearest key of the section, or the section that has a key of that very name. */
function meantKey(section: string, key: string): string {
  const near = nearest(key, Object.keys(settings[section as keyof typeof settings]));
  if (near !== undefined) return `; did you mean ${section}.${near}?`;
  const elsewhere = settingNames.filter((name) => name.endsWith(`.${key}`));
  if (elsewhere.length > 0) return `; did you mean ${elsewhere.join(' or ')}?`;
  return `; known are ${Object.keys(settings[section as keyof typeof settings]).join(', ')}`;
}

function meant(word: string, known: Iterable<string>): string {
  const near = nearest(word, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
