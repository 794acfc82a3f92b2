import type {MergedSegment} from '../../jobs/mergesegs/task.ts';
import {mergesegs} from '../../jobs/mergesegs.ts';
import {closing, counterOf} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption, without} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: mergesegs.name,
  summary: mergesegs.summary,
  details: [
    'Of each URL the newest capture stays, and the newest with a payload; --all keeps all. Parses and links stay with',
    'their captures. The result takes the place and the name of the newest segment, slices those of the newest ones; the',
    'others go. All segments must be fetched, and those that are merged applied. The crawldb keeps what it knows.',
    '--filter and --normalize apply the rules of today to captures; after changed url settings run crawl rekey first.',
  ].join('\n'),
  examples: [
    ['crawl mergesegs', 'all segments into one'],
    ['crawl mergesegs --slice 100000', 'into segments of 100,000 captures'],
    [
      `crawl mergesegs --where "url_host_name <> 'old.example.org'"`,
      'without the captures of a host, whose payloads go',
    ],
  ],
  options: {...without(mergesegs.options, 'segments'), ...dryRunOption},
  positionals: [{name: 'SEGMENT', doc: 'Segments to merge; all if absent.', many: true}],
  async run({options: {dryRun: planOnly, ...options}, positionals}, context) {
    const report = await context.runJob(
      mergesegs,
      {...options, segments: positionals},
      dryRun(context, planOnly),
    );
    const ids = ((report.facts[0]?.merged ?? []) as readonly MergedSegment[]).map(({id}) => id);
    await close(context, report, [
      closing(
        report,
        ids.length === 0
          ? 'nothing to merge'
          : `${counted(ids.length, 'segment')}: ${ids.join(' ')}; ${counted(counterOf(report, 'captures_kept_total'), 'capture')} kept, ${counted(counterOf(report, 'captures_dropped_total'), 'capture')} left out`,
      ),
    ]);
    return undefined;
  },
});
