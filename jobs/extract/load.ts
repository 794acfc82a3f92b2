import {createRequire} from 'node:module';
import {basename, extname} from 'node:path';
import {pathToFileURL} from 'node:url';
import {CrawlError} from '../../lib/errors.ts';
import type {Extractor} from '../../lib/extract/contract.ts';
import {readDeclaration} from '../../lib/extract/declaration.ts';
import type {LoadedExtractor} from '../../lib/extract/run.ts';
import {readYamlExtractor} from '../../lib/extract/yaml.ts';
import {type ExtractorSource, stemOf} from './source.ts';

/** Time that the top of a module may take, ms. Chosen: imports of large packages on a busy machine. */
export const maxLoadMs = 30_000;

/**
 * Loads an extractor: runs the top of its module. Only in worker threads, which can be ended. Throws
 * EXTRACTOR_INVALID with all that is wrong, each with its place.
 */
export async function loadExtractor(source: ExtractorSource): Promise<LoadedExtractor> {
  const {path, yaml} = source;
  if (yaml !== undefined) return readYamlExtractor(yaml, path, stemOf(path));
  const exported = exportOf(await importModule(path));
  if (typeof exported !== 'object' || exported === null)
    throw invalid(path, ['it has no default export; wanted is an object with columns and extract']);
  const value = exported as Readonly<Record<string, unknown>>; // any object
  const read = readDeclaration(value, stemOf(path));
  const problems =
    'problems' in read
      ? read.problems.map(({column, problem}) =>
          column === undefined ? problem : `column ${column}: ${problem}`,
        )
      : [];
  const {extract} = value;
  if (typeof extract !== 'function') problems.push('extract must be a function of the page');
  else if (/^Async/.test(Object.prototype.toString.call(extract).slice(8)))
    problems.push('extract must give its rows at once: it cannot be async');
  if (problems.length > 0 || 'problems' in read) throw invalid(path, problems);
  return {
    declaration: read.declaration,
    file: basename(path),
    extract: (extract as Extractor['extract']).bind(exported as Extractor), // checked above
  };
}

function invalid(path: string, problems: readonly string[]): CrawlError {
  return new CrawlError('EXTRACTOR_INVALID', problems.map((problem) => `${path}: ${problem}`).join('\n'), {
    facts: {file: path, problems},
  });
}

async function importModule(path: string): Promise<unknown> {
  const url = pathToFileURL(path).href;
  try {
    if (!/\.[cm]?ts$/i.test(extname(path)) || readsTypes()) return await import(url);
    const {tsImport} = (await import(tsxOf(path))) as {
      tsImport(url: string, parent: string): Promise<unknown>;
    };
    return await tsImport(url, import.meta.url);
  } catch (error) {
    if (error instanceof CrawlError) throw error;
    const text = error instanceof Error ? (error.message || error.name).split('\n')[0]! : String(error);
    throw new CrawlError('EXTRACTOR_INVALID', `${path} cannot be loaded: ${text}`, {
      facts: {file: path},
      cause: error,
    });
  }
}

/** Whether Node strips types by itself. */
function readsTypes(): boolean {
  const {typescript} = process.features as {typescript?: unknown}; // not in the types of Node 20
  return Boolean(typescript);
}

/** tsx beside us, or beside the extractor. */
function tsxOf(path: string): string {
  const module = 'tsx/esm/api';
  for (const find of [
    () => import.meta.resolve(module),
    () => pathToFileURL(createRequire(path).resolve(module)).href,
  ])
    try {
      return find();
    } catch {} // looked for in the next place
  throw new CrawlError(
    'EXTRACTOR_INVALID',
    `${path} is TypeScript, which Node ${process.version} does not run by itself`,
    {
      facts: {file: path},
      hint: 'Use Node 22.18 or newer, or npm install tsx in its folder, or write it as JavaScript (.mjs).',
    },
  );
}

/** The default export; what a CommonJS module exports is wrapped once or twice, by whoever has translated it. */
function exportOf(module: unknown): unknown {
  let value = module;
  for (let depth = 0; depth < 3; depth++) {
    if (typeof value !== 'object' || value === null || !('default' in value)) break;
    value = value.default;
  }
  return value === module ? undefined : value;
}
