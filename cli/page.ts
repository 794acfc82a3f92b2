import type {OptionDeclarations} from '../lib/options.ts';
import type {Command} from './command.ts';
import {exitCodeDocs} from './exit-codes.ts';
import {globalOptions} from './globals.ts';
import {optionFacts, usageLine} from './help.ts';

/** docs/cli.md, from the declarations of the commands. */
export function cliPage(commands: readonly Command[]): string {
  return `# Command line

<!-- Made from cli/commands by \`node --import tsx test/support/write-docs.ts\`; a test checks that it is fresh. -->

A round is \`crawl generate && crawl fetch && crawl updatedb\`; \`crawl run\` does rounds until nothing is due.
\`crawl COMMAND --help\` shows what stands here.

- The crawl is the folder that \`--crawl DIR\` (\`-C\`) or \`CRAWL_DIR\` names, else the nearest folder upwards with a \`crawl.yaml\`.
  No command makes one but \`init\`, and \`run URL… -C DIR\`.
- Standard output carries data only: rows, segment ids, a page. Messages, log, progress and errors go to standard error;
  \`--quiet\` leaves errors alone. Colour and progress appear on a terminal only; \`NO_COLOR\` turns colour off.
- With \`--json\` data, log and errors are JSON, one object a line. 64-bit keys are texts there, bytes are base64, times are ISO 8601 in UTC.
- A closed pipe (\`crawl sql … | head\`) is no error.
- Ctrl-C stops cleanly, and what was done is kept; the second one leaves at once.
- An option may be given once; those of kind list and map may be repeated.

## Exit codes

| code | name | meaning for a script |
| --- | --- | --- |
${exitCodeDocs.map(([code, name, meaning]) => `| ${code} | ${name} | ${meaning} |`).join('\n')}

## Options of all commands

${optionTable(globalOptions)}

${commands.map(commandText).join('\n')}`;
}

function commandText(command: Command): string {
  const parts = [`## crawl ${command.name}`, command.summary, `\`${usageLine(command)}\``];
  if (command.details) parts.push(command.details);
  if (command.positionals.length > 0)
    parts.push(command.positionals.map(({name, doc}) => `- \`${name}\`: ${doc}`).join('\n'));
  if (Object.keys(command.options).length > 0) parts.push(optionTable(command.options));
  if (command.examples)
    parts.push(
      `\`\`\`sh\n${command.examples.map(([line, meaning]) => `${line}   # ${meaning}`).join('\n')}\n\`\`\``,
    );
  return `${parts.join('\n\n')}\n`;
}

function optionTable(declarations: OptionDeclarations): string {
  const rows = Object.entries(declarations).map(([name, declaration]) => {
    const {flag, form, doc} = optionFacts(name, declaration);
    const short = declaration.short === undefined ? '' : `, \`-${declaration.short}\``;
    return `| \`${flag}${form === '' ? '' : ` ${form}`}\`${short} | ${doc.replaceAll('|', '\\|')} |`;
  });
  return `| option | meaning |\n| --- | --- |\n${rows.join('\n')}`;
}
