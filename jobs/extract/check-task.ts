import type {Config} from '../../lib/config/settings.ts';
import {StoredPage} from '../../lib/extract/page.ts';
import {type Extracted, runExtractor} from '../../lib/extract/run.ts';
import {type ParseCheckInput, readDocument} from '../../lib/parse/check.ts';
import {pageOptions} from '../../lib/parse/options.ts';
import type {PolicyTexts} from '../config/policy-texts.ts';
import type {Skip, Task, TaskContext, TaskResult} from '../job.ts';
import type {ExtractorOrder} from './describe.ts';
import {loadExtractor, maxLoadMs} from './load.ts';

export interface ExtractCheckParams {
  readonly orders: readonly ExtractorOrder[];
  readonly document: ParseCheckInput;
  readonly config: Pick<Config, 'agent' | 'parse' | 'links' | 'scope' | 'url'>;
  readonly texts: PolicyTexts;
  readonly skip?: readonly Skip[];
}

/** What an extractor makes of a document. */
export interface ExtractCheck extends Extracted {
  readonly extractor: string;
}

/** Runs extractors on one document, for `crawl check parse --with`. In a thread, so that a hang is cut. */
export async function runTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {orders, document, config, texts, skip = []} = task.params as unknown as ExtractCheckParams; // made by extract-check
  const page = pageOf(document, config, texts);
  const extracted: ExtractCheck[] = [];
  for (const order of orders) {
    const {name} = order.declaration;
    const lost = skip.find(({key}) => key === name);
    if (lost !== undefined) {
      const reason = lost.reason === 'parse_timeout' ? 'extract_timeout' : 'extract_failed';
      extracted.push({extractor: name, status: 'failed', reason, error: lost.detail, rows: []});
      continue;
    }
    ctx.guard?.(name, maxLoadMs);
    const extractor = await loadExtractor(order);
    ctx.guard?.(name, config.parse.extractor_timeout);
    extracted.push({extractor: name, ...runExtractor(extractor, page)});
  }
  ctx.guard?.(null);
  return {files: [], counters: {}, reasons: {}, facts: {extracted}};
}

function pageOf(
  document: ParseCheckInput,
  config: ExtractCheckParams['config'],
  texts: PolicyTexts,
): StoredPage {
  const {input, page, rows, base} = readDocument(document, config, texts);
  return new StoredPage({
    input,
    captureId: '',
    segment: '',
    kind: 'page',
    fetchTime: new Date(0),
    fetchStatus: null,
    options: pageOptions(config),
    parse: () => ({columns: page.columns, links: rows, base}),
  });
}
