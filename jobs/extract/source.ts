import {createHash} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {basename, dirname, extname, join, relative, resolve} from 'node:path';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {candidatesOf, importsOf, packageOf} from '../../lib/extract/imports.ts';

/** An extractor's file, as plans name it: plain data. */
export interface ExtractorSource {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 over the file and all that it imports, first 16 hex digits. */
  readonly digest: string;
  /** Text of a YAML file: a plan takes it along. */
  readonly yaml?: string;
}

/** Raised where the same file is to give other rows: how values are converted, what a page has. */
const contractVersion = 1;
/** Files of an extractor. Chosen: nobody writes more; what is a package counts by its version. */
const maxFiles = 1000;

const moduleEndings = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs'];
const yamlEndings = ['.yaml', '.yml'];

/** Name of the file without folders and ending. */
export function stemOf(path: string): string {
  return basename(path, extname(path));
}

/**
 * Reads an extractor's file and finds its digest. Throws EXTRACTOR_INVALID for one that is not there or of no kind
 * that can be read.
 *
 * @param file relative to `dir`
 * @param origin setting or option that names it, for messages
 */
export async function readSource(file: string, dir: string, origin: string): Promise<ExtractorSource> {
  const path = resolve(dir, file);
  const ending = extname(path).toLowerCase();
  if (!moduleEndings.includes(ending) && !yamlEndings.includes(ending))
    throw new CrawlError(
      'EXTRACTOR_INVALID',
      `${origin} names ${file}: an extractor is a .ts, .js, .mjs or .yaml file`,
      {facts: {file: path}},
    );
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new CrawlError(
      'EXTRACTOR_INVALID',
      `${origin} names ${file}, which cannot be read (${systemCode(error) ?? String(error)})`,
      {facts: {file: path}, hint: `It was looked for as ${path}`, cause: error},
    );
  }
  if (!yamlEndings.includes(ending)) return {path, digest: await digestOf(path)};
  return {path, digest: digest([text]), yaml: text};
}

/**
 * Digest of a module: its text, that of every file it imports by a relative name, and name and version of the
 * packages. What it reads by other means (a file at run time, a name that is made up) is not in it.
 */
export async function digestOf(entry: string): Promise<string> {
  const texts = new Map<string, string>();
  const packages = new Set<string>();
  const waiting = [entry];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (texts.has(path)) continue;
    if (texts.size === maxFiles)
      throw new CrawlError('EXTRACTOR_INVALID', `${entry} imports more than ${maxFiles} files`);
    const text = await readFile(path, 'utf8');
    texts.set(path, text);
    if (path.endsWith('.json')) continue;
    for (const name of importsOf(text)) {
      if (/^\.{1,2}\//.test(name)) {
        const found = await firstFile(candidatesOf(resolve(dirname(path), name)));
        if (found !== undefined) waiting.push(found);
        continue;
      }
      const owner = packageOf(name);
      if (owner !== undefined) packages.add(await packageVersion(owner, dirname(path)));
    }
  }
  const files = [...texts].map(
    ([path, text]) => `${relative(dirname(entry), path).replaceAll('\\', '/')}\n${text}`,
  );
  return digest([...files.sort(), ...[...packages].sort()]);
}

function digest(parts: readonly string[]): string {
  const hash = createHash('sha256');
  hash.update(JSON.stringify([contractVersion, ...parts]));
  return hash.digest('hex').slice(0, 16);
}

async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths)
    try {
      await readFile(path);
      return path;
    } catch (error) {
      if (systemCode(error) === undefined) throw error;
    }
  return undefined;
}

/** `name@version` by the nearest package.json, or the name alone where there is none. */
async function packageVersion(name: string, from: string): Promise<string> {
  for (let dir = from; ; dir = dirname(dir)) {
    try {
      const text = await readFile(join(dir, 'node_modules', name, 'package.json'), 'utf8');
      const {version} = JSON.parse(text) as {version?: unknown}; // any package.json
      return `${name}@${String(version)}`;
    } catch (error) {
      if (systemCode(error) === undefined && !(error instanceof SyntaxError)) throw error;
    }
    if (dir === dirname(dir)) return name;
  }
}
