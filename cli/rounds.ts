import type {Job} from '../jobs/job.ts';
import {readSnapshot} from '../jobs/read/crawl.ts';
import type {RunReport} from '../jobs/runner/run-job.ts';
import {type HostReason, mostOf} from '../lib/fetcher/host-reasons.ts';
import {defaultValue} from '../lib/kinds.ts';
import type {OptionDeclarations, OptionValues} from '../lib/options.ts';
import {closing, counterOf, parts, reasonList, stepClosing} from './closing.ts';
import type {CommandContext, JobSettings} from './command.ts';
import {bytes, count, counted, span, visible} from './words.ts';

/** Steps of a round as several commands need them: each takes the segments that want it, and says which. */

/** The values of options that nobody has given. */
export function defaultOptions<O extends OptionDeclarations>(job: Job<O>): OptionValues<O> {
  const values = Object.entries(job.options).map(([name, declaration]) => [name, defaultValue(declaration)]);
  return Object.fromEntries(values) as OptionValues<O>; // each declared option has its default
}

export type FetchOptions = OptionValues<typeof import('../jobs/fetch.ts')['fetch']['options']>;

/** Why a fetch stopped before its end: a nearly full disk or the window. A signal is seen by itself. */
export type FetchStop = 'disk' | 'window' | undefined;

export function fetchStop(report: Pick<RunReport, 'facts' | 'reasons'>): FetchStop {
  if (report.facts.some(({stopped}) => stopped === 'disk') || (report.reasons.disk ?? 0) > 0) return 'disk';
  return (report.reasons.window ?? 0) > 0 ? 'window' : undefined;
}

/** Segments that are not fetched to their end, oldest first. */
export async function segmentsToFetch(dir: string): Promise<string[]> {
  const snapshot = await readSnapshot(dir);
  return snapshot.segments.filter((id) => snapshot.segment(id).state !== 'fetched');
}

/** Fetches one segment. Throws the signal's reason when a signal ended it: what was done is kept. */
export async function fetchSegment(
  context: CommandContext,
  segment: string,
  options: FetchOptions,
  settings: JobSettings = {},
): Promise<RunReport> {
  const {fetch} = await import('../jobs/fetch.ts');
  const report = await context.runJob(fetch, {...options, segment}, settings);
  context.effects.signal.throwIfAborted();
  return report;
}

export async function parseSegments(context: CommandContext, settings: JobSettings = {}): Promise<RunReport> {
  const {parse} = await import('../jobs/parse.ts');
  return context.runJob(parse, defaultOptions(parse), settings);
}

/** `segment ID: 40 fetched, 2 gone …`. */
export function fetchOutcome(report: RunReport): string {
  return parts(report, {
    pages_fetched_total: 'fetched',
    pages_notmodified_total: 'unchanged',
    pages_redirected_total: 'redirected',
    pages_gone_total: 'gone',
    pages_retry_total: 'to retry',
    pages_skipped_total: 'skipped',
  });
}

/** @param goesOn the same command takes the next step */
export function fetchClosing(report: RunReport, goesOn = false): string[] {
  const {plan, reasons} = report;
  const why = reasonList(reasons);
  const stop = fetchStop(report);
  const saved = counterOf(report, 'payload_bytes_saved_total');
  return [
    (goesOn ? stepClosing : closing)(report, `segment ${plan?.segment}: ${fetchOutcome(report)}`),
    ...(saved > 0 ? [`not stored again: ${bytes(saved)} that the crawl has already`] : []),
    ...(why === '' ? [] : [`reasons: ${why}`]),
    ...hostLine(report),
    ...(stop === 'disk'
      ? ['stopped: less free space than storage.min_free; the next fetch goes on from here']
      : []),
    ...(stop === 'window' ? ['stopped: the window has ended; what was not asked is due again'] : []),
  ];
}

/** The hosts behind the reasons. */
function hostLine({facts}: Pick<RunReport, 'facts'>): string[] {
  const hosts = mostOf(facts.flatMap((fact) => (fact.hosts ?? []) as HostReason[])); // of fetch tasks, as made there
  if (hosts.length === 0) return [];
  const named = hosts.map(({host, reason, urls}) => `${visible(host)} ${count(urls)} ${reason}`);
  return [`most of them: ${named.join(', ')}`];
}

export function parseClosing(report: RunReport): string {
  if (report.outcome === 'nothing') return closing(report, 'nothing to parse');
  const of = (name: string) => counterOf(report, name);
  const failed = of('captures_failed_total');
  const missed = of('extractions_failed_total');
  const parsed = report.counters.captures_parsed_total !== undefined;
  const extracted = report.counters.rows_extracted_total !== undefined;
  const text = [
    ...(parsed ? [`parsed ${counted(of('captures_parsed_total'), 'page')}`] : []),
    ...(failed > 0 ? [`${counted(failed, 'failure')}`] : []),
    ...(parsed
      ? [
          counted(of('outlinks_total'), 'link'),
          `${counted(of('outlinks_rejected_total'), 'rejected', 'rejected')}`,
        ]
      : []),
    ...(extracted ? [`extracted ${counted(of('rows_extracted_total'), 'row')}`] : []),
    ...(missed > 0 ? [`extractors failed on ${counted(missed, 'page')} (see extractions)`] : []),
  ].join(', ');
  return closing(report, text);
}

/** Before hours of fetching: an extractor of crawl.yaml that cannot be loaded is told now, not at the parse. */
export async function checkExtractors(context: CommandContext): Promise<void> {
  const {dir, config} = await context.crawl();
  if (config.parse.extractors.length === 0) return;
  const {describeExtractors} = await import('../jobs/extract/describe.ts');
  await describeExtractors([], config, dir, context.effects);
}

export function updateClosing(report: RunReport): string {
  if (report.outcome === 'nothing') return closing(report, 'nothing to apply');
  return closing(report, `crawldb: ${updateOutcome(report)}`);
}

export function updateOutcome(report: RunReport): string {
  return parts(report, {
    rows_added_total: ['new URL', 'new URLs'],
    rows_updated_total: 'updated',
    duplicates_total: ['duplicate', 'duplicates'],
    rows_refused_total: 'refused',
  });
}

export function sitemapOutcome(report: RunReport): string {
  return parts(report, {
    sitemaps_added_total: 'added',
    sitemaps_known_total: 'known already',
    sitemaps_rejected_total: 'rejected',
  });
}

/** Whether an inject was given seeds, and all of them were rejected. */
export function nothingAccepted(report: Pick<RunReport, 'job' | 'counters'>): boolean {
  const read = counterOf(report, 'seeds_read_total');
  return report.job === 'inject' && read > 0 && counterOf(report, 'seeds_rejected_total') === read;
}

/** The one line of a round; of one in which no page came, with reasons. */
export function roundLine(title: string, reports: readonly RunReport[]): string {
  const fetched = reports.filter(({job}) => job === 'fetch');
  const updated = reports.filter(({job}) => job === 'updatedb');
  const ms = reports.reduce((sum, {durationMs}) => sum + durationMs, 0);
  const segments = fetched.map(({plan}) => plan?.segment ?? '').join(' ');
  const counters = sumOf(fetched);
  const why = reasonList(sumOf(fetched, 'reasons'));
  const brought = (counters.pages_fetched_total ?? 0) + (counters.pages_notmodified_total ?? 0) > 0;
  const texts = [
    ...(fetched.length === 0 ? [] : [fetchOutcome({...fetched[0]!, counters})]),
    ...(brought || why === '' ? [] : [`reasons: ${why}`]),
    ...(updated.length === 0 ? [] : [updateOutcome({...updated[0]!, counters: sumOf(updated)})]),
  ];
  return `${title}${segments === '' ? '' : `, segment ${segments}`}: ${texts.join('; ') || 'nothing'} (${span(ms)})`;
}

export function sumOf(
  reports: readonly RunReport[],
  part: 'counters' | 'reasons' = 'counters',
): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const report of reports)
    for (const [name, n] of Object.entries(report[part])) sum[name] = (sum[name] ?? 0) + n;
  return sum;
}

export function invertClosing(report: RunReport): string {
  if (report.outcome === 'nothing') return closing(report, 'no new links to invert');
  const changes = parts(report, {links_added_total: 'added', links_removed_total: 'removed'}, 'unchanged');
  return closing(report, `linkdb: ${counted(counterOf(report, 'links_total'), 'link')} (${changes})`);
}

export async function updateSegments(
  context: CommandContext,
  settings: JobSettings = {},
): Promise<RunReport> {
  const {updatedb} = await import('../jobs/updatedb.ts');
  return context.runJob(updatedb, defaultOptions(updatedb), settings);
}

/** Sitemaps that the robots.txt files name which the crawl holds by now. */
export async function addSitemaps(context: CommandContext, settings: JobSettings = {}): Promise<RunReport> {
  const {sitemap} = await import('../jobs/sitemap.ts');
  return context.runJob(sitemap, defaultOptions(sitemap), settings);
}

export async function invertSegments(
  context: CommandContext,
  settings: JobSettings = {},
): Promise<RunReport> {
  const {invertlinks} = await import('../jobs/invertlinks.ts');
  return context.runJob(invertlinks, defaultOptions(invertlinks), settings);
}
