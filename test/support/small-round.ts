import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import {updatedb} from '../../jobs/updatedb.ts';
import {defaultOptions} from './default-options.ts';
import type {JobHarness} from './job-harness.ts';
import {fetchSegment, type SmallWeb} from './small-web.ts';

export const injectUrls = (crawl: JobHarness, urls: readonly string[]) =>
  crawl.run(inject, {...defaultOptions(inject), urls});

/** A round of generate, a made-up fetch, and updatedb: the URLs that were asked, sorted, and what was left out. */
export async function round(
  crawl: JobHarness,
  web: SmallWeb,
  change: Partial<Parameters<typeof generate.plan>[0]> = {},
) {
  const report = await crawl.run(generate, {...defaultOptions(generate), ...change});
  const segment = report.plan?.segment;
  if (segment === undefined) return {urls: [], left: {}, refused: {}};
  const rows = await crawl.sql<{url: string}>(`SELECT url FROM fetchlist WHERE segment = '${segment}'`);
  await fetchSegment(crawl, segment, web);
  const {reasons} = await crawl.run(updatedb, defaultOptions(updatedb));
  crawl.effects.pass(60_000);
  return {urls: rows.map(({url}) => url).sort(), left: report.reasons, refused: reasons};
}
