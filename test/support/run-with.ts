import type {Job} from '../../jobs/job.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {OptionDeclarations, OptionValues} from '../../lib/options.ts';
import type {JobHarness} from './job-harness.ts';

/** Runs a job in the crawl as if its crawl.yaml had been changed to this. */
export function runWith<O extends OptionDeclarations>(
  {dir, effects}: JobHarness,
  yaml: string,
  job: Job<O>,
  options: OptionValues<O>,
) {
  const text = `storage:\n  memory: 256MB\n${yaml}`;
  const {config} = loadConfig({env: {}, file: {name: 'crawl.yaml', text}});
  return runJob(job, options, {dir, config, effects, executor: embeddedExecutor({concurrency: 1})});
}
