import {extname} from 'node:path';
import type {Config} from '../../lib/config/settings.ts';
import type {Effects} from '../../lib/effects.ts';
import {CrawlError} from '../../lib/errors.ts';
import type {Declaration} from '../../lib/extract/declaration.ts';
import {runInWorker} from '../runner/worker-host.ts';
import {type ExtractorSource, readSource} from './source.ts';

/** An extractor as plans name it: plain data. */
export interface ExtractorOrder extends ExtractorSource {
  readonly declaration: Declaration;
}

export interface ExtractorOrders {
  /** Named in crawl.yaml. */
  readonly configured: readonly ExtractorOrder[];
  /** Given with --with, and not configured. */
  readonly given: readonly ExtractorOrder[];
}

/**
 * All extractors that are to run. They are loaded in a thread, which is ended where one hangs. Throws
 * EXTRACTOR_INVALID for one that is none, and where two have one name.
 *
 * @param given files of --with, absolute
 */
export async function describeExtractors(
  given: readonly string[],
  config: Config,
  dir: string,
  effects: Effects,
): Promise<ExtractorOrders> {
  const configured: ExtractorSource[] = [];
  for (const file of config.parse.extractors)
    configured.push(await readSource(file, dir, 'parse.extractors'));
  const further: ExtractorSource[] = [];
  for (const file of given) {
    const source = await readSource(file, dir, '--with');
    if (![...configured, ...further].some(({path}) => path === source.path)) further.push(source);
  }
  const sources = [...configured, ...further];
  if (sources.length === 0) return {configured: [], given: []};
  const task = {stage: 0, part: 0, inputs: [], params: {sources}, thread: threadOf(sources)};
  const module = new URL(`./describe-task${extname(import.meta.url)}`, import.meta.url);
  const result = await runInWorker(module, task, {
    dir,
    run: 'extractors',
    effects,
    progress: () => undefined,
  });
  const declarations = result.facts?.declarations as readonly Declaration[]; // what the task gave
  const orders = sources.map((source, at) => ({...source, declaration: declarations[at]!}));
  const byName = new Map<string, string>();
  for (const {path, declaration} of orders) {
    const other = byName.get(declaration.name);
    if (other !== undefined)
      throw new CrawlError('EXTRACTOR_INVALID', `${path} and ${other} have one name: ${declaration.name}`, {
        hint: 'Declare another name in one of them: it is that of its table.',
      });
    byName.set(declaration.name, path);
  }
  const first = configured.length;
  // --with names what is wanted, be it configured or not
  const asked = new Set(
    given.map((file) => orders.find(({path}) => path === file)).filter((one) => one !== undefined),
  );
  return {
    configured: orders.slice(0, first).filter((order) => !asked.has(order)),
    given: orders.filter((order, at) => at >= first || asked.has(order)),
  };
}

/** Threads that have loaded other code than this are not used: a module is loaded once a thread. */
export function threadOf(sources: readonly ExtractorSource[]): string {
  return sources.map(({path, digest}) => `${path} ${digest}`).join('\n');
}
