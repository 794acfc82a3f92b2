/** The fetch job as a process of its own, to be killed: `fetch-child.ts DIR SETTING…`. */
import {realEffects} from '../../jobs/effects.ts';
import {fetch} from '../../jobs/fetch.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {runJob} from '../../jobs/runner/run-job.ts';
import {loopbackConfig} from './fetch-crawl.ts';

const [dir, ...settings] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort(new Error('SIGTERM')));
await runJob(
  fetch,
  {segment: undefined, window: undefined, concurrency: undefined, close: false},
  {
    dir: dir!,
    config: loopbackConfig(settings),
    effects: realEffects(() => undefined, stop.signal),
    executor: embeddedExecutor(),
  },
);
