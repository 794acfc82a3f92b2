import {readFileSync} from 'node:fs';

/**
 * The SQL of a job, from the `.sql` file beside it. A file holds one statement, or named steps: a line
 * `-- step: NAME` begins each, and what stands before the first one is the header.
 */
export function readSql<const S extends string>(
  module: string,
  file: string,
  steps: readonly S[],
): Record<S, string> {
  const found = parseSteps(readFileSync(new URL(file, module), 'utf8'));
  const result = {} as Record<S, string>;
  for (const step of steps) {
    const sql = found.get(step);
    if (sql === undefined) throw new Error(`${file} has no step ${step}`);
    result[step] = sql;
  }
  return result;
}

function parseSteps(text: string): Map<string, string> {
  const [, ...parts] = text.split(/^-- step: */m);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end).trim(), part.slice(end + 1).trim()];
    }),
  );
}
