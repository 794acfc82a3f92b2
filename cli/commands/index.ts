import type {Command} from '../command.ts';

/**
 * All commands, in the order of help. The list knows name and summary only: a command is loaded when it is
 * called, so that help and usage errors do not wait for DuckDB.
 */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<{readonly command: Command}>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'Make a crawl: a folder with a commented crawl.yaml.',
    load: () => import('./init.ts'),
  },
  {
    name: 'sql',
    summary: 'Ask the crawl a question in SQL; without a query, a prompt.',
    load: () => import('./sql.ts'),
  },
  {
    name: 'config',
    summary: 'Show each setting with its value and origin.',
    load: () => import('./config.ts'),
  },
];
