import {type DedupSavings, dedup} from '../../jobs/dedup.ts';
import {closing, counterOf} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted, visible} from '../words.ts';

/** Hosts that people are told of, those with most duplicates; --json has up to 100. */
const shownHosts = 10;

export const command = defineCommand({
  name: dedup.name,
  summary: dedup.summary,
  details: [
    'Equal content first, then equal text, then nearly equal text (simhash). updatedb does the first two for the pages it',
    'applies; dedup does all three anew for the whole crawldb, as after a change of settings. What equal and nearly',
    'equal texts bring is a mark (similar_to), unless dedup.text or dedup.near is `status`.',
  ].join('\n'),
  options: {...dedup.options, ...dryRunOption},
  positionals: [],
  async run({options}, context) {
    const report = await context.runJob(dedup, options, dryRun(context, options.dryRun));
    const text =
      report.outcome === 'nothing'
        ? 'nothing to mark'
        : `${counted(counterOf(report, 'duplicates_total'), 'duplicate')}, ${counted(counterOf(report, 'similar_total'), 'page')} of equal or nearly equal text, ${counted(counterOf(report, 'rows_updated_total'), 'row')} changed`;
    const savings = (report.facts[0]?.savings ?? []) as readonly DedupSavings[]; // of the job's task
    const hosts = savings
      .slice(0, shownHosts)
      .map(
        ({host, duplicates, alike, pages}) =>
          `${visible(host)}: ${counted(duplicates, 'duplicate')}, ${counted(alike, 'similar page')}, ${counted(pages, 'page')} kept`,
      );
    const more = savings.length - hosts.length;
    await close(context, report, [
      ...hosts,
      ...(more > 0 ? [`… and ${counted(more, 'host')}`] : []),
      closing(report, text),
    ]);
    return undefined;
  },
});
