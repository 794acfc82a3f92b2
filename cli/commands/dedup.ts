import {dedup} from '../../jobs/dedup.ts';
import {closing, counterOf} from '../closing.ts';
import {defineCommand} from '../command.ts';
import {close, dryRun, dryRunOption} from '../job-command.ts';
import {counted} from '../words.ts';

export const command = defineCommand({
  name: dedup.name,
  summary: dedup.summary,
  details:
    'updatedb does this for the pages it applies; dedup does it anew for all, as after a change of settings.',
  options: {...dedup.options, ...dryRunOption},
  positionals: [],
  async run({options}, context) {
    const report = await context.runJob(dedup, options, dryRun(context, options.dryRun));
    const text =
      report.outcome === 'nothing'
        ? 'nothing to mark'
        : `${counted(counterOf(report, 'duplicates_total'), 'duplicate')}, ${counted(counterOf(report, 'rows_updated_total'), 'row')} changed`;
    await close(context, report, [closing(report, text)]);
    return undefined;
  },
});
