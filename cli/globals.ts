import {CrawlError} from '../lib/errors.ts';
import type {OptionDeclarations} from '../lib/options.ts';
import type {ParsedArguments} from './arguments.ts';
import type {Globals} from './command.ts';

/** Options that every command takes. */
export const globalOptions = {
  crawl: {
    kind: 'text',
    short: 'C',
    doc: 'Folder of the crawl; else CRAWL_DIR, else the nearest crawl.yaml upwards.',
  },
  quiet: {kind: 'flag', short: 'q', default: false, doc: 'Only errors on stderr.'},
  json: {kind: 'flag', default: false, doc: 'Data, errors and log as JSON, one object a line.'},
  debug: {kind: 'flag', default: false, doc: 'Log details, and show stack traces.'},
  contact: {kind: 'text', doc: 'Sets agent.contact: URL or e-mail address at which a webmaster reaches you.'},
  memory: {
    kind: 'text',
    doc: 'Sets storage.memory, as 1GB: what each job may hold in DuckDB; the rest spills to disk.',
  },
  set: {
    kind: 'map',
    default: {},
    doc: 'Sets any setting of crawl.yaml for this command: --set politeness.min_delay=2s.',
  },
  help: {kind: 'flag', short: 'h', default: false, doc: 'Show help.'},
  version: {kind: 'flag', short: 'V', default: false, doc: 'Show the version.'},
} as const satisfies OptionDeclarations;

/** Options that stand for a setting. */
const shortcuts = [
  ['contact', 'agent.contact'],
  ['memory', 'storage.memory'],
] as const;

export function globalsOf(parsed: ParsedArguments): Globals {
  const {values, given} = parsed;
  const settings = Object.entries(values.set ?? {}).map(([key, text]) => ({
    flag: `--set ${key}`,
    key,
    texts: [text],
  }));
  for (const [option, key] of shortcuts) {
    const texts = given[option];
    if (texts === undefined) continue;
    if (settings.some((setting) => setting.key === key))
      throw new CrawlError('USAGE', `both --${option} and --set ${key} are given`);
    settings.push({flag: `--${option}`, key, texts: [...texts]});
  }
  return {
    crawl: given.crawl?.[0],
    quiet: values.quiet === true,
    json: values.json === true,
    debug: values.debug === true,
    settings,
  };
}
