import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';

/** Version of the program, from the nearest package.json upwards: beside the sources, or above dist/. */
export const programVersion: string = readVersion(import.meta.dirname);

function readVersion(folder: string): string {
  try {
    const parsed: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (
      typeof parsed === 'object' &&
      parsed !== null &&
      'version' in parsed &&
      typeof parsed.version === 'string'
    )
      return parsed.version;
  } catch {
    // no package.json here
  }
  const parent = dirname(folder);
  return parent === folder ? '0.0.0' : readVersion(parent);
}
