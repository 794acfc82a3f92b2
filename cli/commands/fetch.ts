import {fetch} from '../../jobs/fetch.ts';
import {CrawlError} from '../../lib/errors.ts';
import {defineCommand} from '../command.ts';
import {type ExitCode, exitCodes} from '../exit-codes.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {
  checkExtractors,
  fetchClosing,
  fetchSegment,
  fetchStop,
  parseClosing,
  parseSegments,
  segmentsToFetch,
} from '../rounds.ts';

export const command = defineCommand({
  name: fetch.name,
  summary: 'Fetch segments politely, then parse them.',
  details: [
    'Without a segment: every generated or half-fetched one, oldest first. Fetching again goes on where it stopped.',
    'Exit code 5 if the window or a nearly full disk ended it: what was done is committed.',
  ].join('\n'),
  examples: [
    ['crawl fetch', 'all that waits'],
    ['crawl fetch --window 8h', 'until the morning'],
    ['crawl fetch --close 20260102030405', 'end a half-fetched segment, the rest is skipped'],
  ],
  options: {
    ...without(fetch.options, 'segment'),
    parse: {kind: 'flag', default: true, doc: 'Do not parse when the fetch is done.'},
    ...dryRunOption,
  },
  positionals: [{name: 'SEGMENT', doc: 'Segments to fetch.', many: true}],
  async run({options, positionals}, context) {
    if (options.close && positionals.length === 0)
      throw new CrawlError('USAGE', '--close needs the segment to end', {
        hint: 'crawl status lists the segments.',
      });
    const {parse: parseAfter, dryRun: dry, ...fetchOptions} = options;
    const {dir} = await context.crawl();
    const segments = positionals.length > 0 ? positionals : await segmentsToFetch(dir);
    if (dry) {
      for (const segment of segments)
        await context.runJob(fetch, {...fetchOptions, segment}, dryRun(context, true));
      return undefined;
    }
    if (parseAfter) await checkExtractors(context);
    let code: ExitCode = exitCodes.done;
    for (const segment of segments) {
      const report = await fetchSegment(context, segment, {...fetchOptions, segment});
      const stop = fetchStop(report);
      await close(
        context,
        report,
        report.outcome === 'nothing'
          ? [`segment ${segment} is fetched already`]
          : fetchClosing(report, parseAfter && stop !== 'disk'),
      );
      if (stop !== undefined) code = exitCodes.stopped;
      if (stop === 'disk') return code;
    }
    if (segments.length === 0) context.say('no segment waits to be fetched');
    if (!parseAfter) return code;
    const report = await parseSegments(context);
    if (report.outcome !== 'nothing') await close(context, report, [parseClosing(report)]);
    return code;
  },
});
