import {CrawlError} from '../../lib/errors.ts';
import type {Declaration} from '../../lib/extract/declaration.ts';
import type {Skip, Task, TaskContext, TaskResult} from '../job.ts';
import {loadExtractor, maxLoadMs} from './load.ts';
import type {ExtractorSource} from './source.ts';

/** Loads extractors in a worker thread and tells what they declare. */
export async function runTask(task: Task, ctx: TaskContext): Promise<TaskResult> {
  const {sources, skip} = task.params as unknown as {
    sources: readonly ExtractorSource[];
    skip: readonly Skip[];
  };
  const declarations: Declaration[] = [];
  for (const source of sources) {
    const lost = skip.find(({key}) => key === source.path);
    if (lost !== undefined)
      throw new CrawlError('EXTRACTOR_INVALID', `${source.path} cannot be loaded: ${lost.detail}`, {
        facts: {file: source.path},
      });
    ctx.guard?.(source.path, maxLoadMs);
    declarations.push((await loadExtractor(source)).declaration);
  }
  ctx.guard?.(null);
  return {files: [], counters: {}, reasons: {}, facts: {declarations}};
}
