import {extname} from 'node:path';
import type {Config} from '../../lib/config/settings.ts';
import type {Effects} from '../../lib/effects.ts';
import type {ParseCheckInput} from '../../lib/parse/check.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import {runInWorker} from '../runner/worker-host.ts';
import type {ExtractCheck, ExtractCheckParams} from './check-task.ts';
import {describeExtractors, threadOf} from './describe.ts';

export type {ExtractCheck} from './check-task.ts';

/** Runs extractors on documents, one after another. */
export type ExtractTrial = (document: ParseCheckInput) => Promise<readonly ExtractCheck[]>;

/**
 * Loads extractors to try them. Throws EXTRACTOR_INVALID for one that is none.
 *
 * @param files absolute
 */
export async function tryExtractors(
  files: readonly string[],
  settings: {
    readonly config: Config;
    readonly dir: string;
    readonly texts: PolicyTexts;
    readonly effects: Effects;
  },
): Promise<ExtractTrial> {
  const {dir, texts, effects} = settings;
  const {agent, parse, links, scope, url} = settings.config;
  const config = {...settings.config, parse: {...parse, extractors: []}};
  const {given: orders} = await describeExtractors(files, config, dir, effects);
  const module = new URL(`./check-task${extname(import.meta.url)}`, import.meta.url);
  const stage = {dir, run: 'extractors', effects, progress: () => undefined};
  return async (document) => {
    const params: ExtractCheckParams = {orders, document, config: {agent, parse, links, scope, url}, texts};
    const task = {stage: 0, part: 0, inputs: [], params: {...params}, thread: threadOf(orders)};
    const {facts} = await runInWorker(module, task, stage);
    return facts?.extracted as readonly ExtractCheck[]; // what the task gave
  };
}
