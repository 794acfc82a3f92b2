/** A crawl with a fetchlist, and the fetch job in it on the real clock. */
import type {TestContext} from 'node:test';
import {realEffects} from '../../jobs/effects.ts';
import {fetch} from '../../jobs/fetch.ts';
import {embeddedExecutor} from '../../jobs/runner/executor.ts';
import {type RunReport, runJob} from '../../jobs/runner/run-job.ts';
import {loadConfig} from '../../lib/config/load.ts';
import type {Config} from '../../lib/config/settings.ts';
import type {Log} from '../../lib/effects.ts';
import type {FetchlistRow} from '../../lib/schema/fetchlist.ts';
import {listRow} from './fetch-sim.ts';
import {commitRows, type JobHarness, jobHarness} from './job-harness.ts';

export type FetchOptions = Parameters<typeof fetch.plan>[0];

export interface FetchCrawl extends JobHarness {
  /** A segment with these URLs; those of one registered domain in one partition. */
  generate(
    segment: string,
    list: readonly (string | Partial<FetchlistRow>)[],
    partitions?: number,
  ): Promise<void>;
  fetch(options?: Partial<FetchOptions>, signal?: AbortSignal): Promise<RunReport>;
  readonly events: {event: string; fields: Readonly<Record<string, unknown>> | undefined}[];
}

/** Settings for tests on loopback; more are added as on a command line, `politeness.min_delay=50ms`. */
export function loopbackConfig(settings: readonly string[]): Config {
  const texts = [
    'politeness.min_delay=20ms',
    'politeness.latency_factor=0',
    'storage.memory=256MB',
    ...settings,
  ];
  const flags = texts.map((text) => {
    const at = text.indexOf('=');
    return {flag: '--set', key: text.slice(0, at), texts: [text.slice(at + 1)]};
  });
  return loadConfig({env: {}, flags}).config;
}

export async function fetchCrawl(t: TestContext, settings: readonly string[]): Promise<FetchCrawl> {
  const harness = await jobHarness(t);
  const config = loopbackConfig(settings);
  const events: FetchCrawl['events'] = [];
  const log: Log = (_level, event, fields) => events.push({event, fields});
  return {
    ...harness,
    config,
    events,
    async generate(segment, list, partitions = 1) {
      const domains = new Map<string, number>();
      const rows = list.map((given, index) => {
        const row = listRow(given, index + 1);
        const known = domains.get(row.url_host_registered_domain) ?? domains.size % partitions;
        domains.set(row.url_host_registered_domain, known);
        return {...row, segment, partition: known};
      });
      await commitRows(
        {...harness, config},
        [{slot: `segments/${segment}/fetchlist`, table: 'fetchlist', rows}],
        {
          [segment]: {
            state: 'generated',
            urls: rows.length,
            hosts: new Set(rows.map((row) => row.url_host_name)).size,
            partitions,
            generated_time: new Date().toISOString(),
          },
        },
      );
    },
    fetch: (options = {}, signal = new AbortController().signal) =>
      runJob(
        fetch,
        {segment: undefined, window: undefined, concurrency: undefined, close: false, ...options},
        {dir: harness.dir, config, effects: realEffects(log, signal), executor: embeddedExecutor()},
      ),
  };
}
