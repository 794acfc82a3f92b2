import {defaultValue, formatValue, kindForms} from '../lib/kinds.ts';
import type {OptionDeclaration, OptionDeclarations} from '../lib/options.ts';
import {flagOf} from './arguments.ts';
import type {Command} from './command.ts';
import type {CommandEntry} from './commands/index.ts';
import {exitCodeDocs} from './exit-codes.ts';
import {globalOptions} from './globals.ts';

/** `crawl --help`: the commands, from their list alone. */
export function overviewHelp(commands: readonly CommandEntry[]): string {
  const width = Math.max(...commands.map(({name}) => name.length));
  return [
    'crawl: a batch web crawler whose crawls are folders of Parquet that DuckDB queries.',
    '',
    'Usage: crawl COMMAND [ARGUMENTS] [OPTIONS]',
    '',
    'Commands:',
    ...commands.map(({name, summary}) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Options of all commands:',
    ...optionLines(globalOptions),
    '',
    'A round:  crawl generate && crawl fetch && crawl updatedb',
    'Exit codes: ' + exitCodeDocs.map(([code, name]) => `${code} ${name}`).join(', ') + '.',
    'More:  crawl COMMAND --help',
    '',
  ].join('\n');
}

/** `crawl COMMAND --help`. */
export function commandHelp(command: Command): string {
  const lines = [command.summary, '', `Usage: ${usageLine(command)}`];
  if (command.details) lines.push('', ...command.details.split('\n'));
  if (command.positionals.length > 0) {
    const width = Math.max(...command.positionals.map(({name}) => name.length));
    lines.push(
      '',
      'Arguments:',
      ...command.positionals.map(({name, doc}) => `  ${name.padEnd(width)}  ${doc}`),
    );
  }
  if (Object.keys(command.options).length > 0) lines.push('', 'Options:', ...optionLines(command.options));
  lines.push('', 'Options of all commands:', ...optionLines(globalOptions));
  if (command.examples) {
    const width = Math.max(...command.examples.map(([line]) => line.length));
    lines.push(
      '',
      'Examples:',
      ...command.examples.map(([line, meaning]) => `  ${line.padEnd(width)}  ${meaning}`),
    );
  }
  return lines.join('\n') + '\n';
}

/** `crawl inject SOURCE… [OPTIONS]`. */
export function usageLine(command: Command): string {
  const words = command.positionals.map(({name, required, many}) => {
    const word = `${name}${many ? '…' : ''}`;
    return required ? word : `[${word}]`;
  });
  return ['crawl', command.name, ...words, '[OPTIONS]'].join(' ');
}

/** Name, form of the value, sentence and default of an option, for help and docs/cli.md. */
export function optionFacts(
  name: string,
  declaration: OptionDeclaration,
): {flag: string; form: string; doc: string} {
  const value = defaultValue(declaration);
  const parts = [declaration.doc];
  if (declaration.values) parts.push(`One of: ${declaration.values.join(', ')}.`);
  const empty = typeof value === 'object' && Object.keys(value).length === 0;
  if (value !== undefined && typeof value !== 'boolean' && !empty)
    parts.push(`Default: ${formatValue(declaration, value)}.`);
  return {
    flag: flagOf(name, declaration),
    form: kindForms[declaration.kind].placeholder,
    doc: parts.join(' '),
  };
}

function optionLines(declarations: OptionDeclarations): string[] {
  const facts = Object.entries(declarations).map(([name, declaration]) => {
    const {flag, form, doc} = optionFacts(name, declaration);
    const short = declaration.short === undefined ? '    ' : `-${declaration.short}, `;
    return {left: `  ${short}${flag}${form === '' ? '' : ` ${form}`}`, doc};
  });
  const width = Math.min(34, Math.max(...facts.map(({left}) => left.length)));
  return facts.map(({left, doc}) =>
    left.length > width ? `${left}\n${' '.repeat(width)}  ${doc}` : `${left.padEnd(width)}  ${doc}`,
  );
}
