import {CrawlError} from '../errors.ts';
import {defaultValue, formatValue, kindForms, parseTexts} from '../kinds.ts';
import type {OptionDeclaration} from '../options.ts';
import {flowYaml} from './document.ts';
import {settings} from './settings.ts';

/** What the sections are about, for crawl.yaml and docs/configuration.md. */
export const sectionDocs: Readonly<Record<keyof typeof settings, string>> = {
  agent: 'Who asks: every request carries it.',
  network: 'Addresses, names and proxies.',
  credentials:
    'Secrets for hosts, by reference: `env:NAME` is a variable of the environment, `file:PATH` a file, relative to the crawl. They are sent to the very origin named, and neither stored nor logged.',
  politeness: 'How often a host is asked. All of it is about the host, never about us.',
  fetch: 'Requests, their limits, and the length of a fetch.',
  robots: 'robots.txt.',
  url: 'How URLs are brought to their one form.',
  scope: 'Which URLs belong to the crawl.',
  parse: 'Reading of pages.',
  links: 'Which links are recorded, followed and counted.',
  generate: 'Selection of URLs for a segment.',
  schedule: 'When a page is seen again.',
  traps: 'Families of URLs that one program makes without end.',
  score: 'Priority of URLs.',
  dedup: 'Pages of equal content.',
  budget: 'Limits of a host or domain over the whole crawl. Without a value there is none.',
  storage: 'Disk, memory, and how long old states of the crawl are kept.',
};

/**
 * A crawl.yaml with every setting, commented out at its default, so that later defaults reach old crawls.
 *
 * @param given settings to write out, by full name (`agent.contact`), as text
 */
export function configTemplate(given: Readonly<Record<string, string>> = {}): string {
  for (const name of Object.keys(given)) {
    const [section = '', key = ''] = name.split('.');
    const members: Readonly<Record<string, unknown>> | undefined = settings[section as keyof typeof settings];
    if (members?.[key] === undefined) throw new CrawlError('CONFIG_INVALID', `unknown setting ${name}`);
  }
  const lines = [
    '# Configuration of this crawl. A commented line shows the default; remove the # to change the value.',
    '# An unknown key or a wrong value is an error. `crawl config` shows what holds, and where it comes from.',
    '# CRAWL_SECTION_KEY in the environment and --set section.key=value win over this file.',
  ];
  for (const [section, members] of Object.entries(settings)) {
    lines.push('', ...wrap(sectionDocs[section as keyof typeof settings], '# '), `${section}:`);
    for (const [key, declaration] of Object.entries<OptionDeclaration>(members)) {
      const text = given[`${section}.${key}`];
      lines.push(...wrap(describe(declaration), '  # '));
      if (text === undefined) lines.push(`  # ${key}: ${yamlDefault(declaration)}`);
      else lines.push(`  ${key}: ${yamlGiven(`${section}.${key}`, declaration, text)}`);
    }
  }
  return lines.join('\n') + '\n';
}

/** Sentence, allowed words and bounds of a setting. */
export function describe(declaration: OptionDeclaration): string {
  const parts = [declaration.doc];
  if (declaration.values) parts.push(`One of: ${declaration.values.join(', ')}.`);
  const {min, max} = declaration;
  const show = (value: number) => formatValue(declaration, value);
  if (min !== undefined && max !== undefined) parts.push(`${show(min)} to ${show(max)}.`);
  else if (min !== undefined) parts.push(`At least ${show(min)}.`);
  else if (max !== undefined) parts.push(`At most ${show(max)}.`);
  return parts.join(' ');
}

/** The default as YAML, on one line; for a setting without one, a comment that names the form of its value. */
function yamlDefault(declaration: OptionDeclaration): string {
  if (declaration.default === undefined) return `# none; ${kindForms[declaration.kind].form}`;
  const value = defaultValue(declaration)!;
  return flowYaml(typeof value === 'object' || typeof value === 'boolean' ? value : declaration.default);
}

function yamlGiven(name: string, declaration: OptionDeclaration, text: string): string {
  const parsed = parseTexts(declaration, [text]);
  if ('problem' in parsed) throw new CrawlError('CONFIG_INVALID', `${name}: ${parsed.problem}`);
  // Durations, sizes and rates stay as they were written
  return flowYaml(['duration', 'size', 'rate'].includes(declaration.kind) ? text : parsed.value);
}

/** Words in lines of at most 100 columns. */
function wrap(text: string, prefix: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && prefix.length + line.length + 1 + word.length > 100) {
      lines.push(prefix + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(prefix + line);
  return lines;
}
