import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {commands} from '../../cli/commands/index.ts';
import {cliPage} from '../../cli/page.ts';
import {configurationPage} from '../../lib/config/page.ts';
import {errorsPage} from '../../lib/errors-page.ts';
import {dataDictionary} from '../../lib/schema/dictionary.ts';
import {tables} from '../../lib/schema/tables.ts';

export const root = join(import.meta.dirname, '../..');

/** The documents that are made from declarations, by their path in the repository. */
export async function generatedDocs(): Promise<Readonly<Record<string, string>>> {
  const loaded = await Promise.all(commands.map(async (entry) => (await entry.load()).command));
  return {
    'docs/cli.md': cliPage(loaded),
    'docs/errors.md': errorsPage(),
    'docs/configuration.md': configurationPage(),
    'docs/data-dictionary.md': dataDictionary(Object.values(tables)),
  };
}

// Run as a script: writes them all
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  for (const [path, text] of Object.entries(await generatedDocs())) writeFileSync(join(root, path), text);
