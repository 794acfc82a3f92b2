import {access} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {initCrawl} from '../../jobs/config/init-crawl.ts';
import {configFile} from '../../jobs/config/open.ts';
import {fetch} from '../../jobs/fetch.ts';
import {generate} from '../../jobs/generate.ts';
import {inject} from '../../jobs/inject.ts';
import type {RunReport} from '../../jobs/runner/run-job.ts';
import {CrawlError, systemCode} from '../../lib/errors.ts';
import {counterOf, reasonList} from '../closing.ts';
import {type CommandContext, defineCommand} from '../command.ts';
import {type ExitCode, exitCodes} from '../exit-codes.ts';
import {nextStep} from '../next-step.ts';
import {
  addSitemaps,
  checkExtractors,
  defaultOptions,
  type FetchOptions,
  fetchSegment,
  fetchStop,
  invertSegments,
  nothingAccepted,
  parseSegments,
  roundLine,
  segmentsToFetch,
  sumOf,
  updateSegments,
} from '../rounds.ts';
import {counted} from '../words.ts';

const stopFile = 'STOP';
/** One line a round says it all. */
const terse = {terse: true};
const {topN, maxPerHost} = generate.options;
const {window} = fetch.options;

export const command = defineCommand({
  name: 'run',
  summary: 'Run whole rounds: generate, fetch, parse, updatedb, invertlinks.',
  details: [
    'First ends a round that was left unfinished, then injects the URLs. Goes on until no URL is due, --rounds are',
    `done, a file ${stopFile} is in the crawl folder, or a signal comes. With -C DIR and URLs it makes the crawl if need be.`,
    'Exit code 1 if no URL given can be crawled, 3 if no round did anything, 5 if the stop file or a nearly full disk ended it.',
  ].join('\n'),
  examples: [
    [
      'crawl run -C my-crawl https://example.org/ --rounds 3 --contact me@example.org',
      'from nothing to a crawl',
    ],
    ['crawl run --rounds 1', 'one round, from cron'],
  ],
  options: {
    rounds: {kind: 'count', min: 1, doc: 'Most rounds; until no URL is due if absent.'},
    topN,
    maxPerHost,
    window,
    invertlinks: {kind: 'flag', default: true, doc: 'Leave the linkdb as it is.'},
  },
  positionals: [{name: 'URL', doc: 'URLs to inject first.', many: true}],
  async run({options, positionals}, context) {
    const {globals, io} = context;
    if (positionals.length > 0 && globals.crawl !== undefined)
      await initIfAbsent(context, resolve(io.cwd, globals.crawl));
    const {dir, config} = await context.crawl();
    await checkExtractors(context);
    const rounds = new Rounds(context, dir, {
      fetch: {...defaultOptions(fetch), window: options.window},
      invertlinks: options.invertlinks,
    });
    if (await rounds.isStopped()) return exitCodes.stopped;
    let code = await rounds.finish(0);
    let allDone = false;
    if (positionals.length > 0) {
      const report = await context.runJob(inject, {...defaultOptions(inject), urls: positionals}, terse);
      if (nothingAccepted(report)) {
        context.say(`none of the URLs can be crawled: ${reasonList(report.reasons)}`);
        return exitCodes.failed;
      }
      context.say(`injected ${counted(report.counters.seeds_added_total ?? 0, 'URL')}`);
    }
    for (
      let round = 1;
      code === undefined && round <= (options.rounds ?? Number.POSITIVE_INFINITY);
      round++
    ) {
      if (await rounds.isStopped()) return exitCodes.stopped;
      if (config.scope.sitemaps) await addSitemaps(context, terse);
      const report = await context.runJob(
        generate,
        {
          ...defaultOptions(generate),
          topN: options.topN,
          maxPerHost: options.maxPerHost,
          window: options.window,
        },
        terse,
      );
      if (report.outcome === 'nothing' || counterOf(report, 'urls_selected_total') === 0) {
        allDone = true;
        break;
      }
      code = await rounds.finish(round);
    }
    if (rounds.done === 0 && code === undefined) {
      context.say('no URL is due: nothing to do');
      return exitCodes.nothing;
    }
    if (code !== undefined)
      context.say('stopped: less free space than storage.min_free; make room, then run it again');
    const next = allDone ? 'nothing more to fetch now' : `next: ${nextStep(await rounds.manifest()).command}`;
    context.say(`${counted(rounds.done, 'round')} done; ${next}`);
    return code;
  },
});

/** Ends rounds from wherever they stand, and counts those that did something. */
class Rounds {
  done = 0;
  readonly #context: CommandContext;
  readonly #dir: string;
  readonly #settings: {readonly fetch: FetchOptions; readonly invertlinks: boolean};

  constructor(
    context: CommandContext,
    dir: string,
    settings: {readonly fetch: FetchOptions; readonly invertlinks: boolean},
  ) {
    this.#context = context;
    this.#dir = dir;
    this.#settings = settings;
  }

  /** Fetches, parses, applies and inverts what waits for it. Round 0 is one that was left unfinished. Resolves to the exit code if the run must end here. */
  async finish(round: number): Promise<ExitCode | undefined> {
    const reports: RunReport[] = [];
    let full = false;
    for (const segment of await segmentsToFetch(this.#dir)) {
      const report = await fetchSegment(this.#context, segment, this.#settings.fetch, terse);
      reports.push(report);
      full = fetchStop(report) === 'disk';
      if (full) break;
    }
    if (!full)
      reports.push(await parseSegments(this.#context, terse), await updateSegments(this.#context, terse));
    if (!full && this.#settings.invertlinks) reports.push(await invertSegments(this.#context, terse));
    const active = reports.filter(({outcome}) => outcome === 'done');
    if (active.length > 0) {
      if (!full) this.done++;
      await this.#tell(round, active);
    }
    return full ? exitCodes.stopped : undefined;
  }

  async isStopped(): Promise<boolean> {
    this.#context.effects.signal.throwIfAborted();
    try {
      await access(join(this.#dir, stopFile));
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return false;
      throw error;
    }
    this.#context.say(`stopped by the file ${stopFile}; remove it to go on`);
    return true;
  }

  async manifest() {
    const {readSnapshot} = await import('../../jobs/read/crawl.ts');
    return (await readSnapshot(this.#dir)).manifest;
  }

  async #tell(round: number, reports: readonly RunReport[]): Promise<void> {
    const {globals, out, say} = this.#context;
    if (!globals.json) return say(roundLine(round === 0 ? 'unfinished round' : `round ${round}`, reports));
    const segments = reports.flatMap(({job, plan}) => (job === 'fetch' ? [plan?.segment] : []));
    await out.line(JSON.stringify({round, segments, counters: sumOf(reports)}));
  }
}

/** `crawl run URL… -C DIR` is the one command besides init that makes a crawl. */
async function initIfAbsent(context: CommandContext, dir: string): Promise<void> {
  try {
    await access(join(dir, configFile));
    return;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error;
  }
  const given = Object.fromEntries(context.globals.settings.map(({key, texts}) => [key, texts.join(',')]));
  try {
    context.say(`made a crawl in ${await initCrawl(dir, given)}`);
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'CRAWL_EXISTS') return; // another process was first
    throw error;
  }
}
