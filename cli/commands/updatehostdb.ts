import {updatehostdb} from '../../jobs/updatehostdb.ts';
import {closing, counterOf} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: updatehostdb.name,
  summary: updatehostdb.summary,
  details: [
    'updatedb, inject and all other jobs that change the crawldb keep these counts by themselves; this counts them from',
    'all rows, to be sure, or after the crawldb was written by something else. Pages and bytes ever fetched stay, as do',
    'politeness (fetch writes it) and rules by hand (crawl host).',
  ].join('\n'),
  options: {...dryRunOption},
  positionals: [],
  async run({options}, context) {
    const report = await context.runJob(updatehostdb, {}, dryRun(context, options.dryRun));
    const differ = counterOf(report, 'hosts_added_total') + counterOf(report, 'hosts_changed_total');
    const statistics = report.facts[0]?.statistics === true; // of the job's task
    const found = [
      ...(differ > 0 ? [`${counted(differ, 'count')} of hosts put right`] : []),
      ...(statistics ? ['the counts of readdb --stats made anew'] : []),
    ];
    const text =
      report.outcome === 'nothing'
        ? 'the crawldb is empty'
        : `${counted(counterOf(report, 'hosts_counted_total'), 'host')}, ${found.length === 0 ? 'all counts were right' : found.join(', ')}`;
    await close(context, report, [closing(report, text)]);
    return undefined;
  },
});
