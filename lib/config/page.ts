import {defaultValue, formatValue, kindForms} from '../kinds.ts';
import type {OptionDeclaration} from '../options.ts';
import {environmentName} from './load.ts';
import {type SectionName, settings} from './settings.ts';
import {describe, sectionDocs} from './template.ts';

/** docs/configuration.md, from the declarations of the settings. */
export function configurationPage(): string {
  const sections = Object.entries(settings).map(([section, members]) => {
    const rows = Object.entries<OptionDeclaration>(members).map(([key, declaration]) => {
      const value = defaultValue(declaration);
      const shown = value === undefined ? '' : `\`${formatValue(declaration, value) || '(empty)'}\``;
      return `| \`${key}\` | ${declaration.kind} | ${cell(shown)} | ${cell(describe(declaration))} |`;
    });
    return `## ${section}

${sectionDocs[section as SectionName]}

| setting | kind | default | meaning |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
  });
  const kinds = Object.entries(kindForms).map(([kind, {form}]) => `| ${kind} | ${form} |`);
  return `# Configuration

<!-- Made from lib/config/settings.ts by \`node --import tsx test/support/write-docs.ts\`; a test checks that it is fresh. -->

A crawl is configured by the file \`crawl.yaml\` in its folder: sections with settings below them. \`crawl init\` writes one
in which every setting stands as a comment at its default. \`crawl config\` shows what holds, and where each value comes
from; \`crawl config --changed\` only what is not at its default.

A value is taken from the first of these that has one:

1. the command line: \`--set politeness.min_delay=2s\`; \`--contact\` is short for \`--set agent.contact=…\`
2. the environment: \`${environmentName('politeness.min_delay')}=2s\`. Empty variables count as absent; a variable that begins with a section's name and is no setting is an error
3. \`crawl.yaml\`
4. the default

Everything is checked before a command begins. An unknown section or setting, a key given twice, a wrong kind, a missing
or unknown unit, a value out of bounds, and settings that contradict each other are errors (\`CONFIG_INVALID\`, exit code 2),
all of them told at once, with file, line, setting and the nearest known name.

| kind | is written as |
| --- | --- |
${kinds.join('\n')}

In \`crawl.yaml\` a list is \`[a, b]\` or one item a line, and a map is \`{key: value}\` or one pair a line. In the environment
both are separated by commas (\`\\,\` is a comma within an item).

${sections.join('\n')}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
